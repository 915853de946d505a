"""C14 in a plan: a subtask need not repair what is another's, and the whole is not done while a test that is part of the work fails."""

import pytest
from msgspec.structs import replace
from tests.core.workflows.plan.world import Team, a_plan_task, parts, simulated

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Counts, GateResult, Measurement
from flyball.core.model.state import State
from flyball.core.text.failing_tests import EVERY

pytestmark = pytest.mark.req("C14")
OLD = "tests/test_bill.py::test_total"


class RedTeam(Team):
    """One test fails before any work, and passes once a certain subtask is done."""

    def __init__(self, repaired_by: str) -> None:
        super().__init__()
        self.repaired_by = repaired_by

    def look(self, measure: Measure, _state: State) -> Measurement:
        tree = self.saved.get(measure.candidate, self.trees[measure.lane])
        fails = self.repaired_by not in parts(tree)
        excused = fails and (measure.kind == "baseline" or not {EVERY, OLD} & set(measure.work))
        red = fails and not excused
        counts = Counts(5, 4 if fails else 5, int(red), 0, int(excused))
        gate = GateResult("test", "pytest", not red, int(fails), counts=counts)
        known, failing = (OLD,) if excused else (), (OLD,) if red else ()
        runs = 0 if red else 2
        return Measurement(measure.candidate, tree, (gate,), counts, failing=failing, known=known, green_runs=runs)


def test_pieces_are_accepted_while_the_test_of_a_later_one_fails() -> None:
    state = simulated(RedTeam("2.3"), a_plan_task(failing="work")).run()
    assert state.decision == "DONE", state.stopped
    assert "gates passed" in str(state.stopped)


def test_a_plan_whose_work_still_fails_is_not_done() -> None:
    state = simulated(RedTeam("never"), a_plan_task(failing="work")).run()
    assert state.decision == "BLOCKED"
    assert state.stopped is not None
    assert f"tests that are part of the work still fail: fails: {OLD}" in state.stopped.reason


def test_known_failures_let_a_plan_be_done_and_are_counted() -> None:
    state = simulated(RedTeam("never"), a_plan_task(failing="known")).run()
    assert state.decision == "DONE"
    assert "4 passed, 1 known failure remains" in str(state.stopped)


def test_a_request_for_the_failing_tests_is_the_work_in_a_plan() -> None:
    task = replace(a_plan_task(), request="Make the failing tests pass")
    assert simulated(RedTeam("never"), task).run().decision == "BLOCKED"
