"""The order of an imported plan holds where entries of it are done already, and a plan whose file is gone waits for its user."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.workflows.plan.test_importing_simulated import TASKS, Filed
from tests.core.workflows.plan.world import Team, a_plan_task, simulated
from tests.support.simulator import Simulator

from flyball.core.model.batch_events import BatchBegun
from flyball.core.model.effects import Effect, RunAgent
from flyball.core.model.events import PersonSpoke, SessionStarted
from flyball.core.model.outcomes import Failed, Outcome
from flyball.core.model.state import State
from flyball.core.model.task import Item
from flyball.documents.plan_source import read_plan_source
from flyball.ports import Refusal

pytestmark = pytest.mark.req("O23")

OPENSPEC = """## 1. Parse
- [ ] 1.1 Read a.py
- [x] 1.2 Read b.py
- [ ] 1.3 Read c.py

## 2. Print
- [x] 2.1 Print d.py
- [ ] 2.2 Print e.py
"""


class Performed(Filed):
    """A refusal ends an effect as the performer ends it."""

    def perform(self, effect: Effect, state: State) -> Outcome:
        try:
            return super().perform(effect, state)
        except Refusal as error:
            return Failed(f"{effect.id}: {error}")


def batches(simulator: Simulator) -> list[tuple[str, ...]]:
    return [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)]


def test_entries_that_are_done_already_leave_the_order_of_the_others_as_it_is(tmp_path: Path) -> None:
    world = Filed(tmp_path, OPENSPEC, place="openspec/changes/bills/tasks.md")
    document = read_plan_source(world.path, tmp_path, "openspec")
    task = replace(a_plan_task(None, parallel=4), source=document.source, document=document.text, items=document.items)
    simulator = simulated(world, task)
    assert simulator.run().decision == "DONE"
    assert batches(simulator) == [("1.1",), ("1.3",), ("2.2",)]


def test_a_phase_waits_for_all_of_the_one_before_whichever_of_it_is_done(tmp_path: Path) -> None:
    text = """# Tasks: Bills

## Phase 1: Setup
- [ ] T001 Lay out pkg/__init__.py
- [x] T002 [P] Read orders in pkg/orders.py
## Phase 2: Work
- [ ] T003 [P] Read prices in pkg/prices.py
"""
    simulator = Filed(tmp_path, text).simulator(parallel=4)
    assert simulator.run().decision == "DONE"
    assert batches(simulator) == [("T001",), ("T003",)]


def test_a_dependency_that_is_done_passes_on_what_it_waited_for() -> None:
    items = (
        Item("1", "a", files=("a.py",), acceptance=("a",)),
        Item("2", "b", "completed", files=("b.py",), acceptance=("b",), depends_on=("1",)),
        Item("3", "c", files=("c.py",), acceptance=("c",), depends_on=("2",)),
    )
    simulator = simulated(Team(), a_plan_task(items, parallel=4))
    simulator.run()
    assert batches(simulator) == [("1",), ("3",)]


def test_a_plan_whose_file_is_gone_waits_for_it_and_goes_on_once_it_is_back(tmp_path: Path) -> None:
    world = Performed(tmp_path)

    def delete(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent):
            world.path.unlink(missing_ok=True)

    world.before = delete
    simulator = world.simulator()
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.stopped
    assert state.stopped.kind == "blocked"
    assert state.stopped.reason == (
        f"{world.path} is gone: put it back, for the task works to the plan in it. "
        f"Once that is mended: flyball resume {state.task.id}"
    )
    world.before = lambda _effect, _state: None
    world.path.write_text(TASKS)
    simulator.append(SessionStarted(1, "here", "0"), PersonSpoke("resume", ""))
    assert simulator.run().decision == "DONE"
    assert world.text == TASKS.replace("[ ]", "[X]")
