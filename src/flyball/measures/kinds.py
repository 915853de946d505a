"""What each kind of measurement looks at beyond one round of gates."""

from collections.abc import Callable, Mapping
from functools import partial

import msgspec
from msgspec.structs import replace

from flyball.core.model.measurement import Check, Files, GateResult, NewTest, Quality, Trick
from flyball.core.model.task import Commit
from flyball.core.text.quantities import listed, plural
from flyball.measures.examination import Examination, Trial
from flyball.measures.gates.junit import Outcome
from flyball.measures.gates.missing import missing_modules
from flyball.measures.gates.running import expects_report
from flyball.measures.linting import run_lint, try_lint
from flyball.measures.quality import documents, qa
from flyball.measures.quality.complexity import ChangedCode, changed_code, measure_quality, trouble
from flyball.measures.quality.diagrams import Complaints, Diagrams, shapes
from flyball.measures.red.reasons import Project
from flyball.measures.red.red import accepted_outcomes, new_tests, without_vacuous
from flyball.measures.red.uncounted import NewTests, by_criterion, read_new, weighed, whole_file
from flyball.measures.sources import is_loaded_unasked, is_test_file, looks_like_test, source_tests
from flyball.measures.tampering.probes import finds_tests, probes
from flyball.measures.tampering.protected import Protection, changed_paths


class Found(msgspec.Struct, frozen=True):
    """What a kind found out; `outcomes` where it is not simply what the trial reported."""

    trial: Trial
    outcomes: dict[str, Outcome] | None = None
    broken: str = ""
    new_tests: tuple[NewTest, ...] = ()
    old_tests_broken: tuple[str, ...] = ()
    green_runs: int = 0
    flaky: tuple[str, ...] = ()
    passing_on_rejected: tuple[str, ...] = ()
    tricks: tuple[Trick, ...] = ()
    files: Files = Files()
    quality: Quality | None = None
    checks: tuple[Check, ...] = ()
    tools: tuple[GateResult, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: str = ""
    aiding: tuple[str, ...] = ()


Kind = Callable[[Examination, Protection], Found]


def baseline(examination: Examination, _protection: Protection) -> Found:
    """The untouched tree: what fails here is known to fail; a runner that hides failures or tests another tree is broken."""
    trial = examination.trial()
    runs = trial.round.runs
    outcomes: dict[str, Outcome] = {i: case.outcome for i, case in trial.round.cases.items()}
    notes = tuple(
        f"{run.result.name} fails on the untouched tree" for run in runs if not run.result.passed and not run.cases
    )
    if trial.failing:
        notes += (
            f"{plural(len(trial.failing), 'test')} failed before the task began, not required: {listed(trial.failing, 5)}",
        )
    notes += missing_modules(trial.round.cases.values())
    if any(run.result.broken for run in runs):
        return Found(trial, outcomes, notes=notes)
    tricks, remarks = examination.canaries(trial.round)
    broken = "; ".join(f"{trick.kind}: {trick.detail}" for trick in (*trial.tricks, *tricks))
    tools, said = _tools(examination) if examination.request.checks else ((), ())
    unseen = _unseen(examination, trial)
    return Found(trial, outcomes, broken=broken, tools=tools, notes=(*notes, *remarks, *said), unseen=unseen)


def _tools(examination: Examination) -> tuple[tuple[GateResult, ...], tuple[str, ...]]:
    """What QA uses beside the gates, tried on the untouched tree: whether each can run, and what is to be remarked."""
    on, request, workspace = examination.settings.qa, examination.request, examination.workspace
    tools: list[GateResult] = []
    notes: list[str] = []
    if on.lint_clean == "on" and (tried := try_lint(examination)):
        tools.append(tried[0])
        notes += [tried[1]] if tried[1] else []
    if on.complexity == "on" and (why := trouble(workspace, request.candidate)):
        tools.append(GateResult("complexity", "built in: lizard", passed=False, broken=why))
    if documents.has_diagrams(workspace, request.candidate):
        diagrams = Diagrams(examination.commands, examination.tree.directory)
        diagrams(["graph TD\n  a --> b\n"])
        notes += diagrams.notes
    return tuple(tools), tuple(notes)


def _unseen(examination: Examination, trial: Trial) -> str:
    """Why RED could not be seen where no gate counts its tests: none runs a new test file. Found out by planting some."""
    runs = trial.round.runs
    commands = [run.result.command for run in runs]
    if not trial.round.passed or any(run.result.counts for run in runs) or any(finds_tests(c) for c in commands):
        return ""
    planted = probes(examination.index.files, examination.tree.directory)
    if any(not examination.trial_with(probe).passed for probe in planted):
        return ""
    tried = listed([probe.path for probe in planted], 5)
    return f"no gate runs a new test file: {tried} must fail, and every gate ended with 0 with it"


def red(examination: Examination, _protection: Protection) -> Found:
    """New tests and why they fail; old tests once more without the new ones."""
    request = examination.request
    trial = examination.trial()
    cases = trial.round.cases
    if not any(run.result.broken or run.result.counts for run in trial.round.runs) and not any(
        expects_report(gate.command) for gate in examination.settings.gates
    ):
        return _red_uncounted(examination, trial)
    fresh = new_tests(
        cases,
        examination.expectations.baseline,
        tree=examination.tree.directory,
        files=examination.index.files,
        items=request.items,
        declared=[t for f in _new_in_source(examination) if not f.file.endswith(".py") for t in f.tests],
        text=trial.round.text,
    )
    broken = () if any(run.result.broken for run in trial.round.runs) else _old_tests_broken(examination)
    return Found(
        trial,
        accepted_outcomes(cases, fresh, examination.expectations.baseline),
        new_tests=fresh,
        old_tests_broken=broken,
        files=_files(examination),
    )


def _red_uncounted(examination: Examination, trial: Trial) -> Found:
    """New tests as their source has them; the gates must fail with them and pass without."""
    request, workspace = examination.request, examination.workspace
    new = _new_in_source(examination)
    fresh = weighed(
        new,
        passed=trial.round.passed,
        text=trial.round.text,
        index=examination.index,
        project=Project(examination.tree.directory, examination.index.files),
        items=request.items,
    )
    fresh = without_vacuous(fresh, examination.tree.directory)
    fresh += _whole_files(examination, trial, new)
    sha = workspace.overlay(request.candidate, {file.file: request.base for file in new})
    failing: tuple[str, ...] = ()
    if sha != workspace.tree_of(request.base):
        examination.use(sha)
        runs = examination.trial().round.runs
        failing = tuple(f"{r.result.name} fails without the new tests, too" for r in runs if not r.result.passed)
    return Found(trial, {}, new_tests=fresh, old_tests_broken=failing, files=_files(examination))


def _whole_files(examination: Examination, trial: Trial, new: list[NewTests]) -> tuple[NewTest, ...]:
    """New test files that are a test as a whole: each criterion's own must turn the gates red without the others'."""
    request, workspace = examination.request, examination.workspace
    groups = by_criterion(new, request.items)
    named = {file for files in groups.values() for file in files} | {file.file for file in new if file.tests}
    rounds = {frozenset(named): trial.round}
    found = []
    for criterion, files in groups.items():
        alone = frozenset(files)
        if trial.round.passed:
            rounds[alone] = trial.round
        elif alone not in rounds:
            without = dict.fromkeys(sorted(named - alone), request.base)
            examination.use(workspace.overlay(request.candidate, without))
            rounds[alone] = examination.trial().round
        ended = rounds[alone]
        project = Project(examination.tree.directory, examination.index.files)
        found.append(whole_file(criterion, files, passed=ended.passed, text=ended.text, project=project))
    return tuple(found)


def _new_in_source(examination: Examination) -> list[NewTests]:
    """Changed test files, and Rust's other files, with the tests each has gained."""
    request, workspace = examination.request, examination.workspace
    tests = _test_files(examination, request.base, request.candidate)
    paths = (p for p in changed_paths(workspace, request.base, request.candidate) if p in tests or p.endswith(".rs"))
    read = (read_new(p, workspace.read_file(request.base, p), workspace.read_file(request.candidate, p)) for p in paths)
    return [file for file in read if file.tests or file.file in tests]


def _old_tests_broken(examination: Examination) -> tuple[str, ...]:
    request, workspace = examination.request, examination.workspace
    reverted = _test_files(examination, request.base, request.candidate)
    sha = workspace.overlay(request.candidate, dict.fromkeys(reverted, request.base))
    if sha == workspace.tree_of(request.base):
        return ()
    examination.use(sha)
    outcomes = examination.trial().outcomes
    wanted = (i for i, outcome in examination.expectations.baseline.items() if outcome == "passing")
    return tuple(sorted(i for i in wanted if outcomes.get(i) != "passing"))


def _test_files(examination: Examination, old: Commit, new: Commit) -> tuple[str, ...]:
    read = examination.workspace.read_file
    return tuple(
        path
        for path in changed_paths(examination.workspace, old, new)
        if looks_like_test(path) and is_test_file(path, read(old, path), read(new, path))
    )


def green(examination: Examination, protection: Protection) -> Found:
    """Two full rounds, then the canary; after a rejection QA's criteria too, and the added tests on the rejected tree."""
    files, code = _files(examination), _code(examination)
    numbers = measure_quality(code, examination.settings.code)
    first = examination.trial()
    clean = first.green and not _doubted(protection)
    request = examination.request
    examined = bool(request.rejected) and request.checks
    checks, tools = _checks(examination, code, numbers, first, clean=clean) if examined else ((), ())
    if not clean:
        return Found(first, files=files, quality=numbers, checks=checks, tools=tools)
    second = examination.trial()
    flaky = tuple(
        sorted(i for i in {**first.outcomes, **second.outcomes} if first.outcomes.get(i) != second.outcomes.get(i))
    )
    if not second.green or flaky:
        return Found(second, green_runs=1, flaky=flaky, files=files, quality=numbers, checks=checks, tools=tools)
    tricks, notes = examination.canaries(second.round)
    vacuous = () if tricks else _passing_on_rejected(examination, second.outcomes)
    return Found(
        second,
        green_runs=0 if tricks else 2,
        tricks=tricks,
        notes=notes,
        files=files,
        quality=numbers,
        checks=checks,
        tools=tools,
        passing_on_rejected=vacuous,
    )


def unaided(examination: Examination, protection: Protection, found: Found) -> Found:
    """Once more without what is new and loaded with the tests: those that were accepted must not need it.

    Such a file runs before the tests and could put right in the runner what is wrong in the tree. Where it does, all of them go.
    """
    request, accepted = examination.request, examination.expectations.accepted
    new = (
        () if request.kind in {"baseline", "red"} or not found.trial.green else _loaded_unasked(examination, protection)
    )
    uncounted = not any(run.result.counts for run in found.trial.round.runs)
    if not new or not (accepted or uncounted):
        return found
    without = dict(protection.overlay) | dict.fromkeys(new)
    examination.use(examination.workspace.overlay(request.candidate, without, protection.rewritten))
    trial = examination.trial()
    if trial.green:
        return found
    lost = tuple(i for i in (*trial.failing, *trial.missing) if i in accepted)
    detail = (
        f"accepted tests pass only with new files beside them ({listed(new, 5)}): {listed(lost, 5) or 'the gate fails'}"
    )
    tricks = (*found.tricks, Trick("test-aided", new[0], detail))
    return replace(found, tricks=tricks, green_runs=0, aiding=new)


def _loaded_unasked(examination: Examination, protection: Protection) -> tuple[str, ...]:
    request, workspace = examination.request, examination.workspace
    old = frozenset(workspace.list_files(request.accepted))
    tests = tuple(path for path in old if looks_like_test(path))
    read = partial(workspace.read_file, request.candidate)
    return tuple(
        path
        for path in workspace.list_files(request.candidate)
        if path not in old
        and path not in protection.overlay
        and path not in request.consented
        and is_loaded_unasked(path, read, tests)
    )


def _doubted(protection: Protection) -> bool:
    return any(not trick.harmless for trick in protection.tricks)


def _passing_on_rejected(examination: Examination, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Tests added since the QA rejection that pass on the rejected tree as well: they prove nothing about the finding."""
    request, workspace = examination.request, examination.workspace
    if not request.rejected:
        return ()
    touched = _test_files(examination, request.rejected, request.candidate)
    old = {
        test.id
        for path in touched
        for test in source_tests(workspace.read_file(request.rejected, path) or b"", path) or ()
    }
    added = [i for i in outcomes if i.partition("::")[0] in touched and i.partition("[")[0] not in old]
    if not added:
        return ()
    examination.use(workspace.overlay(request.rejected, dict.fromkeys(touched, request.candidate)))
    there = examination.trial().outcomes
    return tuple(sorted(i for i in added if there.get(i) == "passing"))


def refactor(examination: Examination, protection: Protection) -> Found:
    """One round with its planted failures, and the numbers of the changed code."""
    numbers = measure_quality(_code(examination), examination.settings.code)
    trial = examination.trial()
    tricks, notes = _proof(examination, protection, trial)
    return Found(trial, files=_files(examination), quality=numbers, tricks=tricks, notes=notes)


def document(examination: Examination, protection: Protection) -> Found:
    """One round with its planted failures, and what the changed documents hold."""
    trial = examination.trial()
    tricks, notes = _proof(examination, protection, trial)
    diagrams = Diagrams(examination.commands, examination.tree.directory)
    files = _files(examination, diagrams)
    return Found(trial, files=files, tricks=tricks, notes=(*notes, *diagrams.notes))


def gates(examination: Examination, protection: Protection) -> Found:
    """One round with its planted failures and nothing else."""
    trial = examination.trial()
    tricks, notes = _proof(examination, protection, trial)
    return Found(trial, files=_files(examination), tricks=tricks, notes=notes)


def _proof(examination: Examination, protection: Protection, trial: Trial) -> tuple[tuple[Trick, ...], tuple[str, ...]]:
    """Planted failures, where the stage could be left by this round."""
    return examination.canaries(trial.round) if trial.green and not _doubted(protection) else ((), ())


def quality_assurance(examination: Examination, protection: Protection) -> Found:
    """One round with its canary, and the eleven criteria."""
    code = _code(examination)
    numbers = measure_quality(code, examination.settings.code)
    trial = examination.trial()
    diagrams = Diagrams(examination.commands, examination.tree.directory)
    files = _files(examination, diagrams)
    clean = trial.green and not _doubted(protection)
    tricks, notes = _proof(examination, protection, trial)
    checks, tools = _checks(examination, code, numbers, trial, clean=clean and not tricks)
    notes += diagrams.notes
    return Found(
        trial,
        green_runs=1 if clean and not tricks else 0,
        tricks=tricks,
        files=files,
        quality=numbers,
        checks=checks,
        tools=tools,
        notes=notes,
    )


def _checks(
    examination: Examination, code: ChangedCode, numbers: Quality, trial: Trial, *, clean: bool
) -> tuple[tuple[Check, ...], tuple[GateResult, ...]]:
    """The eleven criteria, and how the tools they need ran."""
    linted = run_lint(examination) if examination.settings.qa.lint_clean == "on" else None
    given = qa.Evidence(
        examination.request,
        examination.settings,
        examination.workspace,
        code,
        numbers,
        tests=_tests_verdict(trial, clean=clean),
        lint=linted[0] if linted else None,
        reported=_ids_by_file(trial),
    )
    return qa.checks(given), (linted[1],) if linted else ()


def _ids_by_file(trial: Trial) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for case in trial.round.cases.values():
        found.setdefault(case.file, []).append(case.id)
    return found


def _tests_verdict(trial: Trial, *, clean: bool) -> qa.Verdict:
    if clean:
        return True, plural(len(trial.outcomes), "test") if trial.outcomes else "every gate passes by its exit code"
    parts = [f"{run.result.name}: {run.result.broken}" for run in trial.round.runs if run.result.broken]
    parts += [f"{plural(len(trial.failing), 'test')} failing: {listed(trial.failing, 5)}"] if trial.failing else []
    parts += [f"{plural(len(trial.missing), 'test')} gone: {listed(trial.missing, 5)}"] if trial.missing else []
    parts += [f"{plural(len(trial.newly_skipped), 'test')} newly skipped"] if trial.newly_skipped else []
    parts += [
        f"{run.result.name} ends with {run.result.exit_code}" for run in trial.round.runs if not run.result.passed
    ]
    return False, "; ".join(parts) or "the result cannot be trusted: see the tricks found"


def _files(examination: Examination, complaints: Complaints = shapes) -> Files:
    request = examination.request
    return documents.measure_files(examination.workspace, request.base, request.candidate, complaints, request.kept)


def _code(examination: Examination) -> ChangedCode:
    return changed_code(examination.workspace, examination.request.base, examination.request.candidate)


KINDS: dict[str, Kind] = {
    "baseline": baseline,
    "red": red,
    "green": green,
    "refactor": refactor,
    "document": document,
    "qa": quality_assurance,
    "gates": gates,
}
