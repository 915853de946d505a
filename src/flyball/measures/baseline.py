"""The untouched tree, before any turn: whether gates and tools can run on it at all."""

import re
from collections.abc import Iterable

from flyball.core.model.measurement import GateResult
from flyball.core.text.quantities import first_few, plural
from flyball.measures.examination import Examination, Trial
from flyball.measures.found import Found
from flyball.measures.gates.junit import Case, Outcome
from flyball.measures.lacking import find_lacking_files
from flyball.measures.quality import documents
from flyball.measures.quality.complexity import reader_trouble
from flyball.measures.quality.diagrams import Diagrams
from flyball.measures.quality.lint import try_lint
from flyball.measures.tampering.probes import finds_tests, probes
from flyball.measures.tampering.protected import Protection

_LACKING = re.compile(
    r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)|Cannot find (?:module|package) '([^'./][^']*)'"
)


def baseline(examination: Examination, _protection: Protection) -> Found:
    """The untouched tree: what fails here is known to fail; a runner that hides failures or tests another tree is broken."""
    trial = find_lacking_files(examination, examination.trial())
    runs = trial.round.runs
    outcomes: dict[str, Outcome] = {i: case.outcome for i, case in trial.round.cases.items()}
    notes = tuple(
        f"{run.result.name} fails on the untouched tree" for run in runs if not run.result.passed and not run.cases
    )
    if trial.failing:
        notes += (
            f"{plural(len(trial.failing), 'test')} failed before the task began, not required: {first_few(trial.failing, 5)}",
        )
    notes += _missing_modules(trial.round.cases.values())
    if any(run.result.broken for run in runs):
        return Found(trial, outcomes, notes=notes)
    proof = examination.canaries(trial.round)
    broken = "; ".join(f"{trick.kind}: {trick.detail}" for trick in (*trial.tricks, *proof.tricks))
    tools, said = _tools(examination) if examination.request.checks else ((), ())
    unseen = _why_unseen(examination, trial)
    return Found(trial, outcomes, broken=broken, tools=tools, notes=(*notes, *proof.notes, *said), unseen=unseen)


def _missing_modules(cases: Iterable[Case]) -> tuple[str, ...]:
    """A remark on the tests that fail because a module is not installed, and what to do about it; none without such tests."""
    said = [_LACKING.findall(f"{case.message}\n{case.text}") for case in cases if case.outcome == "failing"]
    lacking = [{(python or node).partition(".")[0] for python, node in found} for found in said if found]
    if not lacking:
        return ()
    names = sorted({name for found in lacking for name in found})
    tests = plural(len(lacking), "test fails", "tests fail")
    why = f"{tests} on the untouched tree because modules are not installed: {first_few(names, 8)}"
    return (f"{why}; have `setup` install what brings them",)


def _tools(examination: Examination) -> tuple[tuple[GateResult, ...], tuple[str, ...]]:
    """What QA uses beside the gates, tried on the untouched tree: whether each can run, and what is to be remarked."""
    on, request, workspace = examination.settings.qa, examination.request, examination.workspace
    tools: list[GateResult] = []
    notes: list[str] = []
    if on.lint_clean == "on" and (tried := try_lint(examination)):
        tools.append(tried[0])
        notes += [tried[1]] if tried[1] else []
    if on.complexity == "on" and (why := reader_trouble(workspace, request.candidate)):
        tools.append(GateResult("complexity", "built in: lizard", passed=False, broken=why))
    if documents.has_diagrams(workspace, request.candidate):
        diagrams = Diagrams(examination.commands, examination.tree.directory)
        diagrams(["graph TD\n  a --> b\n"])
        notes += diagrams.notes
    return tuple(tools), tuple(notes)


def _why_unseen(examination: Examination, trial: Trial) -> str:
    """Why RED could not be seen where no gate counts its tests: none runs a new test file. Found out by planting some."""
    runs = trial.round.runs
    commands = [run.result.command for run in runs]
    if not trial.round.passed or any(run.result.counts for run in runs) or any(finds_tests(c) for c in commands):
        return ""
    planted = probes(examination.index.files, examination.tree.directory)
    if any(not examination.trial_with(probe).passed for probe in planted):
        return ""
    tried = first_few([probe.path for probe in planted], 5)
    return f"no gate runs a new test file: {tried} must fail, and every gate ended with 0 with it"
