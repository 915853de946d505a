"""Gate 1 and progress where workflows agree: a green tree, and a review. Conditions on measurements, never on words."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.loop import casting
from flyball.core.model.measurement import GateVerdict, Measurement, Scalar
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Player
from flyball.core.text.quantities import first_few, plural

_KEEPS_BEHAVIOUR = re.compile(
    r"\brefactor|\brestructur|\breorgani[sz]|\brenam|\bclean(?:ing)?[ -]?up|\btid(?:y|ied)|\bsimplif|\bextract\b|\binline\b"
    r"|\bmove\b|\bsplit\b|\bdedup|\bmoderni[sz]|\btype[ -]?(?:hint|annotation)|\bannotat|\boptimi[sz]|\bspeed(?:ing)?[ -]up|\bperformance"
    r"|\bfaster\b|\bsame (?:values?|results?|outputs?|answers?|behaviou?r)\b|\breformat|\blint|\bstyle\b|\bcomplexity\b|\bno (?:functional|behaviou?r(?:al)?) change|\bwithout changing (?:the |its )?behaviou?r",
    re.IGNORECASE,
)


def keeps_behaviour(request: str) -> bool:
    """Whether a request asks for other code that does the same: no new test can fail without that."""
    return bool(_KEEPS_BEHAVIOUR.search(request))


GREEN_RUNS_NEEDED = 2
COVERAGE = "criteria_covered"
APPROVING = frozenset({"pass", "warn"})
"""The verdicts of a reviewer that let work pass; what a warning says is shown and does not block."""
SHOWN = 12
NO_VERDICT = "the reviewer gave no approval: report a `verdict`"
NOBODY = "nobody reviewed this work"


class Weighed(msgspec.Struct, frozen=True):
    """A measurement seen by a stage: does gate 1 hold, did it move, how good is the tree, and must it go back."""

    gate: GateVerdict
    progress: bool
    score: float
    rate: float | None = None
    failing: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()
    rejected: bool = False
    unverified: bool = False
    """Whether nothing is against the work but that no measurement shows it."""
    by_output: bool = False
    """Whether the failure is known by the output of a gate that counts nothing."""

    @property
    def uncounted(self) -> bool:
        """Whether no number says how far the work is."""
        return self.by_output or self.unverified


Weigh = Callable[[State, Lane, Measurement, Claim], Weighed]


UNNOTICED = "no test notices this change: add one that fails without it"


def green(state: State, lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
    """None fails, all pass in a full run, each of them twice in one iteration, and a test notices the change."""
    missing = doubts(measured) + not_all_passing(measured)
    needed = GREEN_RUNS_NEEDED if any(gate.counts for gate in measured.gates) else 1
    if not missing and measured.green_runs < needed:
        missing = [f"green in {measured.green_runs} of {needed} runs"]
    missing += [f"a flaky test ended differently in two runs: {t}" for t in measured.flaky]
    missing += _proving_nothing(lane, measured)
    alone = state.task.settings.review == "never" or casting.is_author_alone(state, lane)
    unverified = [] if missing else not_verified(state, lane, measured, alone=alone)
    missing += unverified
    counts = measured.counts
    earlier = lane.loop.standing
    values: dict[str, Scalar] = {
        "tests_total": counts.total,
        "tests_passing": counts.passing,
        "tests_failing": counts.failing,
        "consecutive_green_runs": measured.green_runs,
    }
    return Weighed(
        gate_verdict(passing_condition(measured, "twice" if needed > 1 else "in one run"), missing, values),
        progress=_tests_moved(measured, earlier)
        or _output_moved(measured, earlier)
        or _fewer_failed_checks(measured, earlier),
        score=float(counts.passing - counts.failing * 1000 - len(measured.missing) * 1000),
        rate=pass_rate(measured),
        failing=None if measured.is_known_by_output else measured.failing,
        findings=lane.loop.findings,
        unverified=bool(unverified),
        by_output=measured.is_known_by_output,
    )


def passing_condition(measured: Measurement, when: str) -> str:
    """What a green tree satisfies; known failures are never called passing."""
    left = measured.counts.known_failing
    if not measured.counts.total:
        return f"all gates pass {when}"
    return f"all tests but {plural(left, 'known failure')} pass {when}" if left else f"all tests pass {when}"


def not_verified(state: State, lane: Lane, measured: Measurement, *, alone: bool) -> list[str]:
    """What no measurement shows of work that is green; where its author reviews it `alone`, that approval shows nothing either."""
    noticed = measured.noticed
    if noticed is None or state.task.settings.unnoticed == "allow":
        return []
    files = first_few(noticed.files, 5)
    if noticed.kind == "nothing":
        return [f"not verified yet: {UNNOTICED} ({files})"]
    if noticed.kind == "unprobed":
        return []
    item = next((item.text for item in state.items if item.id == lane.item), "")
    keeps = keeps_behaviour(f"{state.task.request}\n{item}")
    missing = [] if keeps else [f"not verified yet: no test states this example: {each}" for each in noticed.unstated]
    if not alone or noticed.kind == "no-product":
        return missing
    if noticed.kind == "existing-test" and not keeps:
        message = "no new test fails without this change, and nobody but its author reviews it: add such a test"
        missing.append(f"not verified yet: {message} ({files})")
    if noticed.unnamed:
        named = ", ".join(noticed.unnamed)
        missing.append(f"not verified yet: no test names {named}: name each criterion in its test, such as test_ac_1_…")
    return missing


def green_work(
    state: State, lane: Lane, measured: Measurement, claim: Claim, unchanged: str = "no relevant change"
) -> Weighed:
    """As for every green tree; but a tree that is what it was before is no work."""
    weighed = green(state, lane, measured, claim)
    if not measured.unchanged:
        return weighed
    unchanged = f"{unchanged} is left without what was set aside" if measured.tricks else unchanged
    missing = (*weighed.gate.missing[: SHOWN - 1], unchanged)
    return replace(weighed, gate=replace(weighed.gate, held=False, missing=missing), unverified=False)


def _proving_nothing(lane: Lane, measured: Measurement) -> list[str]:
    """Tests added since a rejection that pass on the rejected tree too; where only coverage was missing they may."""
    if lane.loop.findings and all(f.check == COVERAGE for f in lane.loop.findings):
        return []
    return [
        f"a test added since the rejection passes on the rejected tree as well: {t}"
        for t in measured.passing_on_rejected
    ]


def review(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """No blocking check fails, no blocking finding stands, and the reviewer approves."""
    failed = [c for c in measured.checks if c.status == "fail" and c.blocking]
    against = (Finding("critical", f"{c.name}: {c.detail}", check=c.name) for c in failed)
    skipped = any(visit.forced for visit in lane.visits[-2:])
    alone = _reviewed_by_author(state, lane)
    unverified = [] if skipped else not_verified(state, lane, measured, alone=alone)
    findings = (*against, *_against(claim), *(Finding("major", told) for told in unverified))
    missing = doubts(measured) + [f"{c.name}: {c.detail}" for c in failed] + unverified
    missing += [f"{f.severity}: {f.message}" for f in claim.findings if f.blocks]
    if claim.verdict not in APPROVING:
        missing.append("the reviewer rejected it" if claim.verdict == "fail" else NO_VERDICT)
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
        gate_verdict("no blocking finding and the reviewer approves", missing, values),
        progress=progress,
        score=float(passing - len(findings)),
        findings=findings,
        rejected=bool(findings) or (claim.verdict in APPROVING and bool(missing)),
        unverified=missing == [NO_VERDICT],
    )


def left_out(state: State, lane: Lane, measured: Measurement) -> str:
    """Why a review is left out, as `review` asks and, with `auto`, as was measured; empty where one is held."""
    settings, noticed = state.task.settings, state.noticed.get(lane.item or lane.name)
    if settings.review == "never":
        return f"{NOBODY}: `review` is never"
    lines, most = measured.files.lines, settings.code.small_change
    doubted = lane.rejections or measured.remark_count or any(visit.forced for visit in lane.visits)
    if settings.review == "always" or doubted or lines is None or lines > most:
        return ""
    if noticed is None or noticed.kind != "new-test" or noticed.unnamed:
        return ""
    return f"{NOBODY}: {plural(lines, 'changed line')} of at most {most}, no remark, and a new test fails without the change"


def _reviewed_by_author(state: State, lane: Lane) -> bool:
    """Whether those who answered are, as far as is known, the models that wrote the work."""
    turns = [effect for effect, _ in lane.panel.answers.values()] if lane.panel else []
    specs = state.task.agents
    return bool(turns) and all(
        casting.independence(Player(turn.agent, turn.model), turn.authors, specs) == "same" for turn in turns
    )


def _against(claim: Claim) -> tuple[Finding, ...]:
    """What the reviewer holds against the work; a rejection always has a reason, be it the smallest finding or its summary."""
    blocking = tuple(f for f in claim.findings if f.blocks)
    if blocking or claim.verdict != "fail":
        return blocking
    return claim.standing or (Finding("major", claim.summary or "the reviewer rejected it and gave no reason"),)


def gate_verdict(condition: str, missing: list[str], values: dict[str, Scalar]) -> GateVerdict:
    shown = tuple(missing[:SHOWN])
    if len(missing) > SHOWN:
        shown = (*shown, f"and {len(missing) - SHOWN} more")
    return GateVerdict(held=not missing, condition=condition, missing=shown, values=values)


def pass_rate(measured: Measurement) -> float | None:
    graded = measured.counts.passing + measured.counts.failing
    return measured.counts.passing / graded if graded else None


def not_all_passing(measured: Measurement) -> list[str]:
    counts = measured.counts
    missing = broken_gates(measured)
    missing += [f"fails: {t}" for t in measured.failing]
    missing += measured.unparsed
    if counts.failing > len(measured.failing):
        missing.append(plural(counts.failing - len(measured.failing), "more test fails", "more tests fail"))
    missing += [f"an accepted test is gone: {t}" for t in measured.missing]
    missing += [f"a test is newly skipped: {t}" for t in measured.newly_skipped]
    counted = any(g.counts is not None for g in measured.gates)
    if counted and not counts.passing and not counts.failing:
        missing.append(f"no test passed, of {counts.total} found" if counts.total else "no tests ran")
    missing += [
        f"{g.name} fails: exit {g.exit_code}" for g in measured.gates if not g.passed and not g.broken and not g.counts
    ]
    if not missing and any(not g.passed for g in measured.gates):
        missing += [f"{g.name} did not pass: exit {g.exit_code}" for g in measured.gates if not g.passed]
    return missing


def broken_gates(measured: Measurement) -> list[str]:
    return [f"{g.name} could not run: {g.broken}" for g in measured.gates if g.broken]


def doubts(measured: Measurement) -> list[str]:
    return [f"{t.path}: {t.detail}" for t in measured.caught]


def _tests_moved(now: Measurement, before: Measurement | None) -> bool:
    if before is None or now.counts.total < before.counts.total:
        return False
    if not any(g.counts for g in (*now.gates, *before.gates)):
        return sum(g.passed for g in now.gates) > sum(g.passed for g in before.gates)
    return now.counts.passing > before.counts.passing or now.counts.failing < before.counts.failing


def _output_moved(now: Measurement, before: Measurement | None) -> bool:
    """Whether a changed tree makes a gate that counts no tests say something else (C15)."""
    if before is None or before.signature is None or now.signature is None or now.tree == before.tree:
        return False
    return now.is_known_by_output and not now.caught and now.signature.fine != before.signature.fine


def _fewer_failed_checks(now: Measurement, before: Measurement | None) -> bool:
    if before is None or not now.checks or not before.checks:
        return False
    failed, earlier = (sum(c.status == "fail" and c.blocking for c in m.checks) for m in (now, before))
    return failed < earlier
