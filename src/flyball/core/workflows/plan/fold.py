"""What is known of a plan after each fact about it or about its source, and after each effect on the source."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.loop.answers import AGENT_QUESTION
from flyball.core.loop.batches.choosing import SCAFFOLD
from flyball.core.loop.batches.lanes import REPLAN
from flyball.core.model.batch_events import BatchReviewed, BatchSettled
from flyball.core.model.batches import Rework
from flyball.core.model.effects import Effect
from flyball.core.model.events import Judged, Moved, PersonSpoke, QuestionClosed, SessionStarted, TaskReopened
from flyball.core.model.outcomes import Interrupted, Stale
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN
from flyball.core.workflows.plan import facts as fa
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, PlanRead
from flyball.core.workflows.plan.record import record_of
from flyball.core.workflows.plan.sources import following

RECENT_ANSWERS = 12
UNREAD = -1


def _keep(state: State, **changes: Any) -> None:
    state.record = replace(record_of(state), **changes)


def _on_drafted(state: State, fact: fa.PlanDrafted) -> None:
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


def _on_questioned(state: State, fact: fa.PlanQuestioned) -> None:
    _keep(state, clarified=record_of(state).clarified + 1)
    state.main.to_ask = fact.questions


def _on_reviewed(state: State, fact: fa.PlanReviewed) -> None:
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
    )
    state.batches = replace(state.batches, unread=0)
    state.items_confirmed = state.items_confirmed or fact.approved


def _on_question_closed(state: State, fact: QuestionClosed) -> None:
    asked = state.questions.get(fact.id)
    if asked is not None and fact.name.startswith(AGENT_QUESTION):
        told = (*record_of(state).answers, (asked.question.text, fact.answer))
        _keep(state, answers=told[-RECENT_ANSWERS:])


def _on_batch_reviewed(state: State, fact: BatchReviewed) -> None:
    kinds = {item.id: item.kind for item in state.items}
    scaffold = any(kinds.get(each.id) == SCAFFOLD for each in fact.rejected)
    _keep(state, scaffold_rejections=record_of(state).scaffold_rejections + scaffold)


def _on_batch_settled(state: State, fact: BatchSettled) -> None:
    if fact.accepted:
        _keep(state, scaffold_rejections=0)


def _on_final_review(state: State, fact: fa.FinalReviewed) -> None:
    again = {each.id: Rework("review", (each.reason,)) for each in fact.reopened}
    state.batches = replace(state.batches, rework={**state.batches.rework, **again}, unread=0)
    _keep(state, final_rounds=0 if fact.approved else record_of(state).final_rounds + 1)


def _on_judged(state: State, fact: Judged) -> None:
    """What no remedy moves is planned anew."""
    if fact.batch and fact.rung == REPLAN:
        told = (fact.verdict.evidence, *fact.gate_1.missing)
        _keep(state, approved=False, agreed=False, drafted=False, replan=told)


def _on_moved(state: State, fact: Moved) -> None:
    """A plan whose review a person skips is worked to as it stands."""
    if fact.forced and fact.lane == MAIN and fact.previous in {"PLAN", "PLAN_REVIEW"}:
        _keep(state, approved=True, agreed=True, drafted=True, problems=(), findings=(), replan=())


def _on_spoke(state: State, fact: PersonSpoke) -> None:
    """A person's word to the task clears what was counted against the plan."""
    if fact.word in {"reset", "modify"} and fact.is_for_task:
        _keep(state, rejections=0, clarified=0, final_rounds=0, scaffold_rejections=0)


def _on_reopened(state: State, _fact: TaskReopened) -> None:
    _keep(state, final_rounds=0)


def _keep_source(state: State, **changes: Any) -> None:
    known = record_of(state)
    state.record = replace(known, imported=replace(known.imported, **changes))


def _on_read(state: State, _lane: Lane, _effect: Effect, outcome: PlanRead) -> None:
    known = record_of(state).imported
    _keep_source(
        state,
        unread=outcome.plan,
        unread_sha256=outcome.sha256,
        looked=len(state.main.visits),
        reads=known.reads + 1,
    )


def _on_marked(state: State, _lane: Lane, effect: Effect, outcome: EntriesMarked) -> None:
    known = record_of(state).imported
    assert isinstance(effect, MarkEntries)
    assert known.plan is not None
    _keep_source(
        state,
        plan=following.with_changes(known.plan, effect.changes),
        written=following.standing_marks(known.written, effect.changes),
        sha256=outcome.sha256,
        marks=known.marks + 1,
        stale=0,
    )


def _on_stale(state: State, _lane: Lane, effect: Effect, _outcome: Stale) -> None:
    """What was read before is no longer what there is: it is read again before anything is marked."""
    known = record_of(state).imported
    if isinstance(effect, MarkEntries):
        tried = following.perhaps_written(known.written, effect.changes)
        _keep_source(state, written=tried, looked=UNREAD, marks=known.marks + 1, stale=known.stale + 1)


def _on_interrupted(state: State, _lane: Lane, effect: Effect, _outcome: Interrupted) -> None:
    """The file may bear marks of ours that nobody has seen."""
    known = record_of(state).imported
    if isinstance(effect, MarkEntries):
        _keep_source(state, written=following.perhaps_written(known.written, effect.changes))


def _on_seen(state: State, fact: fa.SourceSeen) -> None:
    known = record_of(state).imported
    now = following.renewed_plan(known)
    _keep_source(
        state,
        plan=now,
        written=following.still_written(known.written, now),
        sha256=fact.sha256,
        unread=None,
        matters=(*known.matters, *fact.matters),
        ticked=(*known.ticked, *fact.ticked),
        unverified=(*known.unverified, *fact.unverified),
    )


def _on_matter_settled(state: State, fact: fa.MatterSettled) -> None:
    known = record_of(state).imported
    if fact.matter is None:
        _keep_source(state, looked=UNREAD, unread=None, stale=0)
    else:
        done, dropped = (fact.matter.ids if fact.taken == taken else () for taken in ("done", "dropped"))
        _keep_source(
            state,
            matters=tuple(matter for matter in known.matters if matter != fact.matter),
            unverified=(*known.unverified, *done),
            dropped=(*known.dropped, *dropped),
        )


def _on_session_started(state: State, _fact: SessionStarted) -> None:
    """A new session reads the source anew: people may have edited it meanwhile."""
    if record_of(state).imported.reads:
        _keep_source(state, looked=UNREAD, unread=None, stale=0)


FOLDS: dict[type, Callable[[State, Any], None]] = {
    fa.PlanDrafted: _on_drafted,
    fa.PlanQuestioned: _on_questioned,
    fa.PlanReviewed: _on_reviewed,
    fa.FinalReviewed: _on_final_review,
    BatchReviewed: _on_batch_reviewed,
    BatchSettled: _on_batch_settled,
    QuestionClosed: _on_question_closed,
    Judged: _on_judged,
    Moved: _on_moved,
    PersonSpoke: _on_spoke,
    TaskReopened: _on_reopened,
    fa.SourceSeen: _on_seen,
    fa.MatterSettled: _on_matter_settled,
    SessionStarted: _on_session_started,
}
ENDED: dict[type, Callable[[State, Lane, Any, Any], None]] = {
    PlanRead: _on_read,
    EntriesMarked: _on_marked,
    Stale: _on_stale,
    Interrupted: _on_interrupted,
}
