"""C24: what a trick did to protected files is undone before the next turn, and nothing is built on a tree that holds one."""

import pytest
from msgspec.structs import replace
from tests.support.builders import with_changes
from tests.support.simulator import APPROVED, DONE, START, Honest, Simulator, a_reviewed_task, ok

from flyball.core.claims.values import Claim, ProtectedChange
from flyball.core.loop.ladder import _two_back
from flyball.core.loop.opening import ALONE
from flyball.core.model.effects import Ask, Measure, PutBack, Recall, RunAgent
from flyball.core.model.events import Begun, Consented, Ended, Fact, Judged
from flyball.core.model.measurement import Measurement, Trick
from flyball.core.model.outcomes import Mended, TurnEnded
from flyball.core.model.state import Checkpoint, State
from flyball.core.model.task import Commit
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.banner import banner

pytestmark = pytest.mark.req("C24")

TESTS = "tests/test_new.py"
WEAKENED = Trick("test-weakened", TESTS, "1 of 1 assertion gone")
FORCED = Trick("exit-forced", "test", "the process ended with 0 before its tests did")


class Trickster(Honest):
    """Honest, but that its first turns of GREEN, or all of them, are caught with tricks."""

    def __init__(self, *tricks: Trick, times: int = 1, claim: Claim = DONE, verdict: str = "pass") -> None:
        super().__init__()
        self.tricks, self.times, self.claim, self.verdict = tricks, times, claim, verdict
        self.allowed: set[str] = set()

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        if turn.purpose == "consent":
            return ok(replace(APPROVED, verdict=self.verdict))
        honest = super().work(turn, state)
        if turn.stage == "GREEN" and self.times > 0:
            self.times -= 1
            self.tree += "-tricked"
            return ok(self.claim)
        return honest

    def look(self, measure: Measure, state: State) -> Measurement:
        measured = super().look(measure, state)
        if not self.tree.endswith("-tricked") or set(measure.consented) >= {t.path for t in self.tricks}:
            return measured
        clean = self.tree.removesuffix("-tricked")
        paths = tuple(t.path for t in self.tricks if "/" in t.path)
        return replace(
            measured, tree=clean, tricks=self.tricks, green_runs=0, put_back=paths, mended=clean if paths else ""
        )


def story(simulator: Simulator) -> list[str]:
    """What was done, by id."""
    return [
        e.fact.effect.id
        for e in simulator.events
        if isinstance(e.fact, Begun) and not isinstance(e.fact.effect, Recall)
    ]


def facts(simulator: Simulator, kind: type[Fact]) -> list[Fact]:
    return simulator.of(kind)


def effects(simulator: Simulator) -> list[PutBack]:
    begun = (e.fact.effect for e in simulator.events if isinstance(e.fact, Begun))
    return [effect for effect in begun if isinstance(effect, PutBack)]


def test_a_caught_trick_is_put_back_before_the_next_turn_and_honest_work_ends_done() -> None:
    world = Trickster(WEAKENED)
    simulator = Simulator(world)
    assert simulator.run().decision == "DONE"
    done = story(simulator)
    place = done.index("put-back/1")
    assert done[place - 1 : place + 2] == ["measure/2", "put-back/1", "turn/3"]
    ended = next(e.fact.outcome for e in simulator.events if isinstance(e.fact, Ended) and e.fact.id == "put-back/1")
    assert isinstance(ended, Mended)
    assert (ended.tree, ended.paths) == ("tree-2", (TESTS,))
    prompt = simulator.turns[2].prompt
    assert f"put back as they were accepted: {TESTS}. All other changes of that turn were kept." in prompt
    assert WEAKENED.detail in prompt
    assert "put back" not in simulator.turns[3].prompt


def test_the_trick_is_what_is_missing_not_the_runs_it_spoilt() -> None:
    simulator = Simulator(Trickster(WEAKENED))
    simulator.run()
    judged = [f for f in facts(simulator, Judged) if isinstance(f, Judged) and f.stage == "GREEN"]
    assert judged[0].gate_1.missing == (f"{TESTS}: 1 of 1 assertion gone",)
    assert [f.false_claim for f in judged] == [True, False]


def test_a_tree_that_holds_a_trick_is_never_the_best_one() -> None:
    simulator = Simulator(Trickster(WEAKENED))
    while not (simulator.state and simulator.state.main.put_back):
        simulator.step()
    state = simulator.state
    assert state.main.best is not None
    assert (state.main.best.label, state.main.loop.history.best) == ("RED", None)
    assert [(c.label, c.tricked) for c in state.checkpoints[-2:]] == [("turn-2", True), ("put-back-1", False)]
    judged = [f for f in facts(simulator, Judged) if isinstance(f, Judged)][-1]
    assert not judged.best


def test_a_trick_outside_the_protected_files_leaves_nothing_to_put_back_and_a_doubtful_tree() -> None:
    simulator = Simulator(Trickster(FORCED))
    assert simulator.run().decision == "DONE"
    assert effects(simulator) == []
    both = Simulator(Trickster(WEAKENED, FORCED))
    both.run()
    assert [(effect.paths, effect.doubtful) for effect in effects(both)] == [((TESTS,), True)]


def test_two_steps_back_lead_over_trees_that_hold_a_trick() -> None:
    def at(label: str, *, tricked: bool = False) -> Checkpoint:
        return Checkpoint(label, Commit(label), label, START, label == "RED", "GREEN", tricked=tricked)

    simulator = Simulator(Honest())
    simulator.run()
    assert simulator.state is not None
    kept = (at("RED"), at("turn-1"), at("turn-2", tricked=True), at("turn-3"), at("turn-4", tricked=True), at("turn-5"))
    state = with_changes(simulator.state, stage="GREEN", checkpoints=kept)
    found = _two_back(state, state.main)
    assert found is not None
    assert found.label == "turn-1"


def wants(path: str = TESTS) -> Claim:
    return replace(DONE, protected_changes=(ProtectedChange(path, "the test was wrong"),))


@pytest.mark.req("C42")
def test_what_the_reviewer_consents_to_is_not_put_back() -> None:
    simulator = Simulator(Trickster(WEAKENED, claim=wants()), a_reviewed_task())
    assert simulator.run().decision == "DONE"
    assert effects(simulator) == []
    assert [f.allowed for f in facts(simulator, Consented) if isinstance(f, Consented)] == [True]
    assert simulator.state is not None
    assert not any(c.tricked for c in simulator.state.checkpoints)


@pytest.mark.req("C42")
def test_what_the_reviewer_refuses_is_put_back_after_the_refusal() -> None:
    simulator = Simulator(Trickster(WEAKENED, claim=wants(), verdict="fail"), a_reviewed_task())
    assert simulator.run().decision == "DONE"
    done = story(simulator)
    place = done.index("put-back/1")
    assert (done[place - 1], done[place + 1]) == ("turn/3", "turn/4")
    assert simulator.turns[2].purpose == "consent"


@pytest.mark.req("C42")
def test_consent_to_one_file_leaves_it_and_puts_the_other_back() -> None:
    other = Trick("test-config-changed", "tests/conftest.py", "it was added")
    simulator = Simulator(Trickster(WEAKENED, other, claim=wants()), a_reviewed_task())
    simulator.run()
    (effect,) = effects(simulator)
    assert (effect.paths, effect.allowed) == (("tests/conftest.py",), (TESTS,))


@pytest.mark.req("C49")
def test_the_author_cannot_consent_to_a_change_of_its_own_and_is_not_asked() -> None:
    simulator = Simulator(Trickster(WEAKENED, claim=wants()))
    assert simulator.run().decision == "DONE"
    assert not [turn for turn in simulator.turns if turn.purpose == "consent"]
    assert [(f.allowed, f.by) for f in facts(simulator, Consented) if isinstance(f, Consented)] == [(False, ALONE)]
    assert [effect.paths for effect in effects(simulator)] == [(TESTS,)]


@pytest.mark.req("C49")
def test_a_reviewer_that_turns_out_to_be_the_authors_model_gives_no_consent() -> None:
    class OneModel(Trickster):
        def work(self, turn: RunAgent, state: State) -> TurnEnded:
            return replace(super().work(turn, state), model="sonnet")

    simulator = Simulator(OneModel(WEAKENED, claim=wants()), a_reviewed_task())
    assert simulator.run().decision == "DONE"
    assert [f.allowed for f in facts(simulator, Consented) if isinstance(f, Consented)] == [False]


def blocked(*, answer: str | None = None) -> Simulator:
    world = Trickster(WEAKENED, times=100)
    answers = iter([answer] if answer else [])

    def reply(ask: Ask, _state: State) -> str | None:
        world.times = 0
        return next(answers, ask.question.default)

    world.answer = reply
    simulator = Simulator(world)
    simulator.run()
    return simulator


@pytest.mark.req("C22")
def test_when_the_loop_ends_all_the_same_what_was_undone_leads_the_reason_and_a_rollback_is_offered() -> None:
    simulator = blocked()
    state = simulator.state
    assert state is not None
    assert state.stopped is not None
    assert state.decision == "BLOCKED"
    assert state.stopped.reason.startswith("A change of a protected file was undone in iteration ")
    assert f"{TESTS}: 1 of 1 assertion gone. GREEN makes no progress: " in state.stopped.reason
    (asked,) = state.questions.values()
    assert [o.key for o in asked.question.options] == ["reset", "skip", "abort", "modify", "rollback"]
    assert f"flyball rollback {state.task.id} --to last-good" in asked.question.options[-1].meaning
    lines = banner(state, TaskHistory(simulator.events)).splitlines()
    assert "stopped: A change of a protected file was undone in" in lines[0]
    assert any(line.strip().startswith(f"flyball rollback {state.task.id} --to last-good") for line in lines)
    assert state.main.tree == "tree-2" or not state.main.tree.endswith("-tricked")


@pytest.mark.req("C22")
@pytest.mark.parametrize("answer", ["rollback", "reset"])
def test_the_choices_lead_on_when_they_are_taken(answer: str) -> None:
    simulator = blocked(answer=answer)
    assert simulator.state is not None
    assert simulator.state.decision == "DONE"
    restores = [e for e in story(simulator) if e.startswith("restore/")]
    asked = story(simulator).index("ask/1")
    assert (f"restore/{len(restores)}" in story(simulator)[asked:]) is (answer == "rollback")


def test_a_stage_that_moved_honestly_since_is_not_reproached_with_the_trick() -> None:
    simulator = Simulator(Trickster(WEAKENED))
    simulator.run()
    assert simulator.state is not None
    assert simulator.state.main.loop.caught is None
