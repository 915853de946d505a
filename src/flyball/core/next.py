"""What `decide` gives back: facts to record now, and effects to have under way."""

from __future__ import annotations

from typing import NamedTuple

from flyball.core.effects import Effect
from flyball.core.events import Fact


class Next(NamedTuple):
    """Facts are appended first; then the state is decided upon again."""

    effects: tuple[Effect, ...] = ()
    facts: tuple[Fact, ...] = ()


NOTHING = Next()


def record(*facts: Fact) -> Next:
    return Next(facts=facts)


def perform(*effects: Effect) -> Next:
    return Next(effects=effects)
