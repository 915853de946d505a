"""Whom a person's guidance reaches: what was said to the task every lane, what was said to a subtask its own lane.

The task's own lane holds the work of all, so it hears everything.
"""

from __future__ import annotations

import re

from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item, open_items
from flyball.core.text.failing_tests import calls_for_passing

TASK = ""
_BETWEEN = re.compile(
    r"(?<=[.;!?])\s+|\n+|\b(?:so|until|because|since|which|that|where|when|while|if|unless|as)\b", re.IGNORECASE
)
"""Where one thing that is asked for ends: in "fix add so that tests/test_add.py passes" nobody asks to change the test."""


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


def authorised_changes(state: State, lane: Lane) -> tuple[Item, ...]:
    """The criteria, if they are a person's or were confirmed by one, the request, and what a person said since to this lane or to all.

    Only these may open a protected path, never what an agent wrote.
    """
    own = open_items(state.items) if state.items_own else ()
    messages = (text for texts in guidance_for(state, lane).values() for text in texts)
    clauses = (clause for text in (state.task.request, *messages) for clause in _BETWEEN.split(text))
    every = (*own, *(Item("request", clause.strip()) for clause in clauses if clause and clause.strip()))
    failing = state.baseline.known if state.baseline and state.work else ()
    # Who asks that a test passes does not ask that it is changed.
    return tuple(item for item in every if not calls_for_passing(item.text, failing))
