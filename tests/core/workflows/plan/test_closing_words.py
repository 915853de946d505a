"""What a plan says of itself when it is done: what was reviewed here, what was done before, what a person ticked or left out."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.workflows.plan.test_importing_simulated import PLACE, TASKS, Filed, edited, notes, red_from_the_start
from tests.core.workflows.plan.world import SUBTASKS, Team, a_plan_task, ids, simulated
from tests.support.simulator import Simulator

from flyball.core.model.effects import Effect, RunAgent
from flyball.core.model.state import State
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import Report, report
from flyball.projections.views.report_markdown import markdown
from flyball.projections.views.status import status

pytestmark = pytest.mark.req("O61")


def reason(simulator: Simulator) -> str:
    state = simulator.run()
    assert state.stopped
    assert state.decision == "DONE", state.stopped
    return state.stopped.reason.partition("; the work is on")[0]


def report_of(simulator: Simulator) -> Report:
    return report(simulator.known, TaskHistory(simulator.events))


def test_the_closing_sentence_counts_what_was_reviewed_here_and_names_what_was_done_before(tmp_path: Path) -> None:
    simulator = Filed(tmp_path, TASKS.replace("[ ] T001", "[x] T001")).simulator()
    assert reason(simulator) == "gates passed; 3 subtasks reviewed and accepted; 1 was done before"
    assert report_of(simulator).unverified == ()


def test_a_tick_of_a_person_is_not_called_reviewed(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, "[ ] T004", "[x] T004")
    told = "gates passed; 3 subtasks reviewed and accepted; 1 ticked by a person while the measurements held: T004"
    assert reason(world.simulator()) == told


@pytest.mark.parametrize("attended", [False, True])
def test_a_tick_that_nobody_verified_is_named_in_the_reason_the_status_and_the_report(
    tmp_path: Path, attended: bool
) -> None:
    world = Filed(tmp_path, TASKS.replace("[ ] T004", "[X] T004"))
    red_from_the_start(world)
    world.says = lambda _ask: "done"
    simulator = world.simulator(attended=attended)
    told = "gates passed; 3 subtasks reviewed and accepted; 1 ticked by a person, not verified: T004"
    assert reason(simulator) == told
    shown = status(simulator.known, TaskHistory(simulator.events)).unverified
    assert [(each.name, each.detail) for each in shown] == [("subtask T004", "ticked by a person")]
    told_in = report_of(simulator)
    assert told_in.unverified == shown
    assert "subtask T004 was ticked by a person and is not verified" in told_in.left
    assert "- Subtask T004: unverified (ticked by a person)" in markdown(told_in)


def test_a_plan_of_flyballs_own_grammar_says_what_was_done_before_too() -> None:
    first, *others = SUBTASKS
    simulator = simulated(Team(), a_plan_task((replace(first, status="completed"), *others)))
    assert reason(simulator) == "gates passed; 4 subtasks reviewed and accepted; 1 was done before"


def test_an_entry_that_a_person_dropped_is_left_out_and_the_others_keep_their_order(tmp_path: Path) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, "[ ] T004 Print a bill", "[ ] T004 Print all bills")
    world.says = lambda ask: "drop" if ask.question.name == "source-reworded" else None
    simulator = world.simulator(attended=True)
    assert reason(simulator) == "gates passed; 3 subtasks reviewed and accepted; left out by a person: T004"
    assert notes(simulator) == [
        f"T004: reworded in {PLACE}; a person is asked what is meant",
        f"T004: reworded in {PLACE}; left out, as a person said",
    ]


@pytest.mark.parametrize(("answer", "told"), [("new", "worked on as it reads now"), ("old", "worked on as it was")])
def test_the_notes_say_what_became_of_an_entry_that_was_asked_about(tmp_path: Path, answer: str, told: str) -> None:
    world = Filed(tmp_path)
    world.before = edited(world, "[ ] T004 Print a bill", "[ ] T004 Print all bills")
    world.says = lambda ask: answer if ask.question.name == "source-reworded" else None
    simulator = world.simulator(attended=True)
    state = simulator.run()
    assert "T004" in ids(world.saved[state.main.head])
    assert notes(simulator)[-1] == f"T004: reworded in {PLACE}; {told}, as a person said"


def test_what_waited_for_a_dropped_entry_waits_for_what_that_waited_for(tmp_path: Path) -> None:
    text = "## 1. Parse\n- [ ] 1.1 Read a.py\n- [ ] 1.2 Read b.py\n- [ ] 1.3 Read c.py\n"
    world = Filed(tmp_path, text, "plain", "tasks.md")

    def take_out(effect: Effect, _state: State) -> None:
        if isinstance(effect, RunAgent) and "1.2" in world.text:
            world.path.write_text(world.text.replace("- [ ] 1.2 Read b.py\n", ""))

    world.before = take_out
    world.says = lambda ask: "drop" if ask.question.name == "source-gone" else None
    simulator = world.simulator(attended=True)
    simulator.run()
    assert {item.id: item.depends_on for item in simulator.known.items} == {"1.1": (), "1.3": ("1.1",)}
