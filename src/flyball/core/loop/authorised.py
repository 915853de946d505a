"""What a person asked for in their own words: only those may open a protected path, never what an agent wrote."""

from __future__ import annotations

import re

from flyball.core.loop.guidance import guidance_for
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item, open_items
from flyball.core.text.failing_tests import calls_for_passing

_BETWEEN = re.compile(
    r"(?<=[.;!?])\s+|\n+|\b(?:so|until|because|since|which|that|where|when|while|if|unless|as)\b", re.IGNORECASE
)
"""Where one thing that is asked for ends: in "fix add so that tests/test_add.py passes" nobody asks to change the test."""


def authorised_changes(state: State, lane: Lane) -> tuple[Item, ...]:
    """The criteria, if they are a person's or were confirmed by one, the request, and what a person said since to this lane or to all."""
    own = open_items(state.items) if state.items_own else ()
    said = (text for texts in guidance_for(state, lane).values() for text in texts)
    clauses = (clause for text in (state.task.request, *said) for clause in _BETWEEN.split(text))
    every = (*own, *(Item("request", clause.strip()) for clause in clauses if clause and clause.strip()))
    failing = state.baseline.known if state.baseline and state.work else ()
    # Who asks that a test passes does not ask that it is changed.
    return tuple(item for item in every if not calls_for_passing(item.text, failing))
