"""Feedback on finished work: the single things it asks for, and what they become."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from flyball.core.loop.step import Step, record
from flyball.core.model.events import ItemsSet, Moved, TaskReopened
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item
from flyball.core.text.scrubbing import one_line, storable

_LISTED = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$", re.MULTILINE)
_LINE_ENDS = re.compile(r"\s*\n\s*")
_NUMBER = re.compile(r"AC-([0-9]+)")
_MOST = 2000


def wishes(text: str) -> tuple[str, ...]:
    """Each item of a list in the feedback, else all of it as one."""
    found = dict.fromkeys(_plain(item) for item in _LISTED.findall(text))
    return tuple(found) or (_plain(text),)


def requested_criteria(request: str) -> tuple[Item, ...]:
    """A request that lists several things is that many criteria, any other is one."""
    listed = wishes(request)
    return as_criteria(listed if len(listed) > 1 else (_LINE_ENDS.sub(" ", request.strip()),), ())


def as_criteria(texts: Iterable[str], known: Iterable[Item]) -> tuple[Item, ...]:
    highest = max((int(found[1]) for item in known if (found := _NUMBER.fullmatch(item.id))), default=0)
    return tuple(Item(f"AC-{highest + number}", text) for number, text in enumerate(texts, 1))


def reopen_at(stage: str, state: State, lane: Lane) -> Step:
    """Feedback is new criteria beside those that are met, and work on them begins at a stage."""
    new = as_criteria(wishes(state.feedback), state.items)
    met = tuple(replace(item, status="completed") for item in state.items)
    return record(
        TaskReopened(state.feedback, tuple(item.id for item in new)),
        ItemsSet((*met, *new), "person"),
        Moved(stage, lane.stage, "reopened by a person"),
    )


def _plain(text: str) -> str:
    return one_line(storable(text))[:_MOST].strip()
