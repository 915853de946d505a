"""Which lane speaks for the whole task on a screen that has room for one: a task has several while subtasks are worked on side by side."""

from __future__ import annotations

from flyball.core.model.state import Lane, State


def asking_lane(state: State) -> Lane:
    """The lane whose question stopped the task; the task's own where no question did."""
    asked = state.questions.get(state.stopped.question) if state.stopped is not None else None
    return state.lanes[asked.lane] if asked is not None else state.main


def last_judged(state: State) -> Lane | None:
    """The open lane that was judged last in its present stage, if any was."""
    judged = ((lane.loop.judged_at, lane) for lane in state.lanes.values() if lane.loop.judged_at is not None)
    return max(judged, key=lambda each: each[0], default=(None, None))[1]
