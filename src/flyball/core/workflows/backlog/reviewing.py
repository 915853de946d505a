"""Reading what validators say of an item, and weighing it as one batch: the monitor's view of a whole issue."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.reviews import Validation
from flyball.core.claims.validation_summary import NoSummary, of_claim
from flyball.core.claims.values import CAUTION, ProposedIssue
from flyball.core.failures.signature import signature
from flyball.core.health.monitor import follow
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Remedy
from flyball.core.memory.recording import anti_pattern
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Fact, Judged
from flyball.core.model.measurement import GateVerdict
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit
from flyball.core.text.fences import split_fences
from flyball.core.text.scrubbing import clean
from flyball.core.workflows.backlog.facts import Reviewed
from flyball.core.workflows.backlog.record import record_of

KINDS = {
    "code-reviewer": "code review",
    "security-auditor": "security audit",
    "performance-reviewer": "performance review",
    "spec-auditor": "spec audit",
}
"""The validators of a backlog, and what each one's summary is called."""
SHOWN = 12
PROBLEMS_SHOWN = 3
_LISTED = re.compile(
    r"[ \t]*[-*+][ \t]+[*`]*([A-Za-z][\w-]*(?:-[0-9]+|@[\w-]+))[*`]*[ \t]*\(([^)]*)\)[ \t]*[-–—:][ \t]*(\S.*)"
)


def review(effect: RunAgent, turn: TurnEnded) -> Reviewed:
    """A validator's turn: its report, or else the summary in its own last words; silence is no approval."""
    kind = KINDS[effect.role]
    claim = turn.claim
    # The least favourable of what a validator says by report or marker and in its own summary of this kind.
    by_claim = of_claim(claim, kind)
    own = [each for each in claim.reviews if each.kind == kind] or list(claim.reviews)
    said = [*own, *(() if isinstance(by_claim, NoSummary) else (by_claim,))]
    found = min(said, key=lambda each: CAUTION["verdict"].index(each.result), default=None)
    notes = [f"{effect.role}: {turn.detail}"] if turn.detail else []
    notes += [f"{effect.role} asks: {question.text}" for question in claim.questions]
    if claim.status == "blocked":
        notes.append(
            f"the {effect.role} is blocked: {'; '.join(b.description for b in claim.blockers) or 'it gave no reason'}"
        )
    if found is None:
        notes.append(f"the {effect.role} gave no verdict" + (f" ({turn.kind})" if turn.kind != "ok" else ""))
        notes += claim.problems[:PROBLEMS_SHOWN]
        found = Validation(kind, "fail")
    listed = dict(_created_issues(turn.final_message))
    return Reviewed(
        effect.turn,
        effect.role,
        replace(found, kind=kind, created=tuple(listed), file=effect.role),
        clean(claim.summary, 300),
        claim.findings,
        claim.issues or tuple(listed.values()),
        tuple(clean(note, 300) for note in notes),
    )


def _created_issues(message: str) -> Iterator[tuple[str, ProposedIssue]]:
    """Issues a markdown summary says it created, as `ID (priority) - title`: title and priority are what counts of them."""
    prose = split_fences(message).prose.partition("Issues Created")[2]
    for found in map(_LISTED.fullmatch, (line.rstrip() for line in prose.split("\n"))):
        if found:
            yield found[1], ProposedIssue(clean(found[3], 200), priority=found[2].split(",")[0].strip().lower())


def weigh(state: State, lane: Lane) -> tuple[Fact, ...]:
    """The verdict on the item by all its reviews, and the lesson of a rejection."""
    work = record_of(state)
    missing = tuple(_objections(tuple(work.reviews.values())))
    held = not missing
    seen = _observation(state, lane, missing)
    _, verdict = follow(work.batches, seen, state.task.settings.monitor)
    passed = sum(review.validation.passed for review in work.reviews.values())
    judged = Judged(
        stage=lane.stage,
        iteration=lane.loop.iteration + 1,
        turn=max(review.turn for review in work.reviews.values()),
        gate_1=GateVerdict(
            held,
            "the gates hold and every validator passes it",
            missing[:SHOWN],
            {"validators": len(work.reviews), "validators_passed": passed},
        ),
        gate_2=held,
        observation=seen,
        verdict=verdict,
        breaker=lane.loop.breaker,
        progress=held,
        can_exit=held,
        score=float(passed),
        rejected=not held,
        restore_to=lane.head if verdict.remedy == Remedy.ROLLBACK and not held else Commit(""),
        findings=tuple(f for review in work.reviews.values() for f in review.findings if f.blocks),
        batch=True,
    )
    return (judged, *_lesson(state, lane, missing))


def _objections(reviews: tuple[Reviewed, ...]) -> Iterator[str]:
    for each in reviews:
        if each.validation.passed:
            continue
        blocking = [f for f in each.findings if f.blocks] or [f for f in each.findings if not f.aside]
        yield from (f"{each.role}: {f.severity}: {f.message}{_place(f)}" for f in blocking)
        if not blocking:
            yield f"{each.role}: {each.summary or '; '.join(each.notes) or 'it failed, and gave no reason'}"


def _place(finding: Finding) -> str:
    return f" ({finding.file}{f':{finding.line}' if finding.line else ''})" if finding.file else ""


def _observation(state: State, lane: Lane, missing: tuple[str, ...]) -> Observation:
    item, tree = lane.item, lane.loop.entry.tree if lane.loop.entry else lane.tree
    failure = signature("\n".join(missing)) if missing else None
    return Observation(
        iteration=record_of(state).cycle,
        context=None,
        kind="plan",
        batch=(item,),
        passed=() if missing else (item,),
        failed={item: failure} if failure else {},
        tree=tree,
        coarse=failure.coarse if failure else None,
        fine=failure.fine if failure else None,
        summary=missing[0][:200] if missing else "",
        gate_held=not missing,
        restored=lane.loop.restored,
    )


def _lesson(state: State, lane: Lane, missing: tuple[str, ...]) -> tuple[Fact, ...]:
    if not missing:
        return ()
    files = lane.loop.entry.changed if lane.loop.entry is not None else ()
    return (anti_pattern(state, lane, "review", f"{lane.item} was rejected", "; ".join(missing), files=files),)
