"""What each kind of measurement looks at beyond one round of gates."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from flyball.core.model.measurement import Check, GateResult, Quality, Remark, Trick, TrickKind
from flyball.core.model.task import Commit
from flyball.core.text.quantities import first_few, plural
from flyball.measures.baseline import baseline
from flyball.measures.examination import Examination, Trial
from flyball.measures.found import Found, changed_tests, measure_changed_files, without_tests
from flyball.measures.gates.junit import Outcome
from flyball.measures.gates.running import expects_report
from flyball.measures.quality import qa
from flyball.measures.quality.complexity import ChangedCode, changed_code, measure_quality
from flyball.measures.quality.diagrams import Diagrams
from flyball.measures.quality.lint import run_lint
from flyball.measures.red.red import accepted_outcomes, new_tests
from flyball.measures.red.uncounted import new_in_source, red_uncounted
from flyball.measures.sources import is_loaded_unasked, looks_like_test, source_tests
from flyball.measures.tampering.protected import Protection
from flyball.measures.tampering.weakening import asks_more

EXTENDED = "lines were added to what a gate runs, or accepted tests use; these pass with its accepted text, too"
Kind = Callable[[Examination, Protection], Found]


def red(examination: Examination, _protection: Protection) -> Found:
    """New tests and why they fail; old tests once more without the new ones."""
    request = examination.request
    trial = examination.trial()
    cases = trial.round.cases
    if not any(run.result.broken or run.result.counts for run in trial.round.runs) and not any(
        expects_report(gate.command) for gate in examination.settings.gates
    ):
        return red_uncounted(examination, trial)
    fresh = new_tests(
        cases,
        examination.expectations.baseline,
        tree=examination.tree.directory,
        files=examination.index.files,
        items=request.items,
        declared=[t for f in new_in_source(examination) if not f.file.endswith(".py") for t in f.tests],
        text=trial.round.text,
    )
    files = measure_changed_files(examination)
    broken = () if any(run.result.broken for run in trial.round.runs) else _old_tests_broken(examination)
    return Found(
        trial,
        accepted_outcomes(cases, fresh, examination.expectations.baseline),
        new_tests=fresh,
        old_tests_broken=broken,
        files=files,
    )


def _old_tests_broken(examination: Examination) -> tuple[str, ...]:
    request, workspace = examination.request, examination.workspace
    sha = without_tests(examination, changed_tests(examination, request.base, request.candidate))
    if sha == workspace.tree_of(request.base):
        return ()
    examination.use(sha)
    outcomes = examination.trial().outcomes
    wanted = (i for i, outcome in examination.expectations.baseline.items() if outcome == "passing")
    return tuple(sorted(i for i in wanted if outcomes.get(i) != "passing"))


def green(examination: Examination, protection: Protection) -> Found:
    """A full round, and every test once more; after a rejection QA's criteria too, and the added tests on the rejected tree."""
    files, code = measure_changed_files(examination), _code(examination)
    numbers = measure_quality(code, examination.settings.code)
    first = examination.trial()
    clean = first.green and not protection.tricks
    request = examination.request
    examined = bool(request.rejected) and request.checks
    checks, tools = _checks(examination, code, numbers, first, clean=clean) if examined else ((), ())
    found = Found(first, files=files, quality=numbers, checks=checks, tools=tools)
    if not clean:
        return found
    found = _run_again(examination, protection, found)
    if found.tricks or found.flaky or not found.trial.green:
        return found
    return replace(found, passing_on_rejected=_passing_on_rejected(examination, first.outcomes))


def _run_again(examination: Examination, protection: Protection, found: Found) -> Found:
    """Every test a second time, in runs that are needed anyway: without what is new beside the accepted tests or, where there is
    nothing of that, with planted failures. What these have not shown to end as before runs once more, by itself.
    """
    tree, first = examination.tree_in_use, found.trial
    if tree in examination.made.twice:
        return replace(found, green_runs=examination.made.twice[tree], notes=examination.made.proven[tree])
    second = examination.trial_again(first)
    if second is not None and not second.green:
        return replace(found, trial=second, green_runs=1)
    new = _aids(examination, protection, first)
    unaided, shaken = _unaided_outcomes(examination, protection, new) if new else ({}, frozenset())
    examination.use(tree)
    proof = examination.canaries(first.round, whole=not unaided)
    if proof.tricks:
        return replace(found, tricks=proof.tricks, notes=proof.notes)
    same = proof.others | {i for i, outcome in unaided.items() if outcome == first.outcomes.get(i)}
    flaky = {*shaken, *proof.flaky, *_ending_otherwise(examination, first, same)}
    if flaky:
        return replace(found, green_runs=1, flaky=tuple(sorted(flaky)), notes=proof.notes)
    counted = any(run.result.counts for run in first.round.runs)
    examination.made.twice[tree] = 2 if counted or second is not None else 1
    return replace(found, green_runs=examination.made.twice[tree], notes=proof.notes)


def _unaided_outcomes(
    examination: Examination, protection: Protection, new: Mapping[str, Commit | None]
) -> tuple[Mapping[str, Outcome], frozenset[str]]:
    """How tests end without what is new, and those that end in two ways: before anybody is blamed for it, a failure is seen twice."""
    trial = _trial_without(examination, protection, new)
    again = trial.outcomes if trial.green else _trial_without(examination, protection, new).outcomes
    return trial.outcomes, frozenset(i for i, outcome in trial.outcomes.items() if again.get(i) != outcome)


def _ending_otherwise(examination: Examination, first: Trial, same: Collection[str]) -> Iterator[str]:
    """The tests that do not end again as they did `first`; those in `same` have done so already."""
    for gate, run in zip(examination.settings.gates, first.round.runs, strict=True):
        left = {i: case.outcome for i, case in run.cases.items() if i not in same and not case.uncollected}
        if left and run.result.counts is not None:
            cases = examination.run_chosen(gate, left).cases
            yield from (i for i in left if i not in cases or cases[i].outcome != left[i])


def measure_unaided(examination: Examination, protection: Protection, found: Found) -> Found:
    """Once more without what is new and loaded with the tests, and with scripts as accepted: what was accepted must not need it.

    Such a file runs before the tests and could put right in the runner what is wrong in the tree. Where it does, all of them go.
    """
    request, accepted = examination.request, examination.expectations.accepted
    if request.kind != "baseline" and protection.suspects and found.trial.tricks:
        return _blame_suspects(examination, protection, found)
    if request.kind in {"baseline", "red"} or not found.trial.green:
        return found
    new = _aids(examination, protection, found.trial)
    if not new:
        return found
    trial = _trial_without(examination, protection, new)
    if trial.green:
        extended = (Remark(path, 0, EXTENDED) for path, commit in new.items() if commit is not None)
        return replace(found, remarks=(*found.remarks, *extended))
    lost = tuple(i for i in (*trial.failing, *trial.missing) if i in accepted)
    said = first_few(lost, 5) or "the gate fails"
    grown: dict[str, Commit | None] = {path: commit for path, commit in new.items() if commit is not None}
    if 0 < len(grown) < len(new) and not _trial_without(examination, protection, grown).green:
        new = grown
    detail = f"accepted tests pass only with what is new beside them ({first_few(tuple(new), 5)}): {said}"
    # A request may need another text of an accepted file.
    kind: TrickKind = "protected-changed" if new == grown else "test-aided"
    tricks = (*found.tricks, Trick(kind, next(iter(new)), detail))
    return replace(found, tricks=tricks, green_runs=0, aiding=new)


def _aids(examination: Examination, protection: Protection, trial: Trial) -> dict[str, Commit | None]:
    """What might help accepted tests to pass, and what is to stand in its place without it."""
    uncounted = not any(run.result.counts for run in trial.round.runs)
    if not (examination.expectations.accepted or uncounted):
        return {}
    read, request = examination.workspace.read_file, examination.request
    grown = [
        path
        for path in protection.grown
        if uncounted
        or path in protection.scripts
        or not asks_more(path, read(request.accepted, path), read(request.candidate, path))
    ]
    new = dict.fromkeys(_loaded_unasked(examination, protection))
    return {**new, **dict.fromkeys(grown, examination.request.accepted)}


def _trial_without(examination: Examination, protection: Protection, new: Mapping[str, Commit | None]) -> Trial:
    without = {**protection.overlay, **new}
    examination.use(examination.workspace.overlay(examination.request.candidate, without, protection.rewritten))
    return examination.trial()


def _blame_suspects(examination: Examination, protection: Protection, found: Found) -> Found:
    """What a run shows no more once new files are gone that may change the runner was their doing."""
    new = dict.fromkeys(protection.suspects)
    trial = _trial_without(examination, protection, new)
    gone = [trick for trick in found.trial.tricks if trick not in trial.tricks]
    if not gone:
        return found
    detail = f"{gone[0].detail}; without {first_few(protection.suspects, 5)} that does not happen"
    trick = Trick(gone[0].kind, protection.suspects[0], detail)
    return replace(found, trial=trial, tricks=(*found.tricks, trick), aiding=new)


def measure_restored(examination: Examination, protection: Protection, found: Found) -> Found:
    """Whether what was changed in protected files changes a measurement: asked where the tree is not green without it."""
    if not protection.restored or found.trial.green or examination.request.kind == "baseline":
        return replace(found, tricks=(*found.tricks, *protection.restored))
    examination.use(examination.workspace.tree_of(examination.request.candidate))
    changed = _difference(found.trial, examination.trial())
    tricks = tuple(
        replace(each, harmless=not changed, detail=f"{each.detail}; {changed}" if changed else each.detail)
        for each in protection.restored
    )
    return replace(found, tricks=(*found.tricks, *tricks))


def _difference(restored: Trial, changed: Trial) -> str:
    """What a run with the changes says that the run without them does not, or an empty string."""
    broken = any(run.result.broken for run in changed.round.runs)
    # A gate that cannot run says nothing, and so no more.
    better = [
        i for i in restored.failing if (i in changed.outcomes or not broken) and changed.outcomes.get(i) != "failing"
    ]
    if better:
        how = {"passing": "passes", "skipped": "is skipped", "xfailed": "is expected to fail"}
        ended = how.get(changed.outcomes.get(better[0], ""), "does not run")
        return f"measured: with this change {better[0]} {ended}, without it it fails"
    odd = [trick for trick in changed.tricks if trick not in restored.tricks]
    if odd:
        return f"measured: with this change {odd[0].detail}"
    if changed.round.passed and not restored.round.passed:
        return "measured: with this change the gate passes, without it it fails"
    return ""


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
        and (path in protection.suspects or is_loaded_unasked(path, read, tests))
    )


def _passing_on_rejected(examination: Examination, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Tests added since the QA rejection that pass on the rejected tree as well: they prove nothing about the finding."""
    request, workspace = examination.request, examination.workspace
    if not request.rejected:
        return ()
    touched = changed_tests(examination, request.rejected, request.candidate)
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
    quality = measure_quality(_code(examination), examination.settings.code)
    return replace(gates(examination, protection), quality=quality)


def document(examination: Examination, protection: Protection) -> Found:
    """One round with its planted failures, what the changed documents hold, and QA's criteria of documents."""
    trial = examination.trial()
    tricks, notes = _proof(examination, protection, trial)
    diagrams = Diagrams(examination.commands, examination.tree.directory)
    files = measure_changed_files(examination, diagrams)
    checks, _ = _checks(examination, _code(examination), Quality(), trial, clean=False, only=qa.OF_DOCUMENTS)
    return Found(trial, files=files, tricks=tricks, checks=checks, notes=(*notes, *diagrams.notes))


def gates(examination: Examination, protection: Protection) -> Found:
    trial = examination.trial()
    tricks, notes = _proof(examination, protection, trial)
    return Found(trial, files=measure_changed_files(examination), tricks=tricks, notes=notes)


def _proof(examination: Examination, protection: Protection, trial: Trial) -> tuple[tuple[Trick, ...], tuple[str, ...]]:
    """Planted failures, where the stage could be left by this round."""
    if not trial.green or protection.tricks:
        return (), ()
    proof = examination.canaries(trial.round)
    return proof.tricks, proof.notes


def quality_assurance(examination: Examination, protection: Protection) -> Found:
    """One round with its canary, and the eleven criteria."""
    code = _code(examination)
    numbers = measure_quality(code, examination.settings.code)
    trial = examination.trial()
    diagrams = Diagrams(examination.commands, examination.tree.directory)
    files = measure_changed_files(examination, diagrams)
    tricks, notes = _proof(examination, protection, trial)
    clean = trial.green and not protection.tricks and not tricks
    checks, tools = _checks(examination, code, numbers, trial, clean=clean)
    return Found(
        trial,
        green_runs=1 if clean else 0,
        tricks=tricks,
        files=files,
        quality=numbers,
        checks=checks,
        tools=tools,
        notes=(*notes, *diagrams.notes),
    )


def _checks(
    examination: Examination,
    code: ChangedCode,
    numbers: Quality,
    trial: Trial,
    *,
    clean: bool,
    only: Collection[str] = (),
) -> tuple[tuple[Check, ...], tuple[GateResult, ...]]:
    """The eleven criteria or `only` some, and how the tools they need ran."""
    reported: dict[str, list[str]] = {}
    for case in trial.round.cases.values():
        reported.setdefault(case.file, []).append(case.id)
    linted = run_lint(examination) if examination.settings.qa.lint_clean == "on" and not only else None
    given = qa.Evidence(
        examination.request,
        examination.settings,
        examination.workspace,
        code,
        numbers,
        tests=_tests_verdict(trial, clean=clean),
        lint=linted[0] if linted else None,
        reported=reported,
    )
    return qa.checks(given, only), (linted[1],) if linted else ()


def _tests_verdict(trial: Trial, *, clean: bool) -> qa.Verdict:
    if clean:
        left = [i for i, outcome in trial.outcomes.items() if outcome == "failing"]
        message = plural(len(trial.outcomes) - len(left), "test")
        message += f"; {plural(len(left), 'known failure remains', 'known failures remain')}" if left else ""
        return True, message if trial.outcomes else "every gate passes by its exit code"
    parts = [f"{run.result.name}: {run.result.broken}" for run in trial.round.runs if run.result.broken]
    parts += [f"{plural(len(trial.failing), 'test')} failing: {first_few(trial.failing, 5)}"] if trial.failing else []
    parts += [f"{plural(len(trial.missing), 'test')} gone: {first_few(trial.missing, 5)}"] if trial.missing else []
    parts += [f"{plural(len(trial.newly_skipped), 'test')} newly skipped"] if trial.newly_skipped else []
    parts += [
        f"{run.result.name} ends with {run.result.exit_code}" for run in trial.round.runs if not run.result.passed
    ]
    return False, "; ".join(parts) or "the result cannot be trusted: see the tricks found"


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
