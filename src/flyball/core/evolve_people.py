"""What people add to what is known: words, answers, consent, settings."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from flyball.core.breaker import CLOSED
from flyball.core.effects import Ask, Wait
from flyball.core.events import (
    Consented,
    ItemsSet,
    PersonSpoke,
    QuestionClosed,
    SettingsChanged,
    TaskStopped,
)
from flyball.core.observation import History
from flyball.core.outcomes import (
    Conflicted,
)
from flyball.core.state import State
from flyball.core.task import EffectId

RECENT_GUIDANCE = 8


def with_answer(state: State, question: EffectId, text: str, by: Literal["person", "default"] = "person") -> State:
    asked = state.questions.get(question)
    if asked is None:
        return state
    return replace(state, questions={**state.questions, question: replace(asked, answer=text, by=by)})


def withdrawn(state: State) -> State:
    """Nobody waits any more: neither for an answer nor for a time."""
    under_way = {k: o for k, o in state.open.items() if not isinstance(o.effect, Ask | Wait)}
    return replace(state, open=under_way, questions={}, to_ask=(), held=None)


def items_set(state: State, fact: ItemsSet) -> State:
    return replace(state, items=fact.items, items_confirmed=fact.by in {"document", "person"})


def consented(state: State, fact: Consented) -> State:
    return replace(
        state,
        consented={**state.consented, **dict.fromkeys(fact.paths, fact.commit)} if fact.allowed else state.consented,
        refused=state.refused if fact.allowed else (*state.refused, *fact.paths),
        consent_wanted=(),
    )


def question_closed(state: State, fact: QuestionClosed) -> State:
    return replace(
        state,
        questions={k: q for k, q in state.questions.items() if k != fact.id},
        to_ask=tuple(q for q in state.to_ask if q.name != fact.name),
        signal_asked=fact.name == "no-exit-signal" or state.signal_asked,
        items_confirmed=fact.name == "criteria" or state.items_confirmed,
    )


def settings_changed(state: State, fact: SettingsChanged) -> State:
    settings = replace(state.task.settings, limits=fact.limits, attended=fact.attended)
    stopped = None if state.stopped and state.stopped.kind == "limit" else state.stopped
    return replace(state, task=replace(state.task, settings=settings), stopped=stopped)


def person_spoke(state: State, fact: PersonSpoke) -> State:
    if state.stopped is not None and state.stopped.kind in {"done", "aborted"}:
        return state
    if fact.word == "pause":
        return replace(state, pausing=True)
    if fact.word == "abort":
        return replace(state, aborting=True, stopped=None)
    if fact.word == "skip":
        return replace(withdrawn(state), skipping=True, stopped=_unblocked(state.stopped))
    if fact.word == "accept":
        return replace(state, exiting=True, stopped=_unblocked(state.stopped))
    if fact.word == "resume":
        return _resumed(state)
    if fact.word == "answer":
        return replace(with_answer(state, EffectId(fact.question), fact.text), stopped=_unblocked(state.stopped))
    if fact.word in {"reset", "modify"}:
        guidance = (*state.guidance, fact.text)[-RECENT_GUIDANCE:] if fact.text else state.guidance
        return replace(
            withdrawn(state),
            guidance=guidance,
            breaker=CLOSED,
            history=History(),
            rungs=(),
            crashes=0,
            overloads=0,
            unsignalled=0,
            signal_asked=False,
            reset=True,
            context=state.context + 1,
            sessions={},
            stopped=_unblocked(state.stopped),
        )
    return replace(state, stopped=_unblocked(state.stopped))


def _resumed(state: State) -> State:
    """A block without a question is looked at again, and one whose question may have been settled elsewhere."""
    again = state.stopped is not None and state.stopped.kind == "blocked" and is_put_again(state)
    baseline = None if again and state.baseline and state.baseline.broken else state.baseline
    outcomes = {k: o for k, o in state.outcomes.items() if not isinstance(o, Conflicted)}
    if again and state.stopped is not None and state.stopped.question:
        state = withdrawn(state)
    return replace(state, stopped=None if again else state.stopped, baseline=baseline, outcomes=outcomes)


def is_put_again(state: State) -> bool:
    """Whether resuming is enough to have what blocks the task looked at again."""
    if state.stopped is None or not state.stopped.question:
        return True
    asked = state.questions.get(state.stopped.question)
    return asked is not None and asked.question.again


def _unblocked(stopped: TaskStopped | None) -> TaskStopped | None:
    return None if stopped is not None and stopped.kind == "blocked" else stopped
