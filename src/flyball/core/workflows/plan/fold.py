"""What the facts of a plan add to what is known: drafts and reviews, the batch under way, what was sent back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.health.observation import begin_loop, observe
from flyball.core.loop.answers import AGENT_QUESTION
from flyball.core.model.events import Judged, LaneOpened, Moved, PersonSpoke, QuestionClosed, TaskReopened
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, EffectId
from flyball.core.workflows.plan import facts as fa
from flyball.core.workflows.plan.grammar import SCAFFOLD
from flyball.core.workflows.plan.record import Batch, PlanRecord, Rework, record_of

RECENT_ANSWERS = 12


def _keep(state: State, **changes: Any) -> PlanRecord:
    record = state.record = replace(record_of(state), **changes)
    assert isinstance(record, PlanRecord)
    return record


def _drafted(state: State, fact: fa.PlanDrafted) -> None:
    known = record_of(state)
    _keep(
        state,
        drafted=not fact.problems,
        approved=False,
        drafts=known.drafts + 1,
        problems=fact.problems,
        rejections=known.rejections + bool(fact.problems),
        findings=(),
    )


def _questioned(state: State, fact: fa.PlanQuestioned) -> None:
    _keep(state, clarified=record_of(state).clarified + 1)
    state.main.to_ask = fact.questions


def _reviewed(state: State, fact: fa.PlanReviewed) -> None:
    known = record_of(state)
    _keep(
        state,
        approved=fact.approved,
        agreed=fact.approved and fact.by == "person",
        drafted=fact.approved,
        findings=fact.findings,
        rejections=0 if fact.approved else known.rejections + 1,
        clarified=0 if fact.approved else known.clarified,
        replan=() if fact.approved else known.replan,
        unread=0,
    )
    state.items_confirmed = state.items_confirmed or fact.approved


def _question_closed(state: State, fact: QuestionClosed) -> None:
    asked = state.questions.get(fact.id)
    if asked is not None and fact.name.startswith(AGENT_QUESTION):
        told = (*record_of(state).answers, (asked.question.text, fact.answer))
        _keep(state, answers=told[-RECENT_ANSWERS:])


def _batch_begun(state: State, fact: fa.BatchBegun) -> None:
    _keep(state, number=fact.number)


def _batch_ended(state: State, fact: fa.BatchEnded) -> None:
    _keep(state, batch=Batch(fact.number, fact.items, fact.items))
    written = (author for item in fact.items for author in state.lanes[item].authors)
    state.main.authors = tuple(dict.fromkeys(written)) or state.main.authors


def _lane_opened(state: State, fact: LaneOpened) -> None:
    """Whatever was told of an item's work is in its new lane's prompt; the reasons stay until it is accepted."""
    known = record_of(state)
    if fact.item in known.failures:
        _keep(state, failures={key: said for key, said in known.failures.items() if key != fact.item})


def _integrated(state: State, fact: fa.SubtaskIntegrated) -> None:
    known = record_of(state)
    batch = known.batch
    assert batch is not None
    returned = batch.returned
    if fact.result in {"conflicted", "red"}:
        why: fa.Why = "conflict" if fact.result == "conflicted" else "gates"
        reasons = tuple(line for line in fact.detail.splitlines() if line.strip())[:6]
        returned = {**returned, fact.item: (why, reasons, fact.detail)}
    proven = _measurement(state, fact) if fact.result == "integrated" else known.proven
    batch = replace(batch, results={**batch.results, fact.item: fact}, returned=returned)
    _keep(state, batch=batch, proven=proven)
    if fact.outside:
        state.items = tuple(
            replace(item, files=(*item.files, *(f for f in fact.outside if f not in item.files)))
            if item.id == fact.item
            else item
            for item in state.items
        )


def _measurement(state: State, fact: fa.SubtaskIntegrated) -> Measurement | None:
    made = state.main.outcomes.get(EffectId(fact.measured))
    return made.measurement if isinstance(made, Measured) else state.lanes[fact.item].loop.entry


def _batch_reviewed(state: State, fact: fa.BatchReviewed) -> None:
    """What was rejected goes back; what was integrated on top of it is integrated anew without it."""
    batch = record_of(state).batch
    assert batch is not None
    turned_down = {each.id: each.reason for each in fact.rejected}
    returned = {**batch.returned, **{id_: ("review", (why,), "") for id_, why in turned_down.items()}}
    results: dict[str, fa.SubtaskIntegrated] = {}
    for item in batch.items:
        if item in turned_down:
            break
        if item in batch.results:
            results[item] = batch.results[item]
    approved = tuple(item for item in batch.items if item in fact.approved)
    anew = any(item not in results for item in approved)
    kinds = {item.id: item.kind for item in state.items}
    scaffold = any(kinds.get(item) == SCAFFOLD for item in turned_down)
    _keep(
        state,
        batch=replace(
            batch,
            reviewed=fact,
            items=approved,
            results={item: results[item] for item in approved if item in results},
            returned=returned,
            round=2 if anew else batch.round,
        ),
        scaffold_rejections=record_of(state).scaffold_rejections + scaffold,
        unread=0,
    )


def _unread(state: State, _fact: fa.ReviewUnread) -> None:
    """The seat is free again; nothing of the answer is kept."""
    _keep(state, unread=record_of(state).unread + 1)
    state.main.panel = None


def _failed(state: State, fact: fa.SubtaskFailed) -> None:
    _keep(state, failures={**record_of(state).failures, fact.item: fact.detail})


def _returned(state: State, fact: fa.SubtaskReturned) -> None:
    known = record_of(state)
    before = known.rework.get(fact.item)
    rounds = (before.rounds if before else 0) + (fact.why in {"conflict", "gates"})
    work = Rework(fact.why, fact.reasons, fact.detail, fact.start, rounds)
    _keep(state, rework={**known.rework, fact.item: work})


def _settled(state: State, fact: fa.BatchSettled) -> None:
    known = record_of(state)
    rework = {key: work for key, work in known.rework.items() if key not in fact.accepted}
    accepted = (*known.accepted, (fact.label, fact.accepted)) if fact.accepted else known.accepted
    rejected = 0 if fact.accepted else known.scaffold_rejections
    _keep(state, batch=None, failures={}, rework=rework, accepted=accepted, scaffold_rejections=rejected)


def _final(state: State, fact: fa.FinalReviewed) -> None:
    known = record_of(state)
    again = {each.id: Rework("review", (each.reason,)) for each in fact.reopened}
    rounds = 0 if fact.approved else known.final_rounds + 1
    _keep(state, final_rounds=rounds, rework={**known.rework, **again}, unread=0)


def _judged(state: State, fact: Judged) -> None:
    if fact.batch:
        known = _keep(state, batches=observe(record_of(state).batches, fact.observation))
        state.main.loop.last = known.proven or state.main.loop.last


def _moved(state: State, fact: Moved) -> None:
    """What a person skips: a subtask is left out, a plan is worked to as it stands, a batch is taken without its review."""
    known = record_of(state)
    if not fact.forced:
        return
    if fact.lane != MAIN:
        _keep(state, left_out=(*known.left_out, state.lanes[fact.lane].item))
    elif fact.previous in {"PLAN", "PLAN_REVIEW"}:
        _keep(state, approved=True, agreed=True, drafted=True, problems=(), findings=())
    elif fact.previous == "REVIEW" and known.batch is not None:
        taken = tuple(each.item for each in known.batch.taken)
        said = fa.BatchReviewed(0, taken, by="person")
        _keep(state, batch=replace(known.batch, items=taken, reviewed=known.batch.reviewed or said))


def _spoke(state: State, fact: PersonSpoke) -> None:
    """A person's word clears what was counted against the plan."""
    if fact.word in {"reset", "modify"}:
        batches = begin_loop(record_of(state).batches)
        _keep(state, rejections=0, clarified=0, final_rounds=0, scaffold_rejections=0, unread=0, batches=batches)


def _reopened(state: State, _fact: TaskReopened) -> None:
    _keep(state, final_rounds=0)


FOLDS: dict[type, Callable[[State, Any], None]] = {
    fa.PlanDrafted: _drafted,
    fa.PlanQuestioned: _questioned,
    fa.PlanReviewed: _reviewed,
    fa.BatchBegun: _batch_begun,
    fa.BatchEnded: _batch_ended,
    fa.SubtaskIntegrated: _integrated,
    fa.BatchReviewed: _batch_reviewed,
    fa.ReviewUnread: _unread,
    fa.SubtaskFailed: _failed,
    fa.SubtaskReturned: _returned,
    fa.BatchSettled: _settled,
    fa.FinalReviewed: _final,
    LaneOpened: _lane_opened,
    QuestionClosed: _question_closed,
    Judged: _judged,
    Moved: _moved,
    PersonSpoke: _spoke,
    TaskReopened: _reopened,
}
