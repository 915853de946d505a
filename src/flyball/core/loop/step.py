"""What `decide` gives back: facts to record now, effects to have under way, or the word that nothing can go on."""

from __future__ import annotations

from typing import NamedTuple

from flyball.core.model.effects import Effect
from flyball.core.model.events import Fact, TaskStopped


class Step(NamedTuple):
    """Facts are appended first; then the state is decided upon again.

    `halt` is what the task would stop with: it does when no lane can go on.
    """

    effects: tuple[Effect, ...] = ()
    facts: tuple[Fact, ...] = ()
    halt: TaskStopped | None = None


NOTHING = Step()


def record(*facts: Fact) -> Step:
    return Step(facts=facts)


def perform(*effects: Effect) -> Step:
    return Step(effects=effects)


def halt(stopped: TaskStopped) -> Step:
    return Step(halt=stopped)
