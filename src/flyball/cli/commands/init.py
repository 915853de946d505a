"""`flyball init`: looks at a project, tries its gates once, and writes flyball.toml."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import DONE, USAGE, exit_on_refusal
from flyball.cli.support.output import put, put_json, tell
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.text.scrubbing import scrub
from flyball.ports import Notify, Refusal

if TYPE_CHECKING:
    from flyball.config.detect import Proposal
    from flyball.wiring.site import Site


def init(
    force: Annotated[bool, typer.Option("--force", help="Replace an existing flyball.toml. Default: refuse.")] = False,
    try_gates: Annotated[
        bool,
        typer.Option("--try/--no-try", help="Try the gates once in a separate tree. Default: try.", show_default=False),
    ] = True,
    constitution: Annotated[
        bool,
        typer.Option(
            "--constitution",
            help="Write .work/constitution.md instead, the rules for agents that work on a backlog. Default: write flyball.toml.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Detect how this project is tested, try it, and write flyball.toml."""
    from flyball.config import detect, file as config_file, trust
    from flyball.wiring.site import Site
    from flyball.wiring.tools.proposing import propose

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        if constitution:
            _constitution(site, force=force, as_json=as_json)
            return
        path = _free(site, force=force)
        proposal = propose(site)
        measured = _try_gates(site, proposal, quiet=as_json) if try_gates and proposal.gates else None
        if measured:
            proposal = detect.without_tools(proposal, {t.name: scrub(t.broken) for t in measured.tools if t.broken})
        text = detect.render(proposal)
        _write(path, text, force=force)
        file = config_file.parse(text, path)
        trust.record(site.home, file)
        if as_json:
            put_json(_data(path, proposal, measured))
        else:
            put("\n".join(_lines(path, text, proposal, measured, trust.needs_trust(file))))
        sys.exit(DONE if proposal.gates and not (measured and measured.broken) else USAGE)


def _constitution(site: Site, *, force: bool, as_json: bool) -> None:
    """Write the rules from what is known of the project, for a person to complete."""
    from flyball.documents.work_source import write_constitution
    from flyball.wiring.tools.proposing import project_facts

    path = write_constitution(site.repository.root, project_facts(site), force=force)
    if as_json:
        put_json({"file": str(path)})
        return
    put(f"{path} is written. Read it, and add what agents must know: every prompt of a backlog contains it.")
    put("next: write issues into .work/agent/issues/medium.md, then: flyball run --workflow backlog")


def _free(site: Site, *, force: bool) -> Path:
    from flyball.config import file as config_file

    path = site.repository.root / config_file.FILE
    if path.exists():
        config_file.require_regular(path)
    if not (path.exists() or path.is_symlink()):
        if config_file.read(site.repository.root) is not None:
            shared = site.repository.root / config_file.SHARED_FILE
            raise Refusal(f"{shared} configures flyball already, under [tool.flyball]. Edit it there.")
    elif not force:
        raise Refusal(f"{path} already exists. Edit it, or replace it: flyball init --force")
    return path


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Refusal(
            f"{path} could not be written ({error.strerror}). Make its folder writable or free some space, and try again."
        ) from error


def _try_gates(site: Site, proposal: Proposal, *, quiet: bool) -> Measurement:
    from flyball.config.home import environment
    from flyball.wiring.tools.proposing import trial_settings, try_gates

    return try_gates(site, trial_settings(proposal), environment=environment(), notify=name_commands(quiet=quiet))


def name_commands(*, quiet: bool) -> Notify:
    """Say on stderr which command runs now."""

    def notify(kind: str, line: str) -> None:
        if kind == "command" and not quiet:
            tell(f"trying: {scrub(line)}\n")

    return notify


def _data(path: Path, proposal: Proposal, measured: Measurement | None) -> dict[str, object]:
    found = measured or Measurement("", "")
    return {
        "file": str(path),
        "stack": proposal.stack,
        "agents": proposal.agents,
        "agent": proposal.agent.value if proposal.agent else None,
        **measured_data(found),
        "notes": found.notes,
        "elsewhere": [{"gate": e.key, "command": e.value, "reason": e.reason} for e in proposal.elsewhere],
        "missing": _missing(proposal, measured),
        "trusted": True,
    }


def measured_data(found: Measurement) -> dict[str, object]:
    """What gates and tools said, as `--json` has it."""
    return {
        "gates": [
            {"name": g.name, "command": g.command, "passed": g.passed, "broken": g.broken, "counts": g.counts}
            for g in found.gates
        ],
        "tools": [{"name": t.name, "command": t.command, "passed": t.passed, "broken": t.broken} for t in found.tools],
    }


def measured_lines(found: Measurement) -> Iterator[str]:
    """What gates and tools said, for a person."""
    for gate in found.gates:
        if gate.broken:
            yield f"gate {gate.name} cannot run: {scrub(gate.broken)}"
            yield from (f"    {scrub(line)}" for line in gate.output.splitlines()[-8:])
        elif gate.counts is not None:
            failing = gate.counts.failing + gate.counts.known_failing
            yield f"gate {gate.name}: {gate.counts.passing} passed, {failing} failed, {gate.counts.skipped} skipped"
        else:
            yield f"gate {gate.name}: exit {gate.exit_code}; its tests cannot be counted"
    yield from map(_tool, found.tools)
    if found.reused:
        yield f"not run again: {found.reused}"


def _lines(
    path: Path, text: str, proposal: Proposal, measured: Measurement | None, wants: tuple[str, ...]
) -> Iterator[str]:
    found = measured or Measurement("", "")
    yield from (f"  {line}".rstrip() for line in text.splitlines())
    yield ""
    yield from measured_lines(found)
    yield from (f"note: {scrub(note)}" for note in found.notes)
    yield from (f"note: {line.reason}; see [gates] above" for line in proposal.elsewhere)
    yield from (f"missing: {line}" for line in _missing(proposal, measured))
    yield f"{path} is written and trusted:"
    yield from (f"  {line}" for line in wants)
    yield "next:"
    yield from (f"  {line}" for line in _next(path, proposal, measured))


def _next(path: Path, proposal: Proposal, measured: Measurement | None) -> Iterator[str]:
    """What a person does now, in its order, so that the last line works."""
    from flyball.wiring.tools.proposing import login_wanted

    if not proposal.gates:
        yield f'name the command that runs the tests, below [gates] in {path.name}: test = "COMMAND", then: flyball trust'
    elif measured is not None and _objection(measured):
        yield f"make the gate's command work here (see above; setup in {path.name} installs what it needs)"
        if not measured.broken:
            yield 'or, if the work is to make the failing tests pass: flyball run --failing work "what is to be done"'
    if proposal.agent is None:
        yield f"install an agent (flyball agents lists those it knows), or name a program in {path.name} as shown there"
    login = login_wanted(proposal)
    if proposal.agent is not None and login:
        yield f"log in to {proposal.agent.value}: {login}"
    if _missing(proposal, measured) or proposal.agent is None:
        yield "flyball doctor    (checks whether a task can run now)"
        return
    agent = proposal.agent.value
    yield f'flyball run "what is to be done"    (with {agent}: {proposal.agent.reason})'


def _tool(tool: GateResult) -> str:
    if tool.broken:
        return f"{tool.name} cannot be run, so its check is off: {scrub(tool.command)}: {scrub(tool.broken)}"
    return f"{tool.name}: {'nothing found' if tool.passed else f'exit {tool.exit_code}; only new findings will count'}"


def _objection(measured: Measurement) -> str:
    """Why no task could begin from this baseline, or an empty string."""
    from flyball.measures.gates.telling import telling_line

    silent = measured.passes_nothing
    message = f"{silent.name}: no test passes on the untouched tree: {telling_line(silent.output)}" if silent else ""
    return measured.broken or message


INSTALL_PYTEST = "python3 -m venv .venv && .venv/bin/python -m pip install pytest && flyball init --force"


def _missing(proposal: Proposal, measured: Measurement | None) -> list[str]:
    """What a person has to see to before a run can succeed."""
    from flyball.wiring.tools.proposing import login_wanted

    missing: list[str] = []
    broken = _objection(measured) if measured else ""
    if not proposal.gates:
        missing.append("no way to run tests was found, so nothing could be measured")
    elif broken.endswith("No module named pytest"):
        missing.append(f"{broken}; type: {INSTALL_PYTEST}")
    elif broken and proposal.setup is None:
        missing.append(f'{broken}; set setup = "COMMAND" in flyball.toml to what installs it, then type: flyball trust')
    elif broken:
        missing.append(f"{broken}; correct setup in flyball.toml, then type: flyball trust")
    if proposal.agent is None:
        missing.append("no agent that flyball knows is installed")
    elif login_wanted(proposal):
        missing.append(f"{proposal.agent.value} is not logged in")
    return missing
