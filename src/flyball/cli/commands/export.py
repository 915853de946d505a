"""`flyball export`: flyball's roles as agent definition files for the program you already use."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json


class ExportTarget(StrEnum):
    """The programs whose formats are known."""

    CLAUDE = "claude"
    OPENCODE = "opencode"
    COPILOT = "copilot"
    GEMINI = "gemini"
    CODEX = "codex"


_PLUGIN = "Use it with: claude --plugin-dir {}"
_USE = {
    ExportTarget.CLAUDE: "Use one with: claude --agent flyball-implementer",
    ExportTarget.OPENCODE: "Use one with: opencode run --agent flyball-implementer",
    ExportTarget.COPILOT: "Use one with: copilot --agent flyball-implementer",
    ExportTarget.GEMINI: "Gemini delegates to them, once you have agreed to a project's agents; those in your home load at once.",
    ExportTarget.CODEX: "Codex delegates to them in a project it trusts.",
}


def export(
    target: Annotated[ExportTarget, typer.Option(help="Program that will read the files.")],
    to: Annotated[Path, typer.Option(help="Project or home folder to write to. Default: this folder.")] = Path(),
    plugin: Annotated[
        bool, typer.Option("--plugin", help="Write a whole Claude Code plugin into that folder. Default: no.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that flyball did not write. Default: no.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write flyball's roles as agent definition files for another program."""
    from flyball import __version__
    from flyball.documents.exported_files import write_exported
    from flyball.ports import Refusal
    from flyball.projections.export.agents import exported_agents
    from flyball.projections.export.plugin import exported_plugin

    with exit_on_refusal():
        if plugin and target is not ExportTarget.CLAUDE:
            raise Refusal(f"--plugin makes a plugin of Claude Code; {target} has none. Use it with: --target claude")
        made = exported_plugin(__version__) if plugin else exported_agents(target.value)
        folder = to.expanduser().absolute()
        written = write_exported(folder, made.files, manifest=made.manifest, force=force)
        if as_json:
            put_json(written)
            return
        for name in written.written:
            put(f"wrote {name}")
        done = f"{len(written.written)} written, {len(written.unchanged)} unchanged, in {folder}."
        put(f"{done} {_PLUGIN.format(folder) if plugin else _USE[target]}")
