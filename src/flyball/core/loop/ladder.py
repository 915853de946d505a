"""The recovery ladder: which remedy is tried next, and when there is none left.

STALLED may use every rung once, FLIP-FLOPPING one rollback, all rollbacks together two; an accepted stage begins anew. A
rung always starts a fresh context, because inside one conversation the same failure does not heal; it starts from the best
tree, unless only the breaker opened: then the work moves, if not forwards, and the monitor must go on seeing which way.
"""

from __future__ import annotations

import msgspec

from flyball.core.health.breaker import Breaker
from flyball.core.health.monitor import Remedy, Verdict, change_remedy
from flyball.core.health.observation import Observation, observe
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Checkpoint, Lane, State
from flyball.core.model.task import Commit

CONTEXTS_ENDED = 2
STALL_RUNGS = ("fresh-context", "other-agent", "smaller-scope")
ROLLBACKS = 2


class Recovery(msgspec.Struct, frozen=True):
    """What to do about a verdict: a rung of the ladder, or nothing left (`spent`), where need be with the reason."""

    rung: str = ""
    restore_to: Commit = Commit("")
    spent: bool = False
    reason: str = ""


NONE_NEEDED = Recovery()
SPENT = Recovery(spent=True)


def recover(
    state: State, lane: Lane, role: str, seen: Observation, verdict: Verdict, breaker: Breaker, measured: Measurement
) -> Recovery:
    """The next untried rung for what the monitor and the breaker say of this iteration of `role`."""
    fallback = state.task.settings.choice(role).fallback
    rungs = tuple(r for r in STALL_RUNGS if r != "other-agent" or fallback)
    if seen.gate_held and verdict.remedy == "continue":
        return NONE_NEEDED
    if verdict.remedy == "continue" and breaker.state != "OPEN":
        return _spent_on_same_failure(lane, seen, rungs)
    if verdict.remedy in {"stop", "ask"}:
        return SPENT
    if verdict.health in {"FLIP-FLOPPING", "REGRESSING"}:
        return _rollback(state, lane, verdict, measured)
    rung = next((r for r in rungs if r not in lane.loop.rungs), None)
    if rung is None:
        return SPENT
    stalled = verdict.remedy != "continue"
    return Recovery(rung, _back(lane.best, measured) if stalled else Commit(""))


def verdict_with_remedy(recovery: Recovery, verdict: Verdict, breaker: Breaker) -> Verdict:
    """The verdict with the remedy that the ladder really takes, so that word and deed agree (M22)."""
    reason = recovery.reason or (breaker.reason if verdict.remedy is Remedy.CONTINUE else "")
    if recovery.spent:
        return verdict if verdict.remedy in {Remedy.ASK, Remedy.STOP} else change_remedy(verdict, Remedy.STOP, reason)
    if not recovery.rung:
        return verdict
    remedy = Remedy.ROLLBACK if recovery.rung.startswith("rollback") else Remedy.FRESH_CONTEXT
    return verdict if verdict.remedy is remedy else change_remedy(verdict, remedy, reason)


def _spent_on_same_failure(lane: Lane, seen: Observation, rungs: tuple[str, ...]) -> Recovery:
    """A failure that ended an earlier context for every rung there is, and is the first thing a new one meets."""
    endings = observe(lane.loop.history, seen).endings
    met = sum(seen.fine in ending.failures for ending in endings)
    if met < CONTEXTS_ENDED or any(r not in lane.loop.rungs for r in rungs):
        return NONE_NEEDED
    return Recovery(spent=True, reason=f"every remedy was tried, and the same failure is back: {seen.summary}")


def _rollback(state: State, lane: Lane, verdict: Verdict, measured: Measurement) -> Recovery:
    if sum(r in {"rollback", "rollback-two"} for r in lane.loop.rungs) >= ROLLBACKS:
        return SPENT
    if verdict.health == "REGRESSING":
        return Recovery("rollback", _back(lane.best, measured))
    if "rollback-two" in lane.loop.rungs:
        return SPENT
    return Recovery("rollback-two", _back(_two_back(state, lane), measured))


def _back(to: Checkpoint | None, measured: Measurement) -> Commit:
    if to is None or to.commit == measured.candidate:
        return Commit("")
    return to.commit


def _two_back(state: State, lane: Lane) -> Checkpoint | None:
    """The tree before the two changes that undo each other; never behind the last accepted one, never one that holds a trick."""
    sound = [c for c in state.checkpoints if c.lane == lane.name and not c.tricked]
    since = [c for c in sound if c.stage == lane.stage]
    accepted = [c for c in sound if c.accepted]
    candidates = [*accepted[-1:], *(c for c in since if not c.accepted)]
    return candidates[-3] if len(candidates) > 2 else candidates[0] if candidates else lane.best
