"""The simulator in a world that performs the effects of all five workflows, and agents to put into it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from tests.support.backlog_in_memory import BacklogInMemory
from tests.support.track_in_memory import TrackInMemory

from flyball.core.model import effects as fx, outcomes as out
from flyball.core.model.measurement import Check, Files, Measurement, Quality
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, Task
from flyball.core.workflows.backlog.effects import EditBacklog, ReadBacklog
from flyball.core.workflows.plan.effects import DraftRead, ReadDraft
from flyball.core.workflows.track.effects import EFFECTS as TRACK_EFFECTS
from flyball.testing import simulator, workflow_suite
from flyball.testing.simulator import APPROVED, DONE, NEW, START, EveryFile, Simulator, a_task, ok, suite

__all__ = ["APPROVED", "DONE", "START", "EveryFile", "Simulator", "a_task", "ok", "suite"]


def a_reviewed_task() -> Task:
    """One whose reviewer is another agent than its author."""
    task = a_task()
    roles = {**task.settings.roles, "qa": AgentChoice("critic")}
    return replace(task, settings=replace(task.settings, roles=roles))


class World(simulator.World):
    """A backlog, a draft of a plan and a track, all in memory."""

    def __init__(
        self,
        turn: Callable[[fx.RunAgent, State], out.TurnEnded],
        measure: Callable[[fx.Measure, State], Measurement],
        answer: Callable[[fx.Ask, State], str | None] | None = None,
    ) -> None:
        super().__init__(turn, measure, answer)
        self.folder = BacklogInMemory()
        self.draft = ""
        self.track = TrackInMemory()

    def perform_own(self, effect: fx.Effect) -> out.Outcome:
        if isinstance(effect, TRACK_EFFECTS):
            return self.track.perform(effect)
        if isinstance(effect, ReadBacklog | EditBacklog):
            return self.folder.perform(effect)
        if isinstance(effect, ReadDraft):
            return DraftRead(self.draft)
        return super().perform_own(effect)


class Obliging(workflow_suite.Obliging, World):
    """The suite's own world, which performs the effects of all five workflows."""


class Honest(World):
    """Does what each stage asks for, in one turn a stage; what it wrote first is over a limit, so that REFACTOR takes one, too."""

    def __init__(self) -> None:
        super().__init__(self.work, self.look)
        self.stage_done: set[str] = set()

    def work(self, turn: fx.RunAgent, _state: State) -> out.TurnEnded:
        self.tree = f"tree-{turn.turn}"
        self.stage_done.add(turn.stage)
        return ok(APPROVED if turn.role == "qa" else DONE)

    def look(self, measure: fx.Measure, _state: State) -> Measurement:
        if measure.kind == "baseline":
            return suite(measure.candidate, self.tree)
        if measure.kind == "red":
            return self.red(measure)
        files = Files(documents=3, decision_records=1) if "DOCUMENT" in self.stage_done else Files()
        checks = (Check("tests pass", "pass", True),) if measure.kind == "qa" else ()
        numbers = Quality(over_limit=() if "REFACTOR" in self.stage_done else ("calc.py:1 add: complexity 12",))
        return replace(suite(measure.candidate, self.tree, total=6), files=files, quality=numbers, checks=checks)

    def red(self, measure: fx.Measure) -> Measurement:
        measured = suite(measure.candidate, self.tree, failing=(NEW.id,), total=6)
        return replace(measured, new_tests=(NEW,) if "RED" in self.stage_done else ())
