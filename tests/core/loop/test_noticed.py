"""C19 on a simulated world: what a measurement says about being noticed decides, and never what an agent says."""

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.loop.gates import keeps_behaviour
from flyball.core.loop.shipping import ELSEWHERE
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Judged, PersonSpoke
from flyball.core.model.measurement import Measurement, Noticed
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.status import unverified_parts

pytestmark = pytest.mark.req("C19")

NEW = Noticed("new-test", "tests/test_slug.py::test_hello fails without the change", ("shop/slug.py",))
EXISTING = Noticed(
    "existing-test", "tests/test_shop.py::test_a fails when the changed code is broken", ("shop/slug.py",)
)
NOTHING = Noticed("nothing", files=("shop/slug.py",))
DOCUMENTS = Noticed("no-product", "no product code was changed: no measurement noticed this change")
UNPROBED = Noticed("unprobed", "not verified: no gate runs tests that could notice this change")
ONE = AgentSpec("one", command=("a",), model="large")
TWO = AgentSpec("two", command=("b",), model="small")


class Noticing(World):
    """Every turn leaves another tree; each measurement of work finds the next of `found`, and its last one ever after."""

    def __init__(self, *found: Noticed, unparsed: tuple[str, ...] = ()) -> None:
        super().__init__(self.work, self.look)
        self.found = list(found)
        self.unparsed = unparsed

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.copy:
            return ok(APPROVED)
        self.tree = f"tree-{turn.turn}"
        return ok(DONE)

    def look(self, measure: Measure, _state: State) -> Measurement:
        measured = suite(measure.candidate, self.tree)
        if measure.kind != "green":
            return measured
        noticed = self.found.pop(0) if len(self.found) > 1 else self.found[0]
        return replace(measured, noticed=noticed, unparsed=self.unparsed)


def quick(
    world: World, *agents: AgentSpec, request: str = "Add slugify", unnoticed: str = "refuse"
) -> tuple[Simulator, State]:
    task = replace(a_task(items=()), workflow="quick", request=request, agents=agents or (ONE,))
    roles = {"default": AgentChoice("one", "large")}
    settings = replace(task.settings, roles=roles, unnoticed=unnoticed)
    simulator = Simulator(world, replace(task, settings=settings), "IMPLEMENT")
    return simulator, simulator.run()


def verdicts(simulator: Simulator) -> list[Judged]:
    return [fact for fact in simulator.of(Judged) if isinstance(fact, Judged) and fact.stage == "IMPLEMENT"]


def test_work_that_nothing_notices_is_never_done_and_no_false_claim() -> None:
    simulator, state = quick(Noticing(NOTHING))
    assert state.decision == "BLOCKED"
    first = verdicts(simulator)[0]
    assert first.gate_1.missing == (
        "not verified yet: no test notices this change: add one that fails without it (shop/slug.py)",
    )
    assert not any(verdict.false_claim for verdict in verdicts(simulator))
    assert state.false_claims == 0
    assert "no test notices this change" in simulator.turns[1].prompt


def test_a_test_that_notices_it_lets_the_work_pass_and_is_named_in_the_reason() -> None:
    _, state = quick(Noticing(NOTHING, NEW))
    assert state.stopped is not None
    assert (state.decision, NEW.evidence in state.stopped.reason) == ("DONE", True)


@pytest.mark.parametrize("found", [DOCUMENTS, UNPROBED], ids=["no product code", "no probe"])
def test_what_nothing_could_notice_passes_and_says_so(found: Noticed) -> None:
    simulator, state = quick(Noticing(found))
    assert state.stopped is not None
    assert (state.decision, found.evidence in state.stopped.reason) == ("DONE", True)
    assert [(u.name, u.detail) for u in unverified_parts(state, TaskHistory(simulator.events))] == [
        ("notice", found.evidence)
    ]


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    ("found", "settings", "said"),
    [
        (UNPROBED, {"sandbox": "none"}, True),
        (UNPROBED, {"sandbox": "none", "setup": "make env"}, False),
        (UNPROBED, {"sandbox": "bwrap"}, False),
        (NEW, {"sandbox": "none"}, False),
    ],
)
def test_the_verdict_line_says_where_nothing_shows_whose_files_were_measured(
    found: Noticed, settings: dict[str, str], *, said: bool
) -> None:
    task = replace(a_task(items=()), workflow="quick", agents=(ONE,))
    roles = {"default": AgentChoice("one", "large")}
    chosen = replace(task.settings, roles=roles, attended=False, **settings)
    state = Simulator(Noticing(found), replace(task, settings=chosen), "IMPLEMENT").run()
    assert state.stopped is not None
    assert (state.decision, ELSEWHERE in state.stopped.reason) == ("DONE", said)


def test_a_setting_lets_it_pass_and_the_reason_says_that_nothing_noticed_it() -> None:
    _, state = quick(Noticing(NOTHING), unnoticed="allow")
    assert state.stopped is not None
    assert (state.decision, "no measurement noticed this change" in state.stopped.reason) == ("DONE", True)


def test_a_source_that_does_not_parse_holds_the_gate_open() -> None:
    told = "shop/slug.py:1: it does not parse: Missing parentheses"
    simulator, state = quick(Noticing(NEW, unparsed=(told,)))
    assert (state.decision, verdicts(simulator)[0].gate_1.missing) == ("BLOCKED", (told,))


ALONE = (
    ("Add slugify", (ONE,), EXISTING, "BLOCKED"),
    ("Add slugify", (ONE,), NEW, "DONE"),
    ("Add slugify", (ONE, TWO), EXISTING, "DONE"),
    ("Refactor slugify", (ONE,), EXISTING, "DONE"),
    ("Add slugify", (ONE,), replace(NEW, unnamed=("AC-2",)), "BLOCKED"),
    ("Add slugify", (ONE, TWO), replace(NEW, unnamed=("AC-2",)), "DONE"),
    ("Add slugify", (ONE,), replace(NEW, unstated=('slugify("A B") gives "a-b"',)), "BLOCKED"),
    ("Add slugify", (ONE, TWO), replace(NEW, unstated=('slugify("A B") gives "a-b"',)), "BLOCKED"),
    ("Add slugify", (ONE, TWO), replace(DOCUMENTS, unstated=('slugify("A B") gives "a-b"',)), "BLOCKED"),
    ("Rename slugify", (ONE, TWO), replace(NEW, unstated=('slugify("A B") gives "a-b"',)), "DONE"),
)


@pytest.mark.parametrize(("request_", "agents", "found", "decision"), ALONE)
def test_an_author_who_reviews_alone_needs_a_new_test(
    request_: str, agents: tuple[AgentSpec, ...], found: Noticed, decision: str
) -> None:
    assert quick(Noticing(found), *agents, request=request_)[1].decision == decision


def test_a_person_may_skip_the_stage_and_the_report_says_that_it_is_not_verified() -> None:
    simulator, state = quick(Noticing(NOTHING))
    assert state.decision == "BLOCKED"
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.stopped is not None
    assert (state.decision, "not verified: IMPLEMENT" in state.stopped.reason) == ("DONE", True)


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ("Refactor the parser", True),
        ("Rename Shop to Store", True),
        ("Clean up the imports", True),
        ("Add type hints to cart.py", True),
        ("Make fib linear; it must return the same values", True),
        ("Make the search faster", True),
        ("Add slugify", False),
        ("Remove the trailing comma from the output", False),
        ("Fix the rounding of prices", False),
    ],
)
def test_requests_that_keep_behaviour_are_known_by_their_words(request_: str, kept: bool) -> None:
    assert keeps_behaviour(request_) is kept


def test_the_prompt_asks_for_such_a_test_before_the_first_turn() -> None:
    simulator, _ = quick(Noticing(NEW))
    assert "work that no test notices is not accepted" in simulator.turns[0].prompt
