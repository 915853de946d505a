"""Whether tests fail on the untouched tree only because gates do not have what the user's own folder has."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from flyball.core.model.task import Gate
from flyball.core.text.quantities import first_few, plural
from flyball.folders import all_environments
from flyball.measures.examination import Examination, Trial
from flyball.measures.gates.junit import Case
from flyball.measures.gates.manifests import tree_files
from flyball.measures.gates.running import GateRun, Round, broken_run, choose_tests, expects_report
from flyball.measures.gates.telling import last_line, telling_line

MOST_COPIED = 1024 * 1024 * 1024
_ERROR = re.compile(r"^(?:E\s+)?((?:[\w.]*(?:Error|Exception)\b|Cannot find )[^\n]*)", re.MULTILINE)
_MODULE = re.compile(r"[Nn]o module named '?([\w.]+)|cannot import name '(\w+)'|Cannot find module '([^']+)'")


def find_lacking_files(examination: Examination, trial: Trial) -> Trial:
    """The same trial; a gate whose failed tests pass beside the user's ignored and generated files is broken, and says which they are.

    Those tests alone run once more, in a copy. What passes in a second run without those files, too, is flaky and lacks nothing.
    """
    is_set_up = len(trial.round.runs) == len(examination.settings.gates)
    doubtful = [run for run in trial.round.runs if is_set_up and _may_lack_files(run)]
    files = _users_files(examination) if doubtful else ()
    if not files:
        return trial
    gates = zip(examination.settings.gates, trial.round.runs, strict=True)
    runs = [_look_at(examination, gate, run, files) if run in doubtful else run for gate, run in gates]
    return replace(trial, round=Round(tuple(runs)))


def _may_lack_files(run: GateRun) -> bool:
    failed = any(case.outcome == "failing" for case in run.cases.values())
    return failed or (
        bool(run.result.broken) and run.result.exit_code is not None and expects_report(run.result.command)
    )


def _look_at(examination: Examination, gate: Gate, run: GateRun, files: Sequence[str]) -> GateRun:
    failing = {i: case for i, case in run.cases.items() if case.outcome == "failing"}
    options = choose_tests(gate.command, failing)
    passing = _passing_now(examination.run_carrying(gate, files, options=options), failing)
    if passing:
        passing -= _passing_now(examination.run_carrying(gate, (), options=options), failing)
    if not passing:
        return run
    error = _first_error(run, [failing[i] for i in sorted(passing) if i in failing])
    tests = plural(len(passing), "test fails", "tests fail") if failing else "it fails"
    message = f"{tests} here and not in a copy of your folder, which has files that git does not: {error}"
    named = first_few(_named_in(error, files) or files, 5)
    return broken_run(run, f"{message}; let `setup` make what is missing, or name it in gates.carry (of {named})")


def _passing_now(run: GateRun, failing: dict[str, Case]) -> set[str]:
    """Those of the tests that pass in this run; a file that could not be loaded does when any test of it passes."""
    passing = {i for i, case in run.cases.items() if case.outcome == "passing"}
    loaded = {run.cases[i].file for i in passing}
    if not failing:
        return {run.result.name} if passing and not run.result.broken else set()
    return {i for i, case in failing.items() if i in passing or (case.uncollected and case.file in loaded)}


def _first_error(run: GateRun, cases: Sequence[Case]) -> str:
    for text in (*(f"{case.message}\n{case.text}" for case in cases), run.text):
        if found := _ERROR.findall(text):
            return last_line(found[-1])
    return telling_line(run.text)


def _named_in(error: str, files: Sequence[str]) -> tuple[str, ...]:
    modules = [name.rpartition(".")[2].rpartition("/")[2] for found in _MODULE.findall(error) for name in found if name]
    return tuple(f for f in files if Path(f).name in error or Path(f).name.partition(".")[0] in modules)


def _users_files(examination: Examination) -> tuple[str, ...]:
    """What lies in the user's folder and is not in the tree, but for caches and environments; the largest are left out."""
    root = examination.tree.repository
    kept = all_environments(root, examination.settings.environment_folders)
    known = frozenset(examination.index.files)

    def sizes() -> Iterator[tuple[int, str]]:
        for name, path in tree_files(root, examination.settings).items():
            if name not in known and not name.startswith(tuple(f"{folder}/" for folder in kept)) and path.is_file():
                yield path.stat().st_size, name

    total, names = 0, []
    for size, name in sorted(sizes()):
        total += size
        if total > MOST_COPIED:
            break
        names.append(name)
    return tuple(sorted(names))
