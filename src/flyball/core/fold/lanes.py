"""Finding a lane in what is known, and taking back what it waits for."""

from __future__ import annotations

from flyball.core.model.effects import Ask, Recall, Wait
from flyball.core.model.state import Lane, State


class JournalOutOfOrder(Exception):
    """Facts do not follow each other as they must; the journal is damaged or was written by two hands."""


def lane_of(state: State, name: str) -> Lane:
    """The lane a fact or an effect is about."""
    lane = state.lanes.get(name)
    if lane is None:
        raise JournalOutOfOrder(f"there is no lane {name}")
    return lane


def withdraw(state: State, lane: Lane) -> None:
    """Nobody waits in this lane any more: neither for an answer nor for a time, nor for what a turn is to remember."""
    waiting = [
        k for k, effect in state.open.items() if effect.lane == lane.name and isinstance(effect, Ask | Wait | Recall)
    ]
    for key in waiting:
        del state.open[key]
    state.questions = {k: asked for k, asked in state.questions.items() if asked.lane != lane.name}
    lane.to_ask = ()
    lane.held = None
