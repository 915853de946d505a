"""Gate 1 and progress of the stages that `tdd` alone has: RED, REFACTOR and DOCUMENT; and where RED cannot be verified."""

from collections.abc import Iterable

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.loop import gates
from flyball.core.loop.gates import Weighed
from flyball.core.loop.junit_hint import junit_hint
from flyball.core.model.measurement import GateVerdict, Measurement, NewTest, Scalar
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item, open_items
from flyball.core.text.documents import is_document
from flyball.core.text.quantities import plural

REFACTOR_ITERATIONS = 5
_WITHIN_LIMITS = "and no changed function exceeds the limits"
_CANNOT = "tdd cannot verify RED here (flyball run --workflow quick needs no failing test first)"
"""What works here as it is comes first: screens cut long reasons at their end."""


OWNERS = {"complexity": "REFACTOR", "readme": "DOCUMENT", "decision_record": "DOCUMENT", "changelog": "DOCUMENT"}
"""The stage that can repair what a check of QA finds; GREEN for every other check and what a reviewer finds."""


def owner(finding: Finding) -> str:
    return OWNERS.get(finding.check, "DOCUMENT" if is_document(finding.file) else "GREEN")


def _open_findings(lane: Lane, gate: GateVerdict, claim: Claim) -> tuple[Finding, ...]:
    """The findings of a rejection; those of this stage stay open until it is left."""
    left = gate.held and claim.exit_signal
    return tuple(f for f in lane.loop.findings if not (left and owner(f) == lane.stage))


def green(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """As in every workflow; what was found for a later stage stays open."""
    result = gates.green(state, lane, measured, claim)
    return replace(result, findings=_open_findings(lane, result.gate, claim))


def objection(baseline: Measurement) -> str:
    """Why a project's tests are not enough: a new test could not be seen to fail; empty where it can."""
    if baseline.unseen:
        return (
            f"{_CANNOT}: {baseline.unseen}; let a gate run every test file it finds in its folder, "
            f"or write a JUnit report to {{junit}}"
        )
    gate = baseline.uncounted_failure
    if gate is None:
        return ""
    why = "fails on the untouched tree, and its tests are not counted, so no new test could be seen to fail: repair it first"
    return f"{_CANNOT}: the gate {gate.name} {why}; {junit_hint(gate.command)}"


def red(state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """New tests for every criterion, all failing, each for the right reason; the old ones still pass."""
    items = open_items(state.items)
    sound = [t for t in measured.new_tests if _fails_rightly(t)]
    covered = covered_criteria(items, sound)
    missing = gates.doubts(measured) + gates.broken_gates(measured)
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
    before = _red_numbers(state, lane.loop.standing)
    return Weighed(
        gates.gate_verdict("every criterion has a new test that fails for the right reason", missing, values),
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


def refactor(_state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """All pass, and the changed functions are within the limits (or enough was tried)."""
    missing = gates.doubts(measured) + gates.not_all_passing(measured)
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
    earlier = lane.loop.standing
    before = earlier.quality if earlier else None
    progress = bool(
        quality
        and before
        and not gates.not_all_passing(measured)
        and (quality.complexity_total < before.complexity_total or quality.duplicated_lines < before.duplicated_lines)
    )
    worst = len(quality.over_limit) if quality else 0
    gate = gates.gate_verdict(gates.passing_condition(measured, _WITHIN_LIMITS), missing, values)
    return Weighed(
        gate,
        progress=progress,
        findings=_open_findings(lane, gate, claim),
        score=float(-measured.counts.failing * 1000 - worst),
        rate=gates.pass_rate(measured),
        failing=None if measured.is_known_by_output else measured.failing,
        by_output=measured.is_known_by_output,
    )


def within_limits(state: State, lane: Lane) -> str:
    """What makes a turn of REFACTOR unnecessary, as measured of the tree it begins with; empty where one is needed (C40)."""
    entry = lane.loop.entry
    if lane.loop.iteration or lane.turn is not None or lane.rejected or entry is None or entry.tree != lane.tree:
        return ""
    if any(visit.forced for visit in lane.visits[-2:]):
        return ""
    if entry.quality is None or not refactor(state, lane, entry, Claim()).gate.held:
        return ""
    worst, limit = entry.quality.complexity_worst, state.task.settings.code.complexity
    unmeasured = f"; {entry.quality.unmeasured}" if entry.quality.unmeasured else ""
    return f"no changed function exceeds the limits: the worst complexity is {worst}, under {limit}{unmeasured}"


def document(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """Enough documents, a decision record among them, every diagram readable, and what QA will ask of README and changelog."""
    files, needed = measured.files, state.task.settings.documents
    missing = gates.doubts(measured) + gates.not_all_passing(measured)
    if files.documents < needed:
        missing.append(f"{files.documents} of {plural(needed, 'document')} added or changed since the task began")
        missing += [f"an empty document does not count: {path}" for path in files.documents_empty]
    failed = _failed_checks(measured)
    missing += [f"{name}: {detail}" for name, detail in failed.items()]
    if not files.decision_records and "decision_record" not in failed:
        missing.append("no decision record (*/decisions/* or ADR-*) among them")
    missing += [f"a diagram cannot be read: {d}" for d in files.diagrams_broken]
    values: dict[str, Scalar] = {
        "docs_generated": files.documents,
        "has_adr": bool(files.decision_records),
        "diagrams_valid": files.diagrams_valid,
        "diagrams_total": files.diagrams,
    }
    earlier = lane.loop.standing or measured
    before = earlier.files
    progress = (
        files.documents > before.documents
        or files.diagrams_valid > before.diagrams_valid
        or bool(files.decision_records and not before.decision_records)
        or failed.keys() < _failed_checks(earlier).keys()
    )
    gate = gates.gate_verdict(
        f"{plural(needed, 'document')}, a decision record among them, README and changelog name the work, every diagram readable",
        missing,
        values,
    )
    wrong = len(files.diagrams_broken) + len(failed)
    return Weighed(
        gate,
        progress=progress,
        score=float(files.documents + files.decision_records - wrong - measured.counts.failing * 1000),
        findings=_open_findings(lane, gate, claim),
        rate=gates.pass_rate(measured),
    )


def _failed_checks(measured: Measurement) -> dict[str, str]:
    """QA's checks of documents that fail, and why."""
    return {c.name: c.detail for c in measured.checks if c.status == "fail" and OWNERS.get(c.name) == "DOCUMENT"}
