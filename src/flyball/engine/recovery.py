"""Waking up: what becomes of effects that were under way when the last controller ended.

A turn cannot be taken up again: it was interrupted, and what it left in the tree is kept. Everything else is safe to do twice, because
its id, its inputs and its dates are in the journal, so it is begun once more. A wait for the end of the day is looked at anew: its user may
have another budget since, or another time zone.
"""

from flyball.core.decide import begin
from flyball.core.model.effects import RunAgent, Wait
from flyball.core.model.events import Ended, Fact
from flyball.core.model.outcomes import Interrupted
from flyball.core.model.state import State


def reconcile_open_effects(state: State) -> list[Fact]:
    facts: list[Fact] = []
    for effect in state.open.values():
        held = state.lanes[effect.lane].held
        if isinstance(effect, RunAgent):
            ended = Interrupted("the controller ended while this turn was under way")
            facts.append(Ended(effect.id, ended, effect.attempt))
        elif isinstance(effect, Wait) and held is not None and held.guard == "budget":
            facts.append(Ended(effect.id, Interrupted("the day is counted anew"), effect.attempt))
        else:
            facts.append(begin(state, effect, state.now))
    return facts
