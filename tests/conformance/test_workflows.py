"""The workflows that ship pass the suite that ships for the authors of others."""

import pytest
from msgspec.structs import replace
from tests.support.backlog_in_memory import BacklogInMemory
from tests.support.simulator import DONE, Obliging, World, ok
from tests.support.track_in_memory import PAGE, TrackInMemory, failing

from flyball.core.claims.values import Claim
from flyball.core.loop.step import Step, record
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Moved
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Source, Task
from flyball.core.workflows.backlog.values import Issue
from flyball.core.workflows.registry import WORKFLOWS
from flyball.testing.workflow_suite import WorkflowSuite

BUG = Issue("BUG-001@aaaaaa", "it crashes", file="high.md", created="2026-01-01", acceptance=("it does not crash",))


@pytest.mark.req("C40", "C42", "C51")
class TestTdd(WorkflowSuite):
    @pytest.fixture
    def workflow(self) -> Workflow:
        return WORKFLOWS["tdd"]


@pytest.mark.req("C40", "C42", "C51")
class TestQuick(WorkflowSuite):
    @pytest.fixture
    def workflow(self) -> Workflow:
        return WORKFLOWS["quick"]


@pytest.mark.req("C40", "C42", "C51")
class TestBacklog(WorkflowSuite):
    @pytest.fixture
    def workflow(self) -> Workflow:
        return WORKFLOWS["backlog"]

    def world(self, *reviews: Claim, claim: Claim = DONE, green: bool = True) -> World:
        world = Obliging(*reviews, claim=claim, green=green)
        world.folder = BacklogInMemory(BUG)
        return world


class Drafting(Obliging):
    """As others, but somebody writes the plan of a track first."""

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        if turn.role == "track-planner":
            return ok(Claim(status="complete", plan=PAGE, source="report-file"))
        return super().work(turn, state)


@pytest.mark.req("C40", "C42", "C51", "D40")
class TestTrack(WorkflowSuite):
    @pytest.fixture
    def workflow(self) -> Workflow:
        return WORKFLOWS["track"]

    def task(self, workflow: Workflow) -> Task:
        return replace(super().task(workflow), items=(), source=Source("conductor/tracks/form_20261117", ""))

    def world(self, *reviews: Claim, claim: Claim = DONE, green: bool = True) -> World:
        world = Drafting(*reviews, claim=claim, green=green)
        world.track = TrackInMemory("", failing("it leaks"), sync=True)
        return world


PLAN = Claim(
    status="complete",
    plan="- [ ] **1.1** lay it out — Files: `a.py` | Acceptance: it imports | `scaffold: true`\n"
    "- [ ] **1.2** read — Files: `b.py` | Acceptance: it reads\n"
    "- [ ] **1.3** write — Files: `c.py` | Acceptance: it writes\n",
    source="report-file",
)


class Planning(Obliging):
    """As others, but somebody plans first."""

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        return ok(PLAN) if turn.role == "planner" else super().work(turn, state)


@pytest.mark.req("C40", "C42", "C51")
class TestPlan(WorkflowSuite):
    @pytest.fixture
    def workflow(self) -> Workflow:
        return WORKFLOWS["plan"]

    def world(self, *reviews: Claim, claim: Claim = DONE, green: bool = True) -> World:
        return Planning(*reviews, claim=claim, green=green)


def test_the_suite_sees_a_workflow_that_believes_the_signal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = WORKFLOWS["quick"]

    def believing(state: State, lane: Lane) -> Step:
        if lane.stage == "IMPLEMENT" and lane.loop.judged is not None and lane.loop.judged.gate_2:
            return record(Moved("SHIP", "IMPLEMENT", "it says so"))
        return quick.next(state, lane)

    workflow = replace(quick, name="believing", next=believing)
    monkeypatch.setitem(WORKFLOWS, workflow.name, workflow)
    with pytest.raises(AssertionError, match="C40"):
        TestQuick().test_no_stage_with_a_gate_is_left_by_one_of_the_two_alone(workflow, DONE, green=False)
