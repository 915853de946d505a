"""The tables of transitions: the way through a workflow, its turnings, and that simulated tasks go no other way."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, Honest, Simulator, a_task, ok

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.loop.transitions import Transition, move, skip
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Moved, PersonSpoke
from flyball.core.model.measurement import Check, Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.workflows.registry import WORKFLOWS
from flyball.core.workflows.tdd.gates import OWNERS
from flyball.core.workflows.tdd.workflow import FOR

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
    rows = {
        (row.stage, row.to, row.rejected, row.accepts_tests, row.completed)
        for row in workflow.transitions
        if name != "tdd" or not row.when.startswith(FOR) or row.to == "GREEN"
    }
    assert taken == rows - {("REFACTOR", "QA", False, False, False)}
    own = {row.reason for row in workflow.transitions if row.reason}
    assert own <= {m.reason for m in moves}


class Judging(Honest):
    """Honest work whose first review finds some checks failing, or whose reviewer does."""

    def __init__(self, checks: tuple[str, ...], findings: tuple[Finding, ...] = (), *, times: int = 1) -> None:
        super().__init__()
        self.checks, self.findings, self.times = checks, findings, times
        self.told: list[tuple[str, str]] = []

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        self.told.append((turn.stage, turn.prompt))
        if not turn.copy:
            return super().work(turn, state)
        self.times -= 1
        rejects = self.findings and self.times >= 0
        return ok(replace(REJECTED, findings=self.findings) if rejects else APPROVED)

    def look(self, measure: Measure, state: State) -> Measurement:
        measured = super().look(measure, state)
        if measure.kind != "qa" or self.times < 1:
            return measured
        return replace(measured, checks=tuple(Check(name, "fail", True, f"{name} is wrong") for name in self.checks))


@pytest.mark.req("C17", "C51")
@pytest.mark.parametrize(
    ("checks", "way"),
    [
        (("readme",), ["DOCUMENT"]),
        (("changelog", "decision_record"), ["DOCUMENT"]),
        (("complexity",), ["REFACTOR"]),
        (("readme", "complexity"), ["REFACTOR", "DOCUMENT"]),
        (("tests_pass",), ["GREEN"]),
        (("lint_clean",), ["GREEN"]),
        (("criteria_covered", "readme"), ["GREEN", "DOCUMENT"]),
        (("tests_pass", "complexity"), ["GREEN", "REFACTOR"]),
        (("tests_pass", "complexity", "changelog"), ["GREEN", "REFACTOR", "DOCUMENT"]),
    ],
)
def test_a_finding_goes_to_the_stage_that_can_repair_it_and_then_straight_to_qa(
    checks: tuple[str, ...], way: list[str]
) -> None:
    world = Judging(checks)
    simulator = Simulator(world, a_task(), "RED")
    state = simulator.run()
    assert (state.decision, state.main.rejections) == ("DONE", 1)
    stages = [fact.stage for fact in simulator.of(Moved) if isinstance(fact, Moved)]
    assert stages == ["GREEN", "REFACTOR", "DOCUMENT", "QA", *way, "QA", "SHIP"]
    after = world.told[-len(way) - 1 : -1]
    for stage, prompt in after:
        own = [name for name in checks if OWNERS.get(name, "GREEN") == stage]
        assert own
        assert all(f"{name} is wrong" in prompt for name in own)
    earlier = [name for name in checks if OWNERS.get(name, "GREEN") == way[0]]
    assert len(way) == 1 or not any(f"critical: {name}" in after[-1][1] for name in earlier)


@pytest.mark.req("C17")
@pytest.mark.parametrize(
    ("finding", "stage"),
    [
        (Finding("major", "it leaks", "a.py", 3), "GREEN"),
        (Finding("major", "it leaks"), "GREEN"),
        (Finding("major", "unheard of", check="style"), "GREEN"),
        (Finding("major", "the example is wrong", "docs/use.md", 3), "DOCUMENT"),
        (Finding("major", "too long", "a.py", check="complexity"), "REFACTOR"),
    ],
)
def test_a_reviewers_finding_goes_to_green_unless_it_is_known_whose_it_is(finding: Finding, stage: str) -> None:
    simulator = Simulator(Judging((), (finding,)), a_task(), "RED")
    assert simulator.run().decision == "DONE"
    stages = [fact.stage for fact in simulator.of(Moved) if isinstance(fact, Moved)]
    assert stages[4:] == [stage, "QA", "SHIP"]


@pytest.mark.req("C51")
def test_the_third_rejection_for_a_document_is_blocked_with_what_qa_said_and_green_ran_once() -> None:
    simulator = Simulator(Judging(("readme",), times=9), a_task(), "RED")
    state = simulator.run()
    assert (state.decision, state.main.rejections) == ("BLOCKED", 3)
    assert state.stopped is not None
    assert "readme is wrong" in state.stopped.reason
    stages = [fact.stage for fact in simulator.of(Moved) if isinstance(fact, Moved)]
    assert stages.count("GREEN") == 1


def test_a_skip_leads_where_the_stage_would_have_led_and_verifies_nothing() -> None:
    table = (Transition("A", "held", "B", accepts_tests=True),)
    assert skip(table, Lane("main", "A")) == Moved("B", "A", "skipped by a person", forced=True)
    assert skip(table, Lane("main", "B")) == Moved("B", "B", "skipped by a person", forced=True)


def test_a_move_that_no_row_has_is_a_mistake_in_the_workflow() -> None:
    with pytest.raises(ValueError, match="not enough values"):
        move((Transition("A", "held", "B"),), Lane("main", "B"), "held")
