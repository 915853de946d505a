"""What the facts of a plan add to what is known: drafts, questions, reviews, and why a plan is revised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.loop.answers import AGENT_QUESTION
from flyball.core.loop.batches.choosing import SCAFFOLD
from flyball.core.loop.batches.lanes import REPLAN
from flyball.core.model.batch_events import BatchReviewed, BatchSettled
from flyball.core.model.batches import Rework
from flyball.core.model.events import Judged, Moved, PersonSpoke, QuestionClosed, TaskReopened
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.workflows.plan import facts as fa
from flyball.core.workflows.plan.record import record_of

RECENT_ANSWERS = 12


def _keep(state: State, **changes: Any) -> None:
    state.record = replace(record_of(state), **changes)


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
    )
    state.batches = replace(state.batches, unread=0)
    state.items_confirmed = state.items_confirmed or fact.approved


def _question_closed(state: State, fact: QuestionClosed) -> None:
    asked = state.questions.get(fact.id)
    if asked is not None and fact.name.startswith(AGENT_QUESTION):
        told = (*record_of(state).answers, (asked.question.text, fact.answer))
        _keep(state, answers=told[-RECENT_ANSWERS:])


def _batch_reviewed(state: State, fact: BatchReviewed) -> None:
    kinds = {item.id: item.kind for item in state.items}
    scaffold = any(kinds.get(each.id) == SCAFFOLD for each in fact.rejected)
    _keep(state, scaffold_rejections=record_of(state).scaffold_rejections + scaffold)


def _settled(state: State, fact: BatchSettled) -> None:
    if fact.accepted:
        _keep(state, scaffold_rejections=0)


def _final(state: State, fact: fa.FinalReviewed) -> None:
    again = {each.id: Rework("review", (each.reason,)) for each in fact.reopened}
    state.batches = replace(state.batches, rework={**state.batches.rework, **again}, unread=0)
    _keep(state, final_rounds=0 if fact.approved else record_of(state).final_rounds + 1)


def _judged(state: State, fact: Judged) -> None:
    """What no remedy moves is planned anew."""
    if fact.batch and fact.rung == REPLAN:
        told = (fact.verdict.evidence, *fact.gate_1.missing)
        _keep(state, approved=False, agreed=False, drafted=False, replan=told)


def _moved(state: State, fact: Moved) -> None:
    """A plan whose review a person skips is worked to as it stands."""
    if fact.forced and fact.lane == MAIN and fact.previous in {"PLAN", "PLAN_REVIEW"}:
        _keep(state, approved=True, agreed=True, drafted=True, problems=(), findings=(), replan=())


def _spoke(state: State, fact: PersonSpoke) -> None:
    """A person's word clears what was counted against the plan."""
    if fact.word in {"reset", "modify"}:
        _keep(state, rejections=0, clarified=0, final_rounds=0, scaffold_rejections=0)


def _reopened(state: State, _fact: TaskReopened) -> None:
    _keep(state, final_rounds=0)


FOLDS: dict[type, Callable[[State, Any], None]] = {
    fa.PlanDrafted: _drafted,
    fa.PlanQuestioned: _questioned,
    fa.PlanReviewed: _reviewed,
    fa.FinalReviewed: _final,
    BatchReviewed: _batch_reviewed,
    BatchSettled: _settled,
    QuestionClosed: _question_closed,
    Judged: _judged,
    Moved: _moved,
    PersonSpoke: _spoke,
    TaskReopened: _reopened,
}
