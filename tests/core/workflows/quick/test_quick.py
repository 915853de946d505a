"""The `quick` workflow on a simulated world: one role, gates, one review by another."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.claims.claims import Claim, Finding
from flyball.core.model.effects import Measure, PutBack, RunAgent
from flyball.core.model.events import Begun, ItemsSet, Judged, Moved, PersonSpoke
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec, Gate, Settings
from flyball.measures.tampering.weakening import compare
from flyball.projections.views.standing import forced_stages, live_items

REJECTED = Claim(
    verdict="fail", exit_signal=True, findings=(Finding("major", "it leaks", "a.py", 3),), source="report-file"
)


class Quick(World):
    """Each turn changes the tree; `reviews` are what the reviewer says, one after another, then it approves."""

    def __init__(self, *reviews: Claim, claim: Claim = DONE) -> None:
        super().__init__(self.work, self.look)
        self.reviews = list(reviews)
        self.claim = claim

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.role == "reviewer":
            return ok(self.reviews.pop(0) if self.reviews else APPROVED)
        self.tree = f"tree-{turn.turn}"
        return ok(self.claim)

    def look(self, measure: Measure, _state: State) -> Measurement:
        return suite(measure.candidate, self.tree)


def simulated(world: World) -> Simulator:
    return Simulator(world, replace(a_task(items=()), workflow="quick"), "IMPLEMENT")


def moves(simulator: Simulator) -> list[str]:
    return [f.stage for f in simulator.of(Moved) if isinstance(f, Moved)]


def test_one_turn_and_one_review_are_enough() -> None:
    simulator = simulated(Quick())
    state = simulator.run()
    assert state.decision == "DONE"
    assert [turn.role for turn in simulator.turns] == ["implementer", "reviewer"]
    assert moves(simulator) == ["REVIEW", "SHIP"]
    assert simulator.of(ItemsSet) == [ItemsSet(state.items, "request")]
    reviewer = simulator.turns[1]
    assert (reviewer.copy, reviewer.commit) == ("reviewer", simulator.known.checkpoints[-2].commit)


@pytest.mark.req("C40")
@pytest.mark.parametrize(
    ("claim", "look"),
    [(DONE, "red"), (Claim(), "green"), (DONE, "unchanged")],
    ids=["the gate does not hold", "nobody signals", "nothing was changed"],
)
def test_the_stage_is_left_only_with_gate_and_signal_of_the_same_turn(claim: Claim, look: str) -> None:
    world = Quick(claim=claim)

    def measure(wanted: Measure, _state: State) -> Measurement:
        found = suite(wanted.candidate, world.tree, failing=("t::a",) if look == "red" else ())
        return replace(found, unchanged=look == "unchanged" and wanted.kind != "baseline")

    world.measure = measure
    simulator = simulated(world)
    assert simulator.run().decision == "BLOCKED"
    assert moves(simulator) == []
    assert not any(f.can_exit for f in simulator.of(Judged) if isinstance(f, Judged))


ACCEPTED = "import calc\n\n\ndef test_adds():\n    assert calc.add(1, 1) == 2\n"
GROWN = f"{ACCEPTED}\n\ndef test_multiplies():\n    assert calc.mul(2, 3) == 6\n"
WEAKENED = GROWN.replace("    assert calc.add(1, 1) == 2\n", "    calc.add(1, 1)\n")
TESTS = "tests/test_calc.py"


class WritesTests(Quick):
    """Each turn leaves the next of these versions of an accepted test file, which is compared as it is for real."""

    def __init__(self, *versions: str) -> None:
        super().__init__()
        self.versions = list(versions)
        self.tests = {self.tree: ACCEPTED}

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        ended = super().work(turn, state)
        if turn.role == "implementer":
            self.tests[self.tree] = self.versions.pop(0)
        return ended

    def look(self, measure: Measure, state: State) -> Measurement:
        text = self.tests[self.tree].encode()
        found = compare(TESTS, ACCEPTED.encode(), text, tests_may_grow=measure.tests_may_grow)
        measured = replace(super().look(measure, state), tricks=found, put_back=(TESTS,) if found else ())
        return replace(measured, green_runs=0, mended=self.tree) if found else measured


@pytest.mark.req("C42")
def test_accepted_tests_may_grow() -> None:
    simulator = simulated(WritesTests(GROWN))
    assert simulator.run().decision == "DONE"
    assert [turn.role for turn in simulator.turns] == ["implementer", "reviewer"]


@pytest.mark.req("C42")
def test_an_accepted_test_that_is_weakened_is_named_and_put_back() -> None:
    simulator = simulated(WritesTests(WEAKENED, GROWN))
    assert simulator.run().decision == "DONE"
    first, second = (f for f in simulator.of(Judged) if isinstance(f, Judged) and f.stage == "IMPLEMENT")
    assert [missing.partition(": ")[0] for missing in first.gate_1.missing] == ["test-weakened"]
    assert (first.false_claim, second.can_exit) == (True, True)
    mended = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, PutBack)]
    assert [effect.paths for effect in mended] == [(TESTS,)]


@pytest.mark.req("C42")
def test_what_is_measured_is_compared_with_what_was_accepted() -> None:
    simulator = simulated(Quick(REJECTED))
    simulator.run()
    wanted = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Measure)]
    assert [(m.kind, m.tests_may_grow, m.accepted) for m in wanted] == [
        ("baseline", False, "base"),
        ("green", True, "base"),
        ("green", True, "base"),
    ]


LARGE, SMALL = AgentSpec("first", command=("a",), model="large"), AgentSpec("second", command=("b",), model="small")


class Limited(Quick):
    """Agents that say which model ran; those named here have met a limit when they implement."""

    def __init__(self, *limited: str) -> None:
        super().__init__()
        self.limited = limited

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        if turn.role == "implementer" and turn.agent in self.limited:
            return TurnEnded("usage_limit", "limit", reset_at=state.now + timedelta(minutes=1))
        return replace(super().work(turn, state), model=turn.model)


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("agents", "limited", "worked", "reviewed"),
    [
        ((LARGE, SMALL), (), "first", "second"),
        ((LARGE, SMALL), ("first",), "second", "first"),
        ((LARGE,), (), "first", "first"),
    ],
    ids=["two agents", "the other stood in", "there is no other"],
)
def test_another_model_reviews_than_the_one_that_really_implemented(
    agents: tuple[AgentSpec, ...], limited: tuple[str, ...], worked: str, reviewed: str
) -> None:
    leading = AgentChoice("first", "large", fallback=tuple(agent.name for agent in agents[1:]))
    settings = Settings(gates=(Gate("test", "pytest"),), roles={"default": leading})
    task = replace(a_task(settings=settings, items=()), workflow="quick", agents=agents)
    simulator = Simulator(Limited(*limited), task, "IMPLEMENT")
    assert simulator.run().decision == "DONE"
    *_, work, review = simulator.turns
    assert (work.role, work.agent) == ("implementer", worked)
    assert (review.role, review.agent) == ("reviewer", reviewed)
    assert [(author.role, author.agent) for author in review.authors] == [("implementer", worked)]


@pytest.mark.req("C51")
def test_a_rejection_leads_back_with_its_findings_and_the_third_is_put_to_a_person() -> None:
    once = simulated(Quick(REJECTED))
    assert once.run().decision == "DONE"
    assert moves(once) == ["REVIEW", "IMPLEMENT", "REVIEW", "SHIP"]
    assert "major: it leaks a.py" in once.turns[2].prompt
    rejected = [f.effect for f in once.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Measure)][-1].rejected
    assert rejected, "tests that are added now must fail on the rejected tree"
    thrice = simulated(Quick(REJECTED, REJECTED, REJECTED))
    state = thrice.run()
    assert state.stopped is not None
    assert state.stopped.reason == "Review rejected the work 3 times: it leaks"
    assert moves(thrice).count("IMPLEMENT") == 2
    thrice.append(PersonSpoke("reset"))
    assert thrice.run().decision == "DONE"


@pytest.mark.req("C22")
def test_what_is_skipped_is_shown_as_not_verified() -> None:
    world = Quick(REJECTED, REJECTED, REJECTED)
    simulator = simulated(world)
    simulator.run()
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.kind == "done"
    assert state.stopped.reason.startswith("finished with stages skipped by a person, not verified: REVIEW")


@pytest.mark.req("O60")
def test_a_criterion_is_in_progress_while_it_is_worked_on_and_completed_once_the_work_is_done() -> None:
    simulator = simulated(Quick(REJECTED))
    seen: list[str] = []
    while simulator.known.stopped is None:
        simulator.step()
        seen += [item.status for item in live_items(simulator.known)]
    assert list(dict.fromkeys(seen)) == ["not-started", "in-progress", "completed"]


@pytest.mark.req("C22")
def test_a_criterion_nobody_looked_at_is_not_completed() -> None:
    simulator = simulated(Quick(REJECTED, REJECTED, REJECTED))
    simulator.run()
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert (state.decision, forced_stages(state)) == ("DONE", ("REVIEW",))
    assert [item.status for item in live_items(state)] == ["in-progress"]
