"""The whole tdd loop in a simulated world: what each kind of agent must end as."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.simulator import DONE, START, Honest, Simulator, World, a_task, ok, suite

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ClaimedBlocker
from flyball.core.model.effects import Ask, Measure, RunAgent, Wait
from flyball.core.model.events import (
    Begun,
    Held,
    Judged,
    LearningRecorded,
    LimitHit,
    Moved,
    PersonSpoke,
    SessionStarted,
    TaskStopped,
)
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.outcomes import TurnEnded, TurnKind, Usage
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, Gate, Limits, Settings
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import stuck


def stages(simulator: Simulator) -> list[str]:
    return [f.stage for f in simulator.of(Moved) if isinstance(f, Moved)]


def settings(**limits: object) -> Settings:
    return Settings(
        gates=(Gate("test", "pytest"),),
        roles={"default": AgentChoice("scripted")},
        limits=Limits(**limits),  # type: ignore[arg-type]
    )


@pytest.mark.req("C4")
def test_an_honest_agent_goes_through_every_stage_to_done() -> None:
    simulator = Simulator(Honest())
    state = simulator.run()
    assert state.decision == "DONE"
    assert stages(simulator) == ["GREEN", "REFACTOR", "DOCUMENT", "QA", "SHIP"]
    assert state.turns == 5


@pytest.mark.req("O61")
def test_done_says_that_gates_passed_and_never_that_the_work_is_right() -> None:
    stopped = Simulator(Honest()).run().stopped
    assert stopped is not None
    assert stopped.reason == "gates passed; the work is on branch flyball/001-it-works"


@pytest.mark.req("C40")
def test_a_claim_that_no_measurement_bears_out_is_refused_and_the_agent_is_told() -> None:
    world = World(lambda _t, _s: ok(DONE), lambda m, _s: suite(m.candidate, "tree-0"))
    simulator = Simulator(world)
    state = simulator.run()
    first = simulator.of(Judged)[0]
    assert isinstance(first, Judged)
    assert first.false_claim
    assert not first.can_exit
    assert "measured, and it is not" in simulator.turns[1].prompt
    assert state.decision == "BLOCKED"


@pytest.mark.req("M18")
def test_an_agent_that_changes_nothing_is_blocked_within_six_turns() -> None:
    simulator = Simulator(World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, "tree-0")))
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.turns <= 6
    assert len({t.context for t in simulator.turns}) > 1, "a fresh context is tried before a person is asked"


def test_an_agent_that_changes_nothing_without_criteria_is_blocked_within_six_turns_too() -> None:
    world = World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, "tree-0"))
    simulator = Simulator(world, a_task(items=()))
    assert simulator.run().decision == "BLOCKED"
    assert {turn.role for turn in simulator.turns} == {"tester"}
    assert len(simulator.turns) <= 6


def test_untracked_files_that_change_nothing_in_the_gate_do_not_buy_turns() -> None:
    world = World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, world.tree))

    def babble(turn: RunAgent, _state: State) -> TurnEnded:
        world.tree = f"noise-{turn.turn}"
        return ok()

    world.turn = babble
    simulator = Simulator(world)
    assert simulator.run().decision == "BLOCKED"
    assert len(simulator.turns) <= 6


@pytest.mark.req("M12")
def test_a_breaks_b_and_b_breaks_a_is_named_within_four_turns_and_stopped_within_eight() -> None:
    world = Honest()

    def work(turn: RunAgent, state: State) -> TurnEnded:
        if turn.stage == "RED":
            return Honest.work(world, turn, state)
        world.tree = f"flip-{turn.turn % 2}"
        return ok()

    def look(measure: Measure, state: State) -> Measurement:
        if measure.kind in {"baseline", "red"}:
            return Honest.look(world, measure, state)
        return suite(measure.candidate, world.tree, failing=("a",) if world.tree == "flip-0" else ("b",))

    world.turn, world.measure = work, look
    simulator = Simulator(world)
    state = simulator.run()
    green = [f for f in simulator.of(Judged) if isinstance(f, Judged) and f.stage == "GREEN"]
    named = next(n for n, f in enumerate(green, 1) if f.verdict.health == "FLIP-FLOPPING")
    assert named <= 4
    assert state.decision == "BLOCKED"
    assert len(green) <= 8


@pytest.mark.req("C11")
def test_a_usage_limit_is_waited_out_without_another_call_and_costs_one_turn() -> None:
    world = Honest()
    reset_at = START + timedelta(hours=3)
    limited: list[int] = []

    def work(turn: RunAgent, state: State) -> TurnEnded:
        if turn.stage == "GREEN" and not limited:
            limited.append(turn.turn)
            return TurnEnded("usage_limit", "limit reached", reset_at=reset_at)
        assert not limited or state.now >= reset_at
        return Honest.work(world, turn, state)

    world.turn = work
    simulator = Simulator(world)
    state = simulator.run()
    assert state.decision == "DONE"
    assert state.turns == 6
    assert state.iterations == 5, "a limited turn is no iteration"
    assert any(isinstance(e.fact, Begun) and isinstance(e.fact.effect, Wait) for e in simulator.events)
    assert [f.until for f in simulator.of(LimitHit) if isinstance(f, LimitHit)] == [reset_at]


@pytest.mark.req("C11")
def test_a_provider_that_stays_out_of_reach_blocks_with_evidence_and_resuming_tries_again() -> None:
    world, lost = Honest(), [True]

    def work(turn: RunAgent, state: State) -> TurnEnded:
        if turn.stage == "GREEN" and lost:
            return TurnEnded("overloaded", "fetch failed: ECONNREFUSED")
        return Honest.work(world, turn, state)

    world.turn = work
    simulator = Simulator(world)
    state = simulator.run()
    assert state.stopped is not None
    assert (state.decision, state.stopped.evidence) == ("BLOCKED", ("scripted: fetch failed: ECONNREFUSED",))
    assert "no turn has succeeded since" in state.stopped.reason
    assert timedelta(hours=4) <= state.now - START < timedelta(hours=5)
    assert state.turns < 35, "the pauses grow"
    assert state.iterations == 1, "none of it is an iteration"
    turns = state.turns
    simulator.now += timedelta(minutes=1)
    simulator.append(SessionStarted(2, "simulated", "0"), PersonSpoke("resume"))
    state = simulator.run()
    assert (state.decision, state.turns) == ("BLOCKED", turns + 1)
    lost.clear()
    simulator.now += timedelta(minutes=1)
    simulator.append(SessionStarted(3, "simulated", "0"), PersonSpoke("resume"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("C12")
def test_a_fallback_agent_goes_on_while_the_first_is_limited() -> None:
    world = Honest()

    def work(turn: RunAgent, state: State) -> TurnEnded:
        if turn.agent == "first":
            return TurnEnded("usage_limit", "limit", reset_at=START + timedelta(hours=5))
        return Honest.work(world, turn, state)

    world.turn = work
    chosen = Settings(gates=(Gate("test", "t"),), roles={"default": AgentChoice("first", fallback=("second",))})
    simulator = Simulator(world, a_task(settings=chosen))
    state = simulator.run()
    assert state.decision == "DONE"
    assert state.turns == 6
    assert state.now < START + timedelta(hours=1), "nothing was waited for"


def test_an_agent_that_crashes_each_time_is_blocked_with_the_crash_as_evidence() -> None:
    world = World(
        lambda _t, _s: TurnEnded("crashed", "exit 139: segmentation fault"), lambda m, _s: suite(m.candidate, "tree-0")
    )
    simulator = Simulator(world)
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert state.turns <= 6
    assert state.stopped is not None
    assert "segmentation fault" in state.stopped.reason
    assert state.iterations == 0, "a crash is no iteration"


@pytest.mark.req("C40")
def test_a_gate_that_held_twice_unsignalled_asks_only_for_the_confirmation_and_then_stops() -> None:
    world = Honest()

    def silent(turn: RunAgent, state: State) -> TurnEnded:
        Honest.work(world, turn, state)
        return ok()

    world.turn = silent
    simulator = Simulator(world)
    state = simulator.run()
    assert [t.purpose for t in simulator.turns] == ["", "", "confirm"]
    assert state.decision == "BLOCKED"
    assert state.stopped is not None
    assert "has not said that it is done" in state.stopped.reason


@pytest.mark.req("C51")
def test_a_third_qa_rejection_is_blocked_and_each_one_led_back_to_green_and_straight_to_qa() -> None:
    world = Honest()
    no = Claim(exit_signal=True, verdict="fail", findings=(Finding("critical", "it is slow"),), source="report-file")

    def work(turn: RunAgent, state: State) -> TurnEnded:
        done = Honest.work(world, turn, state)
        return ok(no) if turn.role == "qa" else done

    world.turn = work
    simulator = Simulator(world)
    state = simulator.run()
    assert stages(simulator)[3:] == ["QA", "GREEN", "QA", "GREEN", "QA"]
    assert state.decision == "BLOCKED"
    assert state.main.rejections == 3
    again = next(t for t in simulator.turns if t.stage == "GREEN" and t.turn > 5)
    assert "it is slow" in again.prompt


@pytest.mark.req("C1")
def test_an_iteration_limit_stops_as_a_limit_and_never_as_done() -> None:
    simulator = Simulator(Honest(), a_task(settings=settings(max_iterations=2)))
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.kind == "limit"
    assert state.decision == "CONTINUE"


@pytest.mark.req("C10")
def test_the_hourly_window_is_waited_out_when_nobody_is_there_and_really_resets() -> None:
    simulator = Simulator(Honest(), a_task(settings=settings(calls_per_hour=2)))
    state = simulator.run()
    assert state.decision == "DONE"
    assert state.now - START > timedelta(hours=2)
    held = [f for f in simulator.of(Held) if isinstance(f, Held)]
    assert {h.guard for h in held} == {"hourly"}
    assert all(h.until is not None for h in held)


@pytest.mark.req("C10")
def test_a_question_about_the_hourly_limit_that_nobody_answers_ends_with_the_hour() -> None:
    asked: list[Ask] = []

    def answer_late(ask: Ask, _state: State) -> str | None:
        assert ask.question.deadline_at is not None, "whoever is asked would be waited for without end"
        asked.append(ask)
        simulator.now = ask.question.deadline_at
        return ask.question.default

    world = Honest()
    world.answer = answer_late
    attended = replace(settings(calls_per_hour=2), attended=True)
    simulator = Simulator(world, a_task(settings=attended))
    assert simulator.run().decision == "DONE"
    assert [ask.question.name for ask in asked] == ["hourly-limit"] * 2
    assert not simulator.of(Held), "the hour is over, so nothing is left to wait for"


@pytest.mark.req("C22")
def test_a_person_can_reset_skip_modify_or_abort_a_stopped_task() -> None:
    def stalled() -> Simulator:
        simulator = Simulator(World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, "tree-0")))
        simulator.run()
        return simulator

    skipped = stalled()
    skipped.append(PersonSpoke("skip"), SessionStarted(2, "h", "0"))
    skipped.step()
    moved = skipped.of(Moved)[0]
    assert isinstance(moved, Moved)
    assert moved.forced
    modified = stalled()
    before = modified.state.turns if modified.state else 0
    modified.append(PersonSpoke("modify", "use the other module"), SessionStarted(2, "h", "0"))
    modified.run()
    assert "use the other module" in modified.turns[before].prompt
    aborted = stalled()
    aborted.append(PersonSpoke("abort"), SessionStarted(2, "h", "0"))
    state = aborted.run()
    assert state.stopped is not None
    assert state.stopped.kind == "aborted"


@pytest.mark.req("C7")
def test_a_gate_that_cannot_run_stops_before_any_turn_is_paid_for() -> None:
    def look(measure: Measure, _state: State) -> Measurement:
        measured = suite(measure.candidate, "tree-0", total=0)
        gate = measured.gates[0]
        broken = type(gate)(
            gate.name,
            gate.command,
            passed=False,
            exit_code=127,
            broken="missing command",
            output="sh: pytset: not found",
        )
        return Measurement(measured.candidate, measured.tree, (broken,))

    simulator = Simulator(World(lambda _t, _s: ok(), look))
    state = simulator.run()
    assert state.turns == 0
    assert state.decision == "BLOCKED"
    assert isinstance(simulator.events[-1].fact, TaskStopped)
    assert "pytset" in "\n".join(simulator.events[-1].fact.evidence)


@pytest.mark.req("C7", "C31")
def test_a_failing_gate_without_counted_tests_stops_before_red_and_is_measured_again_when_resumed() -> None:
    world = Honest()
    honest, failing = world.measure, [True]

    def look(measure: Measure, state: State) -> Measurement:
        if not failing:
            return honest(measure, state)
        gate = GateResult("unit", "python3 -m unittest discover", passed=False, exit_code=1, output="FAILED (errors=1)")
        return Measurement(measure.candidate, "tree-0", (gate,))

    world.measure = look
    simulator = Simulator(world)
    state = simulator.run()
    assert (state.turns, state.decision) == (0, "BLOCKED")
    assert state.stopped is not None
    assert "python3 -m pytest -q --junit-xml={junit}" in state.stopped.reason
    failing.clear()
    simulator.append(PersonSpoke("resume"), SessionStarted(2, "h", "0"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("C1")
def test_a_budget_stops_the_loop_before_the_turn_that_would_exceed_it() -> None:
    world = Honest()
    world.turn = lambda turn, state: ok(Honest.work(world, turn, state).claim, usage=Usage(usd=0.4))
    simulator = Simulator(world, a_task(settings=settings(budget_usd=1.0)))
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.kind == "limit"
    assert state.known_usd <= 1.0
    assert state.turns == 2


def test_nobody_is_asked_twice_for_the_same_thing() -> None:
    asked: list[str] = []

    def answer(ask: Ask, _state: State) -> str | None:
        asked.append(ask.question.name)
        return "abort"

    world = World(lambda _t, _s: ok(), lambda m, _s: suite(m.candidate, "tree-0"), answer)
    simulator = Simulator(world)
    assert simulator.run().stopped is not None
    assert asked == ["breaker"]


@pytest.mark.req("C1")
@pytest.mark.parametrize("kind", ["crashed", "killed", "overloaded", "timed_out", "denied"])
def test_what_a_turn_used_counts_whatever_became_of_it(kind: TurnKind) -> None:
    class Costly(Honest):
        def work(self, turn: RunAgent, state: State) -> TurnEnded:
            honest = super().work(turn, state)
            spent = Usage(900, 100, 0.25)
            if turn.turn == 1:
                return TurnEnded(kind, usage=spent)
            return msgspec.structs.replace(honest, usage=Usage())

    state = Simulator(Costly()).run()
    assert (state.usage.tokens, state.known_usd) == (1000, 0.25)
    assert state.dearest_turn == Usage(900, 100, 0.25)


NO_RUFF = GateResult(
    "lint",
    "python -m ruff check .",
    passed=False,
    exit_code=1,
    broken="No module named ruff",
    output="No module named ruff",
)


class WithoutRuff(Honest):
    """Its linter is gone in the measurements of one kind, for so many of them."""

    def __init__(self, kind: str, times: int = 1000) -> None:
        super().__init__()
        self.kind, self.times = kind, times
        self.measure = self.look_without

    def look_without(self, measure: Measure, state: State) -> Measurement:
        found = self.look(measure, state)
        if measure.kind != self.kind or not self.times:
            return found
        self.times -= 1
        return msgspec.structs.replace(found, tools=(NO_RUFF,))


@pytest.mark.req("C7")
def test_a_tool_that_cannot_run_at_the_baseline_stops_the_task_before_any_turn() -> None:
    simulator = Simulator(WithoutRuff("baseline"))
    state = simulator.run()
    assert (state.decision, state.turns) == ("BLOCKED", 0)
    assert state.stopped is not None
    assert state.stopped.reason.startswith("the lint command cannot be run: No module named ruff; ")
    assert 'qa.lint_clean = "off"' in state.stopped.reason
    assert state.stopped.evidence == ("command: python -m ruff check .", "No module named ruff")
    simulator.world = Honest()
    simulator.append(PersonSpoke("resume"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("C7", "C51")
@pytest.mark.parametrize("word", ["resume", "reset"])
def test_a_tool_that_fails_in_qa_is_nobodys_false_claim_and_rejects_nothing(word: str) -> None:
    simulator = Simulator(WithoutRuff("qa", times=1))
    state = simulator.run()
    assert (state.decision, state.main.rejections) == ("BLOCKED", 0)
    assert state.stopped is not None
    assert state.stopped.reason == "the lint command cannot be run: No module named ruff"
    assert state.stopped.evidence == ("command: python -m ruff check .", "No module named ruff")
    judged = [f for f in simulator.of(Judged) if isinstance(f, Judged)]
    assert not any(f.false_claim or f.rejected for f in judged)
    assert simulator.of(LearningRecorded) == []
    assert "QA" not in {t.stage for t in simulator.turns}
    simulator.append(PersonSpoke(word))  # type: ignore[arg-type]
    state = simulator.run()
    assert (state.decision, state.turns) == ("DONE", 5)


@pytest.mark.req("C50", "E5")
def test_a_reviewers_warning_is_an_approval_that_is_recorded() -> None:
    class Warned(Honest):
        def work(self, turn: RunAgent, _state: State) -> TurnEnded:
            said = super().work(turn, _state)
            claim = msgspec.structs.replace(said.claim, verdict="warn", summary="names are long")
            return msgspec.structs.replace(said, claim=claim) if turn.role == "qa" else said

    simulator = Simulator(Warned())
    state = simulator.run()
    assert (state.decision, state.turns) == ("DONE", 5)
    assert not any(f.false_claim for f in simulator.of(Judged) if isinstance(f, Judged))
    chronicle = TaskHistory(simulator.events)
    assert "qa approves with a warning: names are long" in chronicle.notes


@pytest.mark.req("M10")
@pytest.mark.parametrize("blockers", [(ClaimedBlocker("external", "the test database is down"),), ()])
def test_what_blocks_the_first_iteration_is_named_and_not_called_a_lack_of_progress(
    blockers: tuple[ClaimedBlocker, ...],
) -> None:
    claim = Claim(status="blocked", blockers=blockers, summary="the test database is down", source="report-file")
    world = World(lambda _t, _s: ok(claim), lambda m, _s: suite(m.candidate, "tree-0"))
    simulator = Simulator(world)
    stopped = simulator.run()
    assert stopped.stopped is not None
    assert stopped.stopped.reason == "RED is blocked: the test database is down (external)"
    assert (stopped.turns, stuck(stopped, TaskHistory(simulator.events))) == (
        1,
        "yes, blocked: RED: external: the test database is down",
    )
