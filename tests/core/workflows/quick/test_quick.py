"""The `quick` workflow on a simulated world: one role, gates, one review by another."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Honest, Simulator, World, a_task, ok, suite

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.model.effects import Measure, PutBack, RunAgent
from flyball.core.model.events import Begun, ItemsSet, Judged, Moved, PersonSpoke
from flyball.core.model.measurement import Check, Files, Measurement, Noticed, Trick
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec, Gate, Settings
from flyball.measures.tampering.weakening import may_become
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown
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


def test_an_example_in_the_request_keeps_its_blanks_and_the_lines_become_one() -> None:
    task = replace(a_task(items=()), workflow="quick", request="title('a  b') crashes.\n\n  Fix it.\n")
    (item,) = Simulator(Quick(), task, "IMPLEMENT").run().items
    assert item.text == "title('a  b') crashes. Fix it."


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
        grow = measure.tests_may_grow
        free = may_become(TESTS, ACCEPTED.encode(), text, rewritable=False, tests_may_grow=grow)
        found = () if free else (Trick("protected-changed", TESTS, "changed"),)
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
    assert [missing.partition(": ")[0] for missing in first.gate_1.missing] == [TESTS]
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
    assert "major: it leaks; a.py" in once.turns[2].prompt
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


@pytest.mark.req("C14")
@pytest.mark.req("C22")
def test_where_the_stage_of_a_failing_test_is_skipped_no_text_says_that_gates_passed() -> None:
    class Failing(Quick):
        def look(self, measure: Measure, _state: State) -> Measurement:
            return suite(measure.candidate, self.tree, failing=("test_mul",))

    simulator = simulated(Failing())
    simulator.run()
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.stopped is not None
    assert "not verified: IMPLEMENT; " in state.stopped.reason
    assert "1 failed" in state.stopped.reason
    told = report(state, TaskHistory(simulator.events))
    assert "1 failed; not verified, skipped by a person: IMPLEMENT" in told.outcome
    assert "gates passed" not in markdown(told)


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


NEW_TEST = Noticed("new-test", "test_mul fails without the change", ("calc.py",))


class Small(Quick):
    """A change of nine lines that a new test notices, but for what is given here."""

    def __init__(self, *reviews: Claim, lines: int | None = 9, noticed: Noticed = NEW_TEST) -> None:
        super().__init__(*reviews)
        self.lines, self.noticed = lines, noticed

    def look(self, measure: Measure, state: State) -> Measurement:
        found = super().look(measure, state)
        return replace(found, files=Files(lines=self.lines), noticed=self.noticed)


def unreviewed(world: World, review: str = "auto", workflow: str = "quick") -> Simulator:
    settings = Settings(gates=(Gate("test", "pytest"),), roles={"default": AgentChoice("first")}, review=review)  # type: ignore[arg-type]
    task = replace(a_task(settings=settings, items=()), workflow=workflow, agents=(LARGE, SMALL))
    simulator = Simulator(world, task, "IMPLEMENT" if workflow == "quick" else "RED")
    assert simulator.run().decision == "DONE"
    return simulator


@pytest.mark.req("C40")
def test_a_review_that_measurements_make_unnecessary_takes_no_turn_and_a_fact_names_them() -> None:
    simulator = unreviewed(Small())
    assert [turn.role for turn in simulator.turns] == ["implementer"]
    last = simulator.of(Moved)[-1]
    assert isinstance(last, Moved)
    assert last.unreviewed
    assert not last.forced
    assert "9 changed lines of at most 100" in last.reason
    assert [item.status for item in live_items(simulator.known)] == ["completed"]


@pytest.mark.req("C40")
@pytest.mark.parametrize(
    "world",
    [
        Small(lines=101),
        Small(lines=None),
        Small(noticed=replace(NEW_TEST, kind="existing-test")),
        Small(noticed=replace(NEW_TEST, kind="unprobed")),
        Small(noticed=replace(NEW_TEST, unnamed=("AC-2",))),
    ],
    ids=["large", "not counted", "only an old test notices it", "not probed", "a criterion that no test names"],
)
def test_where_a_measurement_is_wanting_the_review_is_held(world: Small) -> None:
    assert [turn.role for turn in unreviewed(world).turns] == ["implementer", "reviewer"]


@pytest.mark.req("C40", "C51")
def test_what_a_review_rejected_is_reviewed_again_however_small_it_has_become() -> None:
    class Shrinks(Small):
        def work(self, turn: RunAgent, state: State) -> TurnEnded:
            self.lines = 500 if turn.turn == 1 else 9
            return super().work(turn, state)

    simulator = unreviewed(Shrinks(REJECTED))
    assert [turn.role for turn in simulator.turns] == ["implementer", "reviewer"] * 2


@pytest.mark.req("C40")
@pytest.mark.parametrize(("blocked", "turns"), [(False, 0), (True, 1)])
def test_qa_without_a_reviewer_is_measured_all_the_same_and_a_failed_check_has_one_look(
    *, blocked: bool, turns: int
) -> None:
    class Checked(Honest):
        def look(self, measure: Measure, state: State) -> Measurement:
            found = super().look(measure, state)
            failed = blocked and measure.kind == "qa" and "QA" not in [v.stage for v in state.main.visits[:-1]]
            return replace(found, checks=(Check("lint_clean", "fail", blocking=True),) if failed else found.checks)

    simulator = unreviewed(Checked(), "never", "tdd")
    assert [turn.role for turn in simulator.turns].count("qa") == turns
    assert "nobody reviewed this work: `review` is never" in str(simulator.known.stopped)
