"""The tables of transitions: the way through a workflow, its turnings, and that simulated tasks go no other way."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flyball.core.claims.claims import Claim, Finding
from flyball.core.loop.transitions import Transition, move, skip
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Moved, PersonSpoke
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.workflows.registry import WORKFLOWS
from flyball.testing.simulator import APPROVED, Honest, Simulator, a_task, ok

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
TABLED = [workflow for workflow in WORKFLOWS.values() if workflow.transitions]
REJECTED = Claim(
    verdict="fail", exit_signal=True, findings=(Finding("major", "it leaks", "a.py", 3),), source="report-file"
)


def way_through(workflow: Workflow) -> list[str]:
    """The stages in the order of each stage's first row, until there is none or they begin anew."""
    first = {row.stage: row.to for row in reversed(workflow.transitions)}
    stages = [workflow.stages[0]]
    while (to := first.get(stages[-1], "")) and to not in stages:
        stages.append(to)
    return stages


@pytest.mark.parametrize("workflow", TABLED, ids=lambda each: str(each.name))
def test_the_first_rows_lead_through_all_stages_as_the_readme_shows_them(workflow: Workflow) -> None:
    assert way_through(workflow) == list(workflow.stages)
    [shown] = [line for line in README.splitlines() if line.startswith(f"| `{workflow.name}`")]
    assert " → ".join(workflow.stages) in shown


@pytest.mark.parametrize("workflow", TABLED, ids=lambda each: str(each.name))
def test_a_stage_is_left_one_way_on_one_occasion_and_for_a_stage_there_is(workflow: Workflow) -> None:
    occasions = [(row.stage, row.when) for row in workflow.transitions]
    assert len(occasions) == len(set(occasions))
    assert {name for row in workflow.transitions for name in (row.stage, row.to)} == set(workflow.stages)


class Strict(Honest):
    """Honest work that the reviewer rejects so often."""

    def __init__(self, rejections: int) -> None:
        super().__init__()
        self.rejections = rejections

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        if not turn.copy:
            return super().work(turn, state)
        self.rejections -= 1
        return ok(REJECTED if self.rejections >= 0 else APPROVED)


@pytest.mark.parametrize("name", ["tdd", "quick"])
def test_tasks_that_are_rejected_and_sent_back_take_every_row_and_go_no_other_way(name: str) -> None:
    workflow = WORKFLOWS[name]
    simulator = Simulator(Strict(3), replace(a_task(), workflow=name), workflow.stages[0])
    assert simulator.run().decision == "BLOCKED"
    simulator.append(PersonSpoke("reset"))
    assert simulator.run().decision == "DONE"
    moves = [fact for fact in simulator.of(Moved) if isinstance(fact, Moved)]
    taken = {(m.previous, m.stage, m.rejected, m.accepts_tests, m.completed) for m in moves}
    rows = {(row.stage, row.to, row.rejected, row.accepts_tests, row.completed) for row in workflow.transitions}
    assert taken == rows
    own = {row.reason for row in workflow.transitions if row.reason}
    assert own <= {m.reason for m in moves}


def test_a_skip_leads_where_the_stage_would_have_led_and_verifies_nothing() -> None:
    table = (Transition("A", "held", "B", accepts_tests=True),)
    assert skip(table, Lane("main", "A")) == Moved("B", "A", "skipped by a person", forced=True)
    assert skip(table, Lane("main", "B")) == Moved("B", "B", "skipped by a person", forced=True)


def test_a_move_that_no_row_has_is_a_mistake_in_the_workflow() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        move((Transition("A", "held", "B"),), Lane("main", "B"), "held")
