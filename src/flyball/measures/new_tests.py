"""RED: the tests that are new, why they fail, and whether the old ones still pass without them."""

from flyball.core.model.measurement import NewTest
from flyball.measures.examination import Examination, Trial
from flyball.measures.found import Found, changed_tests, measure_changed_files
from flyball.measures.gates.running import expects_report
from flyball.measures.red.reasons import Project
from flyball.measures.red.red import accepted_outcomes, new_tests, without_vacuous
from flyball.measures.red.uncounted import NewTests, by_criterion, judge_new_tests, read_new, whole_file
from flyball.measures.tampering.protected import Protection, changed_paths


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
        files=measure_changed_files(examination),
    )


def _red_uncounted(examination: Examination, trial: Trial) -> Found:
    """New tests as their source has them; the gates must fail with them and pass without."""
    request, workspace = examination.request, examination.workspace
    new = _new_in_source(examination)
    fresh = judge_new_tests(
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
    return Found(trial, {}, new_tests=fresh, old_tests_broken=failing, files=measure_changed_files(examination))


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
    tests = changed_tests(examination, request.base, request.candidate)
    paths = (p for p in changed_paths(workspace, request.base, request.candidate) if p in tests or p.endswith(".rs"))
    read = (read_new(p, workspace.read_file(request.base, p), workspace.read_file(request.candidate, p)) for p in paths)
    return [file for file in read if file.tests or file.file in tests]


def _old_tests_broken(examination: Examination) -> tuple[str, ...]:
    request, workspace = examination.request, examination.workspace
    reverted = changed_tests(examination, request.base, request.candidate)
    sha = workspace.overlay(request.candidate, dict.fromkeys(reverted, request.base))
    if sha == workspace.tree_of(request.base):
        return ()
    examination.use(sha)
    outcomes = examination.trial().outcomes
    wanted = (i for i, outcome in examination.expectations.baseline.items() if outcome == "passing")
    return tuple(sorted(i for i in wanted if outcomes.get(i) != "passing"))
