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


class ComesFirst(Exception):
    """What has to be recorded or performed before a workflow can go on; only `decide` catches it, and asks again afterwards."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.step = step


def first(step: Step | None) -> None:
    """Go on only if there is no such step."""
    if step is not None:
        raise ComesFirst(step)


NOTHING = Step()


def record(*facts: Fact) -> Step:
    return Step(facts=facts)


def perform(*effects: Effect) -> Step:
    return Step(effects=effects)


def halt(stopped: TaskStopped) -> Step:
    return Step(halt=stopped)
