"""C25: a rollback is rare, and the next prompt says what was undone, why, and what is known of the tree there is now."""

import pytest
from msgspec.structs import replace
from tests.support.simulator import Simulator, World, a_task, ok, suite

from flyball.core.health.verdict import Health
from flyball.core.model.effects import Measure, Restore, RunAgent
from flyball.core.model.events import Begun, Judged
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State

pytestmark = pytest.mark.req("C25")
ALL = tuple(f"test_{n}" for n in range(9))


class Worse(World):
    """Leaves so many tests failing in each turn, and the last number of them ever after."""

    def __init__(self, *failing: int) -> None:
        super().__init__(self.work, self.look)
        self.failing = {f"tree-{number}": count for number, count in enumerate(failing, 1)}
        self.last = failing[-1]

    def work(self, turn: RunAgent, _state: State) -> TurnEnded:
        self.tree = f"tree-{turn.turn}"
        return ok()

    def look(self, measure: Measure, _state: State) -> Measurement:
        failing = ALL[: self.failing.get(self.tree, self.last if self.tree.startswith("tree-") else 9)]
        measured = suite(measure.candidate, self.tree, failing=failing, total=20)
        output = f"{len(failing)} of the tests fail here"
        gate = GateResult("test", "pytest", passed=False, exit_code=1, counts=measured.counts, output=output)
        return replace(measured, gates=(gate,))


def simulate(*failing: int) -> Simulator:
    task = a_task(items=())
    simulator = Simulator(Worse(*failing), replace(task, workflow="quick"), "IMPLEMENT")
    simulator.run()
    return simulator


def restores(simulator: Simulator) -> list[Restore]:
    begun = (fact.effect for fact in simulator.of(Begun) if isinstance(fact, Begun))
    return [effect for effect in begun if isinstance(effect, Restore)]


def test_the_next_prompt_says_what_was_undone_and_describes_the_tree_there_is() -> None:
    simulator = simulate(2, 4, 6, 6)
    regressed = [fact for fact in simulator.of(Judged) if isinstance(fact, Judged)][2]
    assert regressed.verdict.health is Health.REGRESSING
    (restore, *_) = restores(simulator)
    turn = simulator.turns[3]
    assert turn.shown["tree"] == restore.to
    assert turn.shown["undone"].startswith("turn-3@")
    tree, measured = (part(turn.prompt, title) for title in ("The tree", "Measured on this tree"))
    assert f"It is commit {restore.to[:12]} (`flyball/tree`)" in tree
    assert f"The work of turns 2, 3 was undone: {regressed.verdict.evidence}." in tree
    assert "`git diff flyball/tree flyball/undone -- " in tree
    assert "- test_1\n" in measured
    assert "test_2" not in measured, "that test fails in the tree that is gone"
    assert "3 IMPLEMENT: 4 → 6 tests fail; undone; ended: pass rate" in part(turn.prompt, "What happened before")


def part(prompt: str, title: str) -> str:
    return prompt.partition(f"## {title}\n")[2].partition("\n\n")[0] + "\n"


def test_it_is_said_once() -> None:
    simulator = simulate(2, 4, 6, 1, 1)
    assert "was undone" in simulator.turns[3].prompt
    assert "was undone" not in simulator.turns[4].prompt


def test_a_turn_after_a_rollback_moves_only_if_it_is_better_than_the_tree_it_began_with() -> None:
    simulator = simulate(2, 4, 6, 3)
    after = [fact for fact in simulator.of(Judged) if isinstance(fact, Judged)][3]
    assert not after.progress


def test_a_tree_that_improved_is_never_rolled_back() -> None:
    """One test more is fixed in every second turn; the monitor sees one that flips."""

    class Flips(Worse):
        def look(self, measure: Measure, state: State) -> Measurement:
            turn = int(self.tree.removeprefix("tree-")) if self.tree.startswith("tree-") else 0
            failing = ("flip", "a") if turn % 2 else ("a",)
            return suite(measure.candidate, self.tree, failing=failing if turn else ("flip", "a", "b"), total=20)

    simulator = Simulator(Flips(1), replace(a_task(items=()), workflow="quick"), "IMPLEMENT")
    simulator.run()
    judged = [fact for fact in simulator.of(Judged) if isinstance(fact, Judged)]
    assert any(verdict.verdict.health is Health.FLIP_FLOPPING for verdict in judged)
    assert not any(verdict.restore_to for verdict in judged if verdict.progress or verdict.best)
