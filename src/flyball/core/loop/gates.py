"""Gate 1 and progress, stage by stage: conditions on measurements, never on words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from flyball.core.claims.claims import Claim
from flyball.core.claims.findings import BLOCKING, Finding
from flyball.core.model.events import GateVerdict
from flyball.core.model.measurement import Check, Measurement, NewTest, Scalar
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item, open_items
from flyball.core.text.quantities import plural

DOCUMENTS_NEEDED = 3
GREEN_RUNS_NEEDED = 2
REFACTOR_ITERATIONS = 5
COVERAGE = "criteria_covered"
APPROVING = frozenset({"pass", "warn"})
"""The verdicts of a reviewer that let work pass; what a warning says is shown and does not block."""
SHOWN = 12


class Weighed(msgspec.Struct, frozen=True):
    """A measurement seen by a stage: does gate 1 hold, did it move, how good is the tree, and must it go back."""

    gate: GateVerdict
    progress: bool
    score: float
    rate: float | None = None
    failing: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()
    rejected: bool = False


Weigh = Callable[[State, Lane, Measurement, Claim], Weighed]


def red(state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """New tests for every criterion, all failing, each for the right reason; the old ones still pass."""
    items = open_items(state.items)
    sound = [t for t in measured.new_tests if _fails_rightly(t)]
    covered = covered_criteria(items, sound)
    missing = _doubts(measured) + _broken(measured)
    named = covered_criteria(items, measured.new_tests)
    missing += [_unsound(t) for t in measured.new_tests if not _fails_rightly(t)]
    missing += [f"no new test names {i.id}: {i.text}" for i in items if i.id not in named]
    missing += [f"no test of {i.id} fails as it should: {i.text}" for i in items if i.id in named - covered]
    missing += [f"an old test no longer passes: {t}" for t in measured.old_tests_broken]
    generated = sum(t.tests_in_source for t in measured.new_tests)
    failing = sum(t.tests_in_source for t in sound)
    if len(covered) == len(items) > failing:
        missing.append(
            f"{plural(failing, 'new test')} for {plural(len(items), 'criterion', 'criteria')}: each needs one of its own"
        )
    values: dict[str, Scalar] = {
        "criteria_count": len(items),
        "criteria_covered": len(covered),
        "tests_generated": generated,
        "tests_failing": failing,
    }
    before = _red_numbers(state, lane.loop.last)
    return Weighed(
        _verdict("every criterion has a new test that fails for the right reason", missing, values),
        progress=generated > before[0] or len(covered) > before[1],
        score=float(len(covered) * 1000 + failing - len(measured.old_tests_broken)),
        rate=len(covered) / len(items) if items else None,
    )


def covered_criteria(items: Iterable[Item], tests: Iterable[NewTest]) -> frozenset[str]:
    """Which criteria have a test; a single criterion needs no naming."""
    ids = [i.id for i in items]
    tests = list(tests)
    if len(ids) == 1 and tests:
        return frozenset(ids)
    return frozenset(c for t in tests for c in t.criteria if c in ids)


def _red_numbers(state: State, measured: Measurement | None) -> tuple[int, int]:
    if measured is None:
        return 0, 0
    sound = [t for t in measured.new_tests if _fails_rightly(t)]
    return sum(t.tests_in_source for t in measured.new_tests), len(covered_criteria(open_items(state.items), sound))


def _fails_rightly(test: NewTest) -> bool:
    return test.outcome in {"failing", "uncollected"} and test.reason in {"assertion", "missing-name"}


def _unsound(test: NewTest) -> str:
    if test.outcome == "passing":
        return f"a new test passes before the work is done: {test.id}" + (f": {test.detail}" if test.detail else "")
    if test.outcome == "skipped":
        return f"a new test is skipped: {test.id}"
    if test.reason == "vacuous":
        return f"a new test checks nothing, whatever the product does: {test.id}; let it assert what its criterion asks for"
    return f"a new test fails for the wrong reason: {test.id}: {test.detail}"


def green(_state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """None fails, all pass, in two full runs of one iteration."""
    missing = _doubts(measured) + _not_all_passing(measured)
    if not missing and measured.green_runs < GREEN_RUNS_NEEDED:
        missing = [f"green in {measured.green_runs} of {GREEN_RUNS_NEEDED} full runs"]
    missing += [f"a flaky test ended differently in two runs: {t}" for t in measured.flaky]
    missing += _proving_nothing(lane, measured)
    counts = measured.counts
    earlier = lane.loop.last or lane.loop.entry
    values: dict[str, Scalar] = {
        "tests_total": counts.total,
        "tests_passing": counts.passing,
        "tests_failing": counts.failing,
        "consecutive_green_runs": measured.green_runs,
    }
    return Weighed(
        _verdict("all tests pass in two full runs", missing, values),
        progress=_tests_moved(measured, earlier) or _fewer_failed_checks(measured, earlier),
        score=float(counts.passing - counts.failing * 1000 - len(measured.missing) * 1000),
        rate=_rate(measured),
        failing=measured.failing,
        findings=lane.loop.findings,
    )


def _proving_nothing(lane: Lane, measured: Measurement) -> list[str]:
    """Tests added since a rejection that pass on the rejected tree too; where only coverage was missing they may."""
    if lane.loop.findings and all(f.check == COVERAGE for f in lane.loop.findings):
        return []
    return [
        f"a test added since the rejection passes on the rejected tree as well: {t}"
        for t in measured.passing_on_rejected
    ]


def refactor(_state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """All pass, and the changed functions are within the limits (or enough was tried)."""
    missing = _doubts(measured) + _not_all_passing(measured)
    iteration = lane.loop.iteration + 1
    quality = measured.quality
    if iteration < REFACTOR_ITERATIONS and quality is not None:
        missing += [f"exceeds the code limits: {f}" for f in quality.over_limit]
    values: dict[str, Scalar] = {
        "tests_total": measured.counts.total,
        "tests_passing": measured.counts.passing,
        "iteration": iteration,
        "functions_over_limit": len(quality.over_limit) if quality else 0,
    }
    earlier = lane.loop.last or lane.loop.entry
    before = earlier.quality if earlier else None
    progress = bool(
        quality
        and before
        and not _not_all_passing(measured)
        and (quality.complexity_total < before.complexity_total or quality.duplicated_lines < before.duplicated_lines)
    )
    worst = len(quality.over_limit) if quality else 0
    return Weighed(
        _verdict("all tests pass and no changed function exceeds the limits", missing, values),
        progress=progress,
        score=float(-measured.counts.failing * 1000 - worst),
        rate=_rate(measured),
        failing=measured.failing,
    )


def document(_state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """Three documents, a decision record among them, every diagram readable."""
    files = measured.files
    missing = _doubts(measured) + _not_all_passing(measured)
    if files.documents < DOCUMENTS_NEEDED:
        missing.append(f"{files.documents} of {DOCUMENTS_NEEDED} documents added or changed since the task began")
        missing += [f"an empty document does not count: {path}" for path in files.documents_empty]
    if not files.decision_records:
        missing.append("no decision record (*/decisions/* or ADR-*) among them")
    missing += [f"a diagram cannot be read: {d}" for d in files.diagrams_broken]
    values: dict[str, Scalar] = {
        "docs_generated": files.documents,
        "has_adr": bool(files.decision_records),
        "diagrams_valid": files.diagrams_valid,
        "diagrams_total": files.diagrams,
    }
    before = (lane.loop.last or lane.loop.entry or measured).files
    progress = (
        files.documents > before.documents
        or files.diagrams_valid > before.diagrams_valid
        or bool(files.decision_records and not before.decision_records)
    )
    return Weighed(
        _verdict("three documents, a decision record among them, every diagram readable", missing, values),
        progress=progress,
        score=float(
            files.documents + files.decision_records - len(files.diagrams_broken) - measured.counts.failing * 1000
        ),
    )


def qa(_state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """No blocking check fails, no blocking finding stands, and the reviewer approves."""
    failed = [c for c in measured.checks if c.status == "fail" and c.blocking]
    findings = (*(_as_finding(c) for c in failed), *_against(claim))
    missing = _doubts(measured) + [f"{c.name}: {c.detail}" for c in failed]
    missing += [f"{f.severity}: {f.message}" for f in claim.findings if f.severity in BLOCKING]
    if claim.verdict not in APPROVING:
        missing.append("the reviewer rejected it" if claim.verdict == "fail" else "the reviewer gave no approval")
    passing = sum(c.status == "pass" for c in measured.checks)
    values: dict[str, Scalar] = {
        "checks_total": len(measured.checks),
        "checks_passing": passing,
        "blocking_issues": len(findings),
        "verdict": "APPROVE" if claim.verdict in APPROVING else "REJECT" if claim.verdict == "fail" else "",
    }
    last = lane.loop.judged.gate_1.values if lane.loop.judged and lane.loop.judged.stage == lane.stage else {}
    progress = passing > int(last.get("checks_passing") or 0) or (
        bool(last) and len(findings) < int(last.get("blocking_issues") or 0)
    )
    return Weighed(
        _verdict("no blocking finding and the reviewer approves", missing, values),
        progress=progress,
        score=float(passing - len(findings)),
        findings=findings,
        rejected=bool(findings) or (claim.verdict in APPROVING and bool(missing)),
    )


def _as_finding(check: Check) -> Finding:
    return Finding("critical", f"{check.name}: {check.detail}", check=check.name)


def _against(claim: Claim) -> tuple[Finding, ...]:
    """What the reviewer holds against the work; a rejection always has a reason, be it the smallest finding or its summary."""
    blocking = tuple(f for f in claim.findings if f.severity in BLOCKING)
    if blocking or claim.verdict != "fail":
        return blocking
    return claim.findings or (Finding("major", claim.summary or "the reviewer rejected it and gave no reason"),)


def _verdict(condition: str, missing: list[str], values: dict[str, Scalar]) -> GateVerdict:
    shown = tuple(missing[:SHOWN])
    if len(missing) > SHOWN:
        shown = (*shown, f"and {len(missing) - SHOWN} more")
    return GateVerdict(held=not missing, condition=condition, missing=shown, values=values)


def _rate(measured: Measurement) -> float | None:
    graded = measured.counts.passing + measured.counts.failing
    return measured.counts.passing / graded if graded else None


def _not_all_passing(measured: Measurement) -> list[str]:
    counts = measured.counts
    missing = _broken(measured)
    missing += [f"fails: {t}" for t in measured.failing]
    if counts.failing > len(measured.failing):
        missing.append(plural(counts.failing - len(measured.failing), "more test fails", "more tests fail"))
    missing += [f"an accepted test is gone: {t}" for t in measured.missing]
    missing += [f"a test is newly skipped: {t}" for t in measured.newly_skipped]
    counted = any(g.counts is not None for g in measured.gates)
    if counted and not counts.passing and not counts.failing:
        missing.append(f"no test passed, of {counts.total} found: 0 of 0 is not green")
    missing += [
        f"{g.name} fails: exit {g.exit_code}" for g in measured.gates if not g.passed and not g.broken and not g.counts
    ]
    if not missing and any(not g.passed for g in measured.gates):
        missing += [f"{g.name} did not pass: exit {g.exit_code}" for g in measured.gates if not g.passed]
    return missing


def _broken(measured: Measurement) -> list[str]:
    return [f"{g.name} could not run: {g.broken}" for g in measured.gates if g.broken]


def _doubts(measured: Measurement) -> list[str]:
    return [f"{t.kind}: {t.path}: {t.detail}" for t in measured.caught]


def _tests_moved(now: Measurement, before: Measurement | None) -> bool:
    if before is None:
        return False
    if now.counts.total < before.counts.total:
        return False
    if not any(g.counts for g in (*now.gates, *before.gates)):
        return sum(g.passed for g in now.gates) > sum(g.passed for g in before.gates)
    return now.counts.passing > before.counts.passing or now.counts.failing < before.counts.failing


def _fewer_failed_checks(now: Measurement, before: Measurement | None) -> bool:
    if before is None or not now.checks or not before.checks:
        return False
    return _failed_checks(now) < _failed_checks(before)


def _failed_checks(measured: Measurement) -> int:
    return sum(c.status == "fail" and c.blocking for c in measured.checks)
