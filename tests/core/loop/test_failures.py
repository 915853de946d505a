"""C14 and C7: which failing tests are the work is decided before the first turn, and no work is done while one of those fails."""

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok

from flyball.core.model.effects import Ask, Measure, RunAgent
from flyball.core.model.events import Begun, FailuresDecided
from flyball.core.model.measurement import Counts, GateResult, Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec, Item
from flyball.core.text.failing_tests import EVERY
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown, pull_request
from flyball.projections.views.status import status

pytestmark = pytest.mark.req("C14")

OLD = ("tests/test_cart.py::test_tax", "tests/test_shop.py::test_opens")
ONE = AgentSpec("one", command=("a",), model="large")
PASSING = 3


class RedWorld(World):
    """Two tests fail before any work; the agent repairs one with each turn if it is `honest`, and always says that it is done."""

    def __init__(self, *, honest: bool = False, passing: int = PASSING) -> None:
        super().__init__(self.work, self.look)
        self.failing = list(OLD)
        self.honest, self.passing = honest, passing

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.copy:
            return ok(APPROVED)
        self.tree = f"tree-{turn.turn}"
        if self.honest and self.failing:
            self.failing.pop(0)
        return ok(DONE)

    def look(self, measure: Measure, _state: State) -> Measurement:
        """As the measurer does: what is part of the work is excused by nothing."""
        baseline = measure.kind == "baseline"
        known = [t for t in self.failing if baseline or not {EVERY, t} & set(measure.work)]
        failing = tuple(t for t in self.failing if t not in known)
        total = self.passing + len(OLD)
        counts = Counts(total, total - len(self.failing), len(failing), 0, len(known))
        gate = GateResult("test", "pytest", not failing, int(bool(self.failing)), counts=counts, output="boom")
        runs = 0 if failing else 2
        return Measurement(
            measure.candidate, self.tree, (gate,), counts, failing=failing, known=tuple(known), green_runs=runs
        )


def run(world: World, request: str, *, workflow: str = "quick", **settings: object) -> tuple[Simulator, State]:
    task = replace(a_task(items=()), workflow=workflow, request=request, agents=(ONE,))
    chosen = replace(task.settings, roles={"default": AgentChoice("one", "large")}, **settings)
    simulator = Simulator(world, replace(task, settings=chosen), "IMPLEMENT" if workflow == "quick" else "RED")
    return simulator, simulator.run()


def decided(simulator: Simulator) -> FailuresDecided:
    (fact,) = simulator.of(FailuresDecided)
    assert isinstance(fact, FailuresDecided)
    return fact


def test_a_liar_is_not_done_where_the_request_is_to_make_failing_tests_pass() -> None:
    simulator, state = run(RedWorld(), "Make the failing tests pass")
    assert (decided(simulator).work, decided(simulator).by) == ((EVERY,), "request")
    assert state.decision == "BLOCKED"
    assert "The measurements of this stage hold" not in simulator.turns[1].prompt
    assert state.false_claims


def test_an_honest_agent_that_repairs_one_test_a_turn_is_done() -> None:
    simulator, state = run(RedWorld(honest=True), "Make the failing tests pass")
    assert state.decision == "DONE"
    assert len([t for t in simulator.turns if not t.copy]) == len(OLD)
    assert "gates passed" in str(state.stopped)


def test_tdd_needs_no_new_test_for_tests_that_fail_already() -> None:
    simulator, state = run(RedWorld(honest=True), "Make the failing tests pass", workflow="tdd")
    assert "tester" not in {turn.role for turn in simulator.turns}
    assert state.main.visits[0].exit_reason == "the tests that the request asks for fail already"
    assert not state.main.visits[0].forced


def test_a_test_that_the_request_names_is_the_work_and_others_are_known() -> None:
    simulator, state = run(RedWorld(honest=True), "test_tax fails: repair the tax")
    assert decided(simulator).work == OLD[:1]
    assert state.decision == "DONE"
    assert state.stopped is not None
    assert "4 passed, 1 known failure remains" in state.stopped.reason
    _, state = run(RedWorld(), "test_tax fails: repair the tax")
    assert state.decision == "BLOCKED"


def test_other_requests_leave_known_failures_which_every_view_names() -> None:
    simulator, state = run(RedWorld(), "Add slugify", unnoticed="allow")
    assert (decided(simulator).work, decided(simulator).by) == ((), "nobody")
    assert state.decision == "DONE"
    history = TaskHistory(simulator.events)
    shown, made = status(state, history), report(state, history)
    prompt = simulator.turns[0].prompt
    for text in ("\n".join(shown.failures), markdown(made), pull_request(made), prompt):
        assert all(test.rpartition("::")[2].replace("_", "") in text.replace("\\", "").replace("_", "") for test in OLD)
    for text in (markdown(made), pull_request(made), str(state.stopped), *(t.prompt for t in simulator.turns)):
        for lie in ("gates passed", "the gate passed", "all tests pass", "All tests pass"):
            assert lie not in text
    assert "3 passed, 2 known failures remain" in str(state.stopped)


@pytest.mark.parametrize(("said", "work", "decision"), [("work", (EVERY,), "BLOCKED"), ("known", (), "DONE")])
def test_a_setting_decides_whatever_the_request_says(said: str, work: tuple[str, ...], decision: str) -> None:
    simulator, state = run(RedWorld(), "Add slugify", failing=said)
    assert (decided(simulator).work, decided(simulator).by, state.decision) == (work, "setting", decision)


def test_an_attended_run_asks_before_the_first_turn_and_keeps_the_answer_for_the_set() -> None:
    simulator, state = run(RedWorld(), "Add slugify", attended=True)
    asked = [e.fact.effect for e in simulator.events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Ask)]
    assert [ask.question.name for ask in asked] == ["failing-tests"]
    assert simulator.turns == []
    assert state.decision == "BLOCKED"


@pytest.mark.req("C7")
def test_a_gate_in_which_nothing_passes_stops_an_unattended_run_before_any_turn() -> None:
    simulator, state = run(RedWorld(passing=0), "Add slugify")
    assert (state.decision, simulator.turns) == ("BLOCKED", [])
    assert state.stopped is not None
    assert "no test of the gate test passes on the untouched tree" in state.stopped.reason
    assert "boom" in state.stopped.evidence


@pytest.mark.req("C7")
def test_a_gate_in_which_nothing_passes_is_worked_on_where_the_tests_are_the_work() -> None:
    _, state = run(RedWorld(honest=True, passing=0), "Make the failing tests pass")
    assert state.decision == "DONE"


def test_criteria_of_the_document_name_tests_too() -> None:
    task = replace(a_task(items=(Item("AC-1", "test_opens passes"),)), workflow="quick", agents=(ONE,))
    settings = replace(task.settings, roles={"default": AgentChoice("one", "large")})
    simulator = Simulator(RedWorld(), replace(task, settings=settings, request="Open the shop"), "IMPLEMENT")
    simulator.run()
    assert decided(simulator).work == OLD[1:]


def test_a_test_that_is_to_pass_stays_protected_though_the_request_names_its_file() -> None:
    world = RedWorld(honest=True)
    simulator, _ = run(world, "Make tests/test_cart.py pass")
    asked = [
        e.fact.effect for e in simulator.events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Measure)
    ]
    assert not any("test_cart" in item.text for measure in asked for item in measure.asked)
    simulator, _ = run(RedWorld(), "Add a case to tests/test_cart.py")
    asked = [
        e.fact.effect for e in simulator.events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Measure)
    ]
    assert any("test_cart" in item.text for measure in asked for item in measure.asked)
