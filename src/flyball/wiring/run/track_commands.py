"""The project's own commands in an evaluation: its build, and its gates that report coverage."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from flyball.config.file import FileConfig
from flyball.core.evaluation.structural import BuildRun
from flyball.core.model.task import Settings
from flyball.core.text.scrubbing import one_line
from flyball.measures.evaluators.ground import CoverageLines
from flyball.measures.gates.commands import Commands
from flyball.measures.gates.coverage import PLACEHOLDER, CoverageUnreadable, merge_coverage, read_coverage
from flyball.measures.gates.junit import TreeIndex
from flyball.measures.gates.telling import telling_line

TIMEOUT_S = 1800.0


def built(commands: Commands, command: str, tree: Path, settings: Settings) -> BuildRun | None:
    """How the build ended, after the set-up where there is one; None for a project that is not built."""
    if not command:
        return None
    for each in (settings.setup, command):
        if each:
            ran = commands.run(each, tree=tree, folder=commands.fresh_folder("build"), timeout_s=TIMEOUT_S)
            if ran.exit.ended_by != "exit" or ran.exit.code != 0:
                how = (
                    f"exit {ran.exit.code}: {telling_line(ran.text)}"
                    if ran.exit.ended_by == "exit"
                    else ran.exit.detail
                )
                return BuildRun(command, passed=False, said=one_line(how)[:300])
    return BuildRun(command, passed=True)


def covered(commands: Commands, file: FileConfig | None, tree: Path, files: Sequence[str]) -> CoverageLines | None:
    """What gates with {coverage} in their command say of each line; None where there is none."""
    gates = {name: gate for name, gate in (file.gates if file else {}).items() if PLACEHOLDER in gate.command}
    if not gates:
        return None
    found, problems = [], []
    for name, gate in gates.items():
        folder = commands.fresh_folder(name)
        reports = folder / "report"
        reports.mkdir()
        command = gate.command.replace(PLACEHOLDER, shlex.quote(str(reports / "coverage.xml")))
        command = command.replace("{junit}", shlex.quote(str(reports / "junit.xml")))
        timeout = float(gate.timeout or TIMEOUT_S)
        commands.run(command, tree=tree, folder=folder, timeout_s=timeout, writable=[reports])
        try:
            found.append(read_coverage(reports / "coverage.xml", TreeIndex(files)))
        except FileNotFoundError:
            problems.append(f"gate {name} wrote no coverage report")
        except (CoverageUnreadable, OSError) as error:
            problems.append(f"the coverage report of gate {name} cannot be used: {error}")
    return CoverageLines(merge_coverage(found), "; ".join(problems))
