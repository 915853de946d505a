"""Whom a person's guidance reaches: what was said to the task every lane, what was said to a subtask its own lane.

The task's own lane holds the work of all, so it hears everything.
"""

from __future__ import annotations

from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN

TASK = ""


def guidance_for(state: State, lane: Lane) -> dict[str, tuple[str, ...]]:
    """What a lane is to go by, with the subtask it was said to; what was said to the task comes first, under an empty name."""
    of_lanes = {name: texts for name, texts in state.lane_guidance.items() if lane.name in {name, MAIN}}
    return {TASK: state.guidance, **of_lanes}


def guidance_lines(state: State, lane: Lane) -> tuple[str, ...]:
    """The same as a prompt says it: what was said to another than its reader names the subtask."""
    return tuple(
        text if name in {TASK, lane.name} else f"{name}: {text}"
        for name, texts in guidance_for(state, lane).items()
        for text in texts
    )
