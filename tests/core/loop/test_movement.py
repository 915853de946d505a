"""C15, C40: an agent that works on is not stopped, whatever kind of gate measures it, and one that goes nowhere is."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.advice.stream import GateOutput, StreamObservation, advise
from flyball.core.claims.values import Claim
from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.verdict import Health, Thresholds
from flyball.core.model.effects import Ask, Measure, RunAgent
from flyball.core.model.events import Begun, Judged
from flyball.core.model.measurement import Counts, GateResult, Measurement, Noticed
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State

PARTS = ("alpha", "beta", "gamma", "delta", "epsilon")
WORKING = Claim(status="in_progress", summary="parts are left", source="report-file")
NEXT_PART = "{} is missing"
QUIET = "not finished"
Look = Callable[[str, str, int], Measurement]


def by_script(says: str) -> Look:
    """A gate that counts nothing: its output is all there is."""

    def look(candidate: str, tree: str, made: int) -> Measurement:
        if made >= len(PARTS):
            return Measurement(candidate, tree, gates=(GateResult("check", "sh check", passed=True),), green_runs=2)
        output = says.format(PARTS[made])
        gate = GateResult("check", "sh check", passed=False, exit_code=1, output=output)
        return Measurement(candidate, tree, gates=(gate,), signature=signature(output))

    return look


def by_tests(candidate: str, tree: str, made: int) -> Measurement:
    failing = tuple(f"test_{part}" for part in PARTS[made:])
    measured = suite(candidate, tree, failing=failing)
    return replace(measured, signature=signature("", failing) if failing else None)


def by_tests_and_script(candidate: str, tree: str, made: int) -> Measurement:
    """The tests that are counted pass all the time; what moves is the script."""
    counted = GateResult("test", "pytest", passed=True, counts=Counts(total=3, passing=3))
    measured = by_script(NEXT_PART)(candidate, tree, made)
    return replace(measured, gates=(counted, *measured.gates), counts=Counts(total=3, passing=3))


def by_tests_that_load_at_the_end(candidate: str, tree: str, made: int) -> Measurement:
    """A test file that imports every part cannot be loaded before the last one is there."""
    failing = ("tests/test_parts.py",) if made < len(PARTS) else ()
    measured = suite(candidate, tree, failing=failing)
    return replace(measured, uncounted=bool(failing), signature=signature("", failing) if failing else None)


class OnePartATurn(World):
    """Makes one of five parts a turn and reports that it is not finished until it is; `rest` turns in between change only the tree."""

    def __init__(self, look: Look, rest: int = 0, claim: Claim = WORKING) -> None:
        super().__init__(self.work, self.measure)
        self.look, self.rest, self.claim = look, rest, claim
        self.changed: tuple[str, ...] = ("parts.py",)
        self.worked = 0

    @property
    def made(self) -> int:
        return self.worked // (self.rest + 1)

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        if turn.copy:
            return ok(APPROVED)
        self.worked += 1
        self.tree = f"tree-{turn.turn}"
        return ok(DONE if self.made >= len(PARTS) else self.claim)

    def measure(self, measure: Measure, _state: State) -> Measurement:
        measured = self.look(measure.candidate, self.tree, self.made)
        return replace(measured, changed=self.changed if self.worked else ())


def quick(world: World) -> tuple[Simulator, State]:
    simulator = Simulator(world, replace(a_task(items=()), workflow="quick"), "IMPLEMENT")
    return simulator, simulator.run()


def verdicts(simulator: Simulator) -> list[Judged]:
    return [fact for fact in simulator.of(Judged) if isinstance(fact, Judged)]


@pytest.mark.req("C15")
@pytest.mark.parametrize(
    "look",
    [by_tests, by_tests_and_script, by_tests_that_load_at_the_end, by_script(NEXT_PART), by_script(QUIET)],
    ids=[
        "counts tests",
        "counts tests beside a script",
        "cannot load its tests",
        "names the next part",
        "says nothing",
    ],
)
def test_one_of_five_parts_a_turn_is_done_whatever_the_gate_says(look: Look) -> None:
    simulator, state = quick(OnePartATurn(look))
    assert state.decision == "DONE"
    assert state.turns == len(PARTS) + 1
    assert {verdict.verdict.health for verdict in verdicts(simulator)} == {Health.PROGRESSING}
    assert not any(verdict.restore_to or verdict.fresh_context for verdict in verdicts(simulator))


@pytest.mark.req("C15")
def test_other_output_is_movement_even_if_the_agent_reports_nothing() -> None:
    _, state = quick(OnePartATurn(by_script(NEXT_PART), claim=Claim()))
    assert state.decision == "DONE"


@pytest.mark.req("C15")
@pytest.mark.parametrize(("rest", "decision"), [(1, "DONE"), (2, "BLOCKED")], ids=["ten turns", "fifteen turns"])
def test_unchanged_output_is_no_strike_for_ten_turns_in_a_row_and_then_it_is(rest: int, decision: str) -> None:
    simulator, state = quick(OnePartATurn(by_script(QUIET), rest))
    assert state.decision == decision
    assert all(verdict.verdict.health is Health.PROGRESSING for verdict in verdicts(simulator)[:10])


@pytest.mark.req("C15")
def test_groundwork_under_the_same_failing_tests_is_no_strike_for_ten_turns_and_is_kept() -> None:
    simulator, state = quick(OnePartATurn(by_tests, rest=9))
    assert state.decision == "DONE"
    assert not any(verdict.rung or verdict.restore_to for verdict in verdicts(simulator))
    simulator, _ = quick(OnePartATurn(by_tests, rest=19))
    assert [bool(verdict.rung) for verdict in verdicts(simulator)[:11]] == [False] * 10 + [True]
    assert not any(verdict.restore_to for verdict in verdicts(simulator)[:11]), "the latest tree is as good as any"


@pytest.mark.req("C15")
def test_tests_that_are_written_before_their_code_are_no_regression_while_no_fewer_pass() -> None:
    def look(candidate: str, tree: str, made: int) -> Measurement:
        names = tuple(f"test_{part}" for part in PARTS[:made]) if made < len(PARTS) else ()
        counts = Counts(total=3 + len(names), passing=3, failing=len(names))
        named = signature("", names) if names else None
        return replace(suite(candidate, tree, failing=names), counts=counts, signature=named)

    simulator, state = quick(OnePartATurn(look))
    assert state.decision == "DONE"
    assert {verdict.verdict.health for verdict in verdicts(simulator)} == {Health.PROGRESSING}


@pytest.mark.req("C15")
@pytest.mark.parametrize("claim", [Claim(status="complete", exit_signal=True, source="report-file"), Claim()])
def test_the_same_failing_tests_are_a_strike_where_the_agent_does_not_say_that_it_is_at_work(claim: Claim) -> None:
    simulator, state = quick(OnePartATurn(by_tests, rest=9, claim=claim))
    assert state.decision == "BLOCKED"
    assert verdicts(simulator)[1].verdict.health is Health.STALLED


@pytest.mark.req("C15")
def test_notes_and_documents_are_no_groundwork() -> None:
    world = OnePartATurn(by_tests, rest=9)
    world.changed = ("notes.txt", "docs/plan.md")
    _, state = quick(world)
    assert state.decision == "BLOCKED"


@pytest.mark.req("C15")
def test_where_fewer_tests_pass_each_turn_the_agents_word_counts_for_nothing() -> None:
    def look(candidate: str, tree: str, made: int) -> Measurement:
        names = tuple(f"test_{part}" for part in PARTS[:made])
        counts = Counts(total=9, passing=9 - made, failing=made)
        return replace(suite(candidate, tree, failing=names), counts=counts, signature=signature("", names))

    simulator, _ = quick(OnePartATurn(look))
    assert Health.REGRESSING in {verdict.verdict.health for verdict in verdicts(simulator)[:4]}


@pytest.mark.req("C15")
def test_a_new_output_starts_the_ten_turns_anew() -> None:
    _, state = quick(OnePartATurn(by_script(NEXT_PART), rest=6))
    assert state.decision == "DONE"


@pytest.mark.req("C15")
def test_outputs_that_take_turns_are_no_movement() -> None:
    def look(candidate: str, tree: str, made: int) -> Measurement:
        return by_script(NEXT_PART)(candidate, tree, made % 2)

    simulator, state = quick(OnePartATurn(look, rest=0))
    assert state.decision == "BLOCKED"
    assert state.turns <= 20
    assert verdicts(simulator)[-1].verdict.health is not Health.PROGRESSING


@pytest.mark.req("C15")
def test_unchanged_output_is_a_strike_where_the_agent_says_that_it_is_done() -> None:
    claim = Claim(status="complete", exit_signal=True, source="report-file")
    simulator, state = quick(OnePartATurn(by_script(QUIET), rest=9, claim=claim))
    assert state.decision == "BLOCKED"
    assert verdicts(simulator)[1].verdict.health is Health.STALLED


@pytest.mark.req("C15")
def test_an_agent_without_a_report_does_not_claim_to_be_finished() -> None:
    _, state = quick(OnePartATurn(by_script(QUIET), claim=Claim()))
    assert state.decision == "DONE"
    _, state = quick(OnePartATurn(by_script(QUIET), rest=9, claim=Claim()))
    assert state.decision == "BLOCKED", "for ten turns in a row and no more"


@pytest.mark.req("C15")
def test_without_counts_the_latest_tree_is_the_best_so_nothing_is_rolled_back() -> None:
    simulator, _ = quick(OnePartATurn(by_script(QUIET), rest=9))
    judged = verdicts(simulator)
    assert any(verdict.rung for verdict in judged)
    assert all(verdict.best for verdict in judged)
    assert not any(verdict.restore_to for verdict in judged)


@pytest.mark.req("C15")
@pytest.mark.req("C19")
def test_groundwork_before_the_first_test_that_notices_it_is_done() -> None:
    def look(candidate: str, tree: str, made: int) -> Measurement:
        noticed = Noticed("new-test" if made >= len(PARTS) else "nothing", files=("parts.py",))
        return replace(suite(candidate, tree), noticed=noticed)

    simulator, state = quick(OnePartATurn(look))
    assert state.decision == "DONE"
    assert not any(verdict.rung for verdict in verdicts(simulator))


@pytest.mark.req("C15")
@pytest.mark.req("C19")
def test_code_and_its_test_in_turns_is_no_flip_flop() -> None:
    def look(candidate: str, tree: str, made: int) -> Measurement:
        noticed = Noticed("nothing" if made % 2 else "new-test", files=("parts.py",))
        return replace(suite(candidate, tree), noticed=noticed if made < len(PARTS) else Noticed("new-test"))

    simulator, state = quick(OnePartATurn(look))
    assert state.decision == "DONE"
    assert not any(verdict.rung for verdict in verdicts(simulator))


def questions(simulator: Simulator) -> list[str]:
    begun = (fact for fact in simulator.of(Begun) if isinstance(fact, Begun))
    return [fact.effect.question.name for fact in begun if isinstance(fact.effect, Ask)]


@pytest.mark.req("C40")
def test_a_green_gate_and_a_turn_that_says_there_is_more_to_do_are_followed_by_the_next_turn() -> None:
    simulator, state = quick(OnePartATurn(lambda candidate, tree, _made: suite(candidate, tree), rest=3))
    assert state.decision == "DONE"
    assert questions(simulator) == []
    assert not any(turn.purpose for turn in simulator.turns)


@pytest.mark.req("C40")
@pytest.mark.parametrize(
    ("claim", "changes"), [(WORKING, False), (Claim(), True)], ids=["it changes nothing", "it gives no report"]
)
def test_silence_or_idleness_under_a_green_gate_is_asked_about_after_two_turns(claim: Claim, *, changes: bool) -> None:
    class Silent(World):
        def __init__(self) -> None:
            super().__init__(self.work, lambda measure, _state: suite(measure.candidate, self.tree))

        def work(self, turn: RunAgent, _state: State) -> TurnEnded:
            self.tree = f"tree-{turn.turn if changes or turn.turn == 1 else 1}"
            return ok(claim)

    simulator, state = quick(Silent())
    assert state.decision == "BLOCKED"
    assert "confirm" in {turn.purpose for turn in simulator.turns[:4]}
    assert questions(simulator)[0] == "no-exit-signal"


@pytest.mark.req("C40")
def test_not_finished_yet_is_an_answer_to_the_question_for_the_signal() -> None:
    """Two silent turns, then the answer that there is more to do, then the work goes on."""

    class Answers(World):
        def __init__(self) -> None:
            super().__init__(self.work, lambda measure, _state: suite(measure.candidate, self.tree))

        def work(self, turn: RunAgent, _state: State) -> TurnEnded:
            if turn.copy:
                return ok(APPROVED)
            if turn.purpose == "confirm":
                return ok(WORKING)
            self.tree = f"tree-{turn.turn}"
            return ok(Claim() if turn.turn < 3 else WORKING if turn.turn < 6 else DONE)

    simulator, state = quick(Answers())
    assert state.decision == "DONE"
    assert questions(simulator) == ["no-exit-signal"]


def advised(outputs: list[str], **thresholds: int) -> list[Health]:
    history, found = History(), []
    for number, output in enumerate(outputs, 1):
        line = StreamObservation(
            iteration=number,
            tree=f"tree-{number}",
            gates=(GateOutput("check", output=output),),
            claim={"status": "in_progress"},
        )
        history, advice = advise(history, line, Thresholds(**thresholds))
        found.append(advice.health)
    return found


@pytest.mark.req("C15")
@pytest.mark.req("M33")
def test_loops_that_are_not_ours_get_the_same_rule() -> None:
    assert set(advised([NEXT_PART.format(part) for part in PARTS])) == {Health.PROGRESSING}
    assert advised([QUIET] * 11) == [Health.PROGRESSING] * 10 + [Health.STALLED]
    assert advised([QUIET] * 4, unchanged_output=2)[-1] is Health.STALLED
