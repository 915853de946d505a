"""The learnings that events amount to, for tests of many rooms."""

from collections.abc import Iterable

from flyball.core.memory.standing import remember
from flyball.core.model.events import Event
from flyball.core.model.learnings import Learnings


def learnings_of(events: Iterable[Event], known: Learnings | None = None) -> Learnings:
    """On top of those known."""
    learnings = known or Learnings()
    for event in events:
        remember(learnings, event)
    return learnings
