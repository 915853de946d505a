"""What effects add to what is known: that they were begun, and how each kind of outcome is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core import evolve_backlog
from flyball.core.effects import Ask, Effect, ReadBacklog, RunAgent
from flyball.core.events import (
    Begun,
    Ended,
)
from flyball.core.evolve_people import with_answer
from flyball.core.outcomes import (
    Answered,
    BacklogRead,
    Edited,
    Interrupted,
    Measured,
    Prepared,
    Restored,
    Saved,
    Stale,
    TurnEnded,
)
from flyball.core.state import Asked, Checkpoint, Open, State, Window
from flyball.core.task import Commit

RECENT_CHECKPOINTS = 64


class JournalOutOfOrder(Exception):
    """Facts do not follow each other as they must; the journal is damaged or was written by two hands."""


def begun(state: State, fact: Begun) -> State:
    effect = fact.effect
    known = state.open.get(effect.id)
    begun_at = known.begun_at if known else state.now
    opened = {**state.open, effect.id: Open(effect, fact.attempt, begun_at)}
    attempts = {**state.attempts, effect.id: fact.attempt}
    if isinstance(effect, RunAgent):
        return replace(
            state,
            open=opened,
            attempts=attempts,
            turns=max(state.turns, effect.turn),
            pass_effect=state.pass_effect or effect,
            passing={**state.passing, effect.id: effect},
            tree_before=state.tree,
            held=None,
        )
    if isinstance(effect, Ask):
        return replace(
            state,
            open=opened,
            attempts=attempts,
            asks=state.asks + (fact.attempt == 1),
            questions={**state.questions, effect.id: Asked(effect.question)},
        )
    if isinstance(effect, ReadBacklog):
        work = replace(state.work, reads=state.work.reads + (fact.attempt == 1))
        return replace(state, open=opened, attempts=attempts, work=work)
    waits = state.waits + (fact.attempt == 1 and effect.id.startswith("wait/"))
    return replace(state, open=opened, attempts=attempts, waits=waits)


def ended(state: State, fact: Ended) -> State:
    opened = state.open.get(fact.id)
    if opened is None or opened.attempt != fact.attempt:
        raise JournalOutOfOrder(f"{fact.id} attempt {fact.attempt} ended but was not under way")
    still_open = dict(state.open)
    del still_open[fact.id]
    state = replace(state, open=still_open, outcomes={**state.outcomes, fact.id: fact.outcome})
    apply = _OUTCOMES.get(type(fact.outcome))
    return apply(state, opened.effect, fact.outcome) if apply else state


def _prepared(state: State, _effect: Effect, outcome: Prepared) -> State:
    start = Checkpoint("start", outcome.base, outcome.tree, state.now, accepted=True, stage=state.stage)
    return replace(
        state,
        prepared=outcome,
        head=outcome.base,
        tree=outcome.tree,
        tests_accepted=outcome.base,
        checkpoints=(start,),
        best=start,
    )


def _turn_ended(state: State, effect: Effect, outcome: TurnEnded) -> State:
    assert isinstance(effect, RunAgent)
    dearest = max(state.dearest_turn, outcome.usage, key=lambda u: (u.usd, u.input_tokens + u.output_tokens))
    state = replace(state, window=_called(state), usage=state.usage.plus(outcome.usage), dearest_turn=dearest)
    if not outcome.session or effect.copy:
        return state
    return replace(
        state,
        sessions={**state.sessions, effect.agent: outcome.session},
        session_usage={**state.session_usage, effect.agent: outcome.session_usage},
    )


def _called(state: State) -> Window:
    return Window(state.now, 1) if state.window is None else replace(state.window, calls=state.window.calls + 1)


def _broken_off(state: State, effect: Effect, _outcome: Interrupted) -> State:
    """A turn that was interrupted has called its provider all the same."""
    return replace(state, window=_called(state)) if isinstance(effect, RunAgent) else state


def _measured(state: State, effect: Effect, outcome: Measured) -> State:
    measurement = outcome.measurement
    if effect.id == "measure/baseline":
        return replace(state, baseline=measurement, entry=measurement, tests_ref=measurement.tests_ref, outcomes={})
    return state


def _saved(state: State, _effect: Effect, outcome: Saved) -> State:
    checkpoint = Checkpoint(
        outcome.label, outcome.commit, outcome.tree, state.now, outcome.accepted, state.stage, state.iteration + 1
    )
    known = (*state.checkpoints, checkpoint)[-RECENT_CHECKPOINTS:]
    if not outcome.accepted:
        return replace(state, checkpoints=known, tree=outcome.tree)
    return replace(state, checkpoints=known, tree=outcome.tree, head=outcome.commit, best=checkpoint)


def _restored(state: State, _effect: Effect, outcome: Restored) -> State:
    return replace(state, restore_to=Commit(""), restores=state.restores + 1, restored=True, tree=outcome.tree)


def _answered(state: State, effect: Effect, outcome: Answered) -> State:
    return with_answer(state, effect.id, outcome.text, outcome.by)


_OUTCOMES: dict[type, Callable[[State, Effect, Any], State]] = {
    Prepared: _prepared,
    TurnEnded: _turn_ended,
    Measured: _measured,
    Saved: _saved,
    Restored: _restored,
    Answered: _answered,
    BacklogRead: evolve_backlog.read,
    Edited: evolve_backlog.edited,
    Stale: evolve_backlog.edited,
    Interrupted: _broken_off,
}
