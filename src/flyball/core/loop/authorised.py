"""What a person asked for in their own words: only those may open a protected path, never what an agent wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable

from flyball.core.model.state import State
from flyball.core.model.task import Item, open_items

_BETWEEN = re.compile(
    r"(?<=[.;:!?])\s+|\n+|\b(?:so|until|because|since|which|that|where|when|while|if|unless|as)\b", re.IGNORECASE
)
"""Where one thing that is asked for ends: in "fix add so that tests/test_add.py passes" nobody asks to change the test."""


def asked(state: State) -> tuple[Item, ...]:
    """The criteria, if they are a person's or were confirmed by one, the request, and what a person said since."""
    own = open_items(state.items) if state.items_own else ()
    return (*own, *_clauses((state.task.request, *state.guidance)))


def _clauses(texts: Iterable[str]) -> Iterable[Item]:
    for text in texts:
        yield from (Item("request", clause.strip()) for clause in _BETWEEN.split(text) if clause and clause.strip())
