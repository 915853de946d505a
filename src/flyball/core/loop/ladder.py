"""What is done about a verdict in a lane: the next rung of the ladder (`core/health/verdict.py`), and the tree it starts from.

A rung always starts a fresh context, because inside one conversation the same failure does not heal. It starts from the best
tree, unless the work should `stay`: its measurement improved (C25), or only the breaker counted. Then the work moves, if not
forwards, and the monitor must go on seeing which way.
"""

from __future__ import annotations

import msgspec

from flyball.core.health.verdict import LADDER, Health, Remedy, Verdict, next_rung
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Checkpoint, Lane, State
from flyball.core.model.task import Commit


class Recovery(msgspec.Struct, frozen=True):
    """What to do about a verdict: a rung of the ladder, or nothing left (`spent`)."""

    rung: str = ""
    restore_to: Commit = Commit("")
    spent: bool = False


NONE_NEEDED = Recovery()
SPENT = Recovery(spent=True)


def possible_rungs(state: State, role: str) -> frozenset[str]:
    """The rungs a lane has: only a plan as a whole can be made anew, and another agent must have been set."""
    fallback = state.task.settings.choice(role).fallback
    out = {"re-plan"} if fallback else {"re-plan", "other-agent"}
    return frozenset(rung.name for rungs in LADDER.values() for rung in rungs) - out


def are_rungs_used(state: State, lane: Lane, role: str) -> bool:
    """Whether nothing is left to try about a lane that stalls."""
    return next_rung(Health.STALLED, lane.loop.rungs, possible_rungs(state, role)) is None


def recover(
    state: State, lane: Lane, role: str, verdict: Verdict, measured: Measurement, *, stay: bool = False
) -> Recovery:
    """The next untried rung for what the monitor says of this iteration of `role`, from its tree if that is to `stay`."""
    if verdict.remedy is Remedy.CONTINUE:
        return NONE_NEEDED
    rung = next_rung(verdict.health, lane.loop.rungs, possible_rungs(state, role))
    if verdict.remedy in {Remedy.STOP, Remedy.ASK} or rung is None:
        return SPENT
    if stay:
        return Recovery(rung.name)
    to = _two_back(state, lane) if verdict.health is Health.FLIP_FLOPPING else lane.best
    return Recovery(rung.name, _back(state, lane, to, measured))


def _back(state: State, lane: Lane, to: Checkpoint | None, measured: Measurement) -> Commit:
    """The commit to go back to; none where no turn since has changed a file, so that there is nothing to undo."""
    if to is None or to.commit == measured.candidate:
        return Commit("")
    own = [each for each in state.checkpoints if each.lane == lane.name and not each.undone]
    place = max((n for n, each in enumerate(own) if each.commit == to.commit), default=-1)
    later = own[place + 1 :]
    return Commit("") if later and all(each.files == () for each in later) else to.commit


def _two_back(state: State, lane: Lane) -> Checkpoint | None:
    """The tree before the two changes that undo each other; never behind the last accepted one, never one that holds a trick."""
    sound = [c for c in state.checkpoints if c.lane == lane.name and not c.tricked and not c.undone]
    since = [c for c in sound if c.stage == lane.stage]
    accepted = [c for c in sound if c.accepted]
    candidates = [*accepted[-1:], *(c for c in since if not c.accepted)]
    return candidates[-3] if len(candidates) > 2 else candidates[0] if candidates else lane.best
