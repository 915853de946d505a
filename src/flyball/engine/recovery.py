"""Waking up: what becomes of effects that were under way when the last controller ended.

A turn cannot be taken up again: it was interrupted, and what it left in the tree is kept. Everything else is safe to do twice, because
its id, its inputs and its dates are in the journal, so it is begun once more.
"""

from __future__ import annotations

from flyball.core.effects import RunAgent
from flyball.core.events import Begun, Ended, Fact
from flyball.core.outcomes import Interrupted
from flyball.core.state import State


def woken(state: State) -> list[Fact]:
    """The facts that account for every effect without an outcome."""
    facts: list[Fact] = []
    for opened in state.open.values():
        if isinstance(opened.effect, RunAgent):
            ended = Interrupted("the controller ended while this turn was under way")
            facts.append(Ended(opened.effect.id, ended, opened.attempt))
        else:
            facts.append(Begun(opened.effect, opened.attempt + 1))
    return facts
