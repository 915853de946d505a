"""Which lane speaks for the whole task on a screen that has room for one: a task has several while subtasks are worked on side by side."""

from datetime import UTC, datetime

from flyball.core.model.effects import Ask, Wait
from flyball.core.model.events import Held
from flyball.core.model.state import Lane, State
from flyball.projections.wording import name_lane, plain

_GRAVITY = {"CLOSED": 0, "HALF_OPEN": 1, "OPEN": 2}
_NEVER = datetime.max.replace(tzinfo=UTC)


def hold_of(state: State) -> Held | None:
    """What keeps the whole task waiting: nothing but waits and questions is under way, and of the waits this one ends first."""
    resting = all(isinstance(effect, Wait | Ask) for effect in state.open.values())
    if not resting or any(lane.at_work is not None and lane.held is None for lane in state.lanes.values()):
        return None
    asking = {effect.lane for effect in state.open.values() if isinstance(effect, Ask)}
    waiting = {effect.lane for effect in state.open.values() if isinstance(effect, Wait)}
    holds = (lane.held for lane in state.lanes.values() if lane.held is not None and lane.name not in asking)
    # A lane whose wait is over keeps its hold until its next turn; one that still waits says more.
    return min(holds, key=lambda held: (held.lane not in waiting, held.until or _NEVER), default=None)


def most_stuck(state: State) -> Lane:
    """The lane that is nearest to being stopped for going nowhere; of equals the task's own."""
    return max(state.lanes.values(), key=_strikes)


def _strikes(lane: Lane) -> tuple[int, int, int, bool]:
    breaker = lane.loop.breaker
    return _GRAVITY[breaker.state], breaker.no_progress, breaker.same_error, is_sick(lane)


def is_sick(lane: Lane) -> bool:
    """Whether a lane was not PROGRESSING when it was judged last; a remedy begins with counters of its own, and a person's reset is no remedy."""
    judged = lane.loop.judged
    return judged is not None and judged.verdict.health != "PROGRESSING" and not lane.loop.reset


def missing_conditions(state: State) -> tuple[str, ...]:
    judged = ((lane, lane.loop.judged) for lane in state.lanes.values())
    return tuple(
        plain(name_lane(lane.name, each))
        for lane, fact in judged
        if fact is not None and fact.stage == lane.stage
        for each in fact.gate_1.missing
    )


def asking_lane(state: State) -> Lane:
    """The lane whose question stopped the task; the task's own where no question did."""
    asked = state.questions.get(state.stopped.question) if state.stopped is not None else None
    return state.lanes.get(asked.lane, state.main) if asked is not None else state.main


def last_judged(state: State) -> Lane | None:
    """The open lane that was judged last in its present stage, if any was."""
    judged = ((lane.loop.judged_at, lane) for lane in state.lanes.values() if lane.loop.judged_at is not None)
    return max(judged, key=lambda each: each[0], default=(None, None))[1]
