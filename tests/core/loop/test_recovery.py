"""The recovery ladder: which rung comes next for each health, and when there is none."""

import pytest
from msgspec.structs import replace
from tests.support.builders import a_state, with_changes
from tests.support.simulator import START, Honest, Simulator, a_task, ok, suite

from flyball.core.claims.values import Claim
from flyball.core.health.breaker import CLOSED, Breaker, Strikes
from flyball.core.health.history import Ending, History, Result
from flyball.core.health.monitor import follow
from flyball.core.health.observation import Observation
from flyball.core.health.table import Own
from flyball.core.health.verdict import Confidence, Health, Remedy, Trend, Verdict
from flyball.core.loop.gates import Weighed
from flyball.core.loop.judge import judge
from flyball.core.loop.ladder import Recovery, are_rungs_used, recover
from flyball.core.model.effects import RunAgent
from flyball.core.model.measurement import GateVerdict, Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Checkpoint, Lane, State
from flyball.core.model.task import AgentChoice, Commit, EffectId, Gate, Settings

NOW = Measurement("turn-4", "t4")
SEEN = Observation(iteration=4, context=3, fine="the failure", summary="a test fails")
REMEDIES = {
    Health.PROGRESSING: Remedy.CONTINUE,
    Health.STALLED: Remedy.FRESH_CONTEXT,
    Health.REGRESSING: Remedy.ROLLBACK,
    Health.FLIP_FLOPPING: Remedy.ROLLBACK,
    Health.BLOCKED: Remedy.ASK,
}


def point(label: str, *, accepted: bool = False) -> Checkpoint:
    return Checkpoint(label, Commit(label), label, START, accepted, "GREEN")


def state(*rungs: str, fallback: tuple[str, ...] = ()) -> State:
    chosen = Settings(
        gates=(Gate("test", "t"),),
        roles={"default": AgentChoice("a"), "tester": AgentChoice("a", fallback=fallback)},
    )
    kept = (point("RED", accepted=True), *(point(f"turn-{n}") for n in (1, 2, 3, 4)))
    return a_state(a_task(settings=chosen), START, "GREEN", rungs=rungs, checkpoints=kept, best=kept[1])


def next_rung(known: State, health: Health, remedy: Remedy | None = None, *, stay: bool = False) -> Recovery:
    verdict = Verdict(health, "", remedy or REMEDIES[health], Confidence.HIGH, Trend.STABLE, "evidence")
    return recover(known, known.main, "tester", verdict, NOW, stay=stay)


@pytest.mark.req("O50")
@pytest.mark.parametrize(
    ("rungs", "fallback", "expected"),
    [
        ((), (), "fresh-context"),
        (("fresh-context",), ("b",), "other-agent"),
        (("fresh-context",), (), "smaller-scope"),
        (("fresh-context", "other-agent"), ("b",), "smaller-scope"),
        (("fresh-context", "smaller-scope"), (), ""),
    ],
)
def test_a_stall_climbs_every_rung_once_from_the_best_tree(
    rungs: tuple[str, ...], fallback: tuple[str, ...], expected: str
) -> None:
    found = next_rung(state(*rungs, fallback=fallback), Health.STALLED)
    assert (found.rung, found.spent) == (expected, not expected)
    assert found.restore_to == ("turn-1" if expected else "")


@pytest.mark.req("O50")
@pytest.mark.parametrize(
    ("health", "rungs", "rung", "restore_to"),
    [
        (Health.REGRESSING, (), "rollback", "turn-1"),
        (Health.REGRESSING, ("rollback",), "rollback", "turn-1"),
        (Health.REGRESSING, ("rollback", "rollback"), "", ""),
        (Health.REGRESSING, ("rollback", "rollback-two"), "rollback", "turn-1"),
        (Health.REGRESSING, ("fresh-context", "smaller-scope"), "rollback", "turn-1"),
        (Health.FLIP_FLOPPING, (), "rollback-two", "turn-2"),
        (Health.FLIP_FLOPPING, ("rollback-two",), "", ""),
        (Health.FLIP_FLOPPING, ("rollback", "rollback"), "rollback-two", "turn-2"),
        (Health.BLOCKED, (), "", ""),
    ],
)
def test_other_healths_roll_back_at_most_twice_and_then_escalate(
    health: Health, rungs: tuple[str, ...], rung: str, restore_to: str
) -> None:
    found = next_rung(state(*rungs), health)
    assert (found.rung, found.restore_to, found.spent) == (rung, restore_to, not rung)


@pytest.mark.req("O50", "C22")
def test_a_breaker_at_its_threshold_makes_a_new_failure_stalled_whose_rung_leaves_the_tree_alone() -> None:
    seen = replace(SEEN, iteration=1)
    assert follow(History(), seen)[1].health is Health.PROGRESSING
    _, verdict = follow(History(), seen, own=Own(Breaker(no_progress=2), Strikes(2, 3)))
    assert (verdict.health, verdict.evidence) == (Health.STALLED, "no progress in 2 iterations")
    assert next_rung(state(), Health.STALLED, stay=True) == Recovery("fresh-context")
    assert next_rung(state(), Health.PROGRESSING) == Recovery()


@pytest.mark.req("M18")
def test_when_the_monitor_says_stop_no_rung_is_tried() -> None:
    assert next_rung(state(), Health.STALLED, Remedy.STOP).spent


@pytest.mark.req("O50")
def test_a_flip_flop_that_was_not_remedied_asks_with_both_changes_shown() -> None:
    world = Honest()
    honest_turn, honest_look = world.turn, world.measure

    def work(turn: RunAgent, known: State) -> TurnEnded:
        if turn.stage == "RED":
            return honest_turn(turn, known)
        world.tree = f"flip-{turn.turn % 2}"
        return ok()

    world.turn = work
    world.measure = lambda m, s: (
        honest_look(m, s)
        if m.kind in {"baseline", "red"}
        else suite(m.candidate, world.tree, failing=("a",) if world.tree == "flip-0" else ("b",))
    )
    stopped = Simulator(world).run().stopped
    assert stopped is not None
    shown = [line for line in stopped.evidence if "flyball diff 001-it-works --turn " in line]
    assert len(shown) == 2


@pytest.mark.req("O50", "M18")
def test_a_failure_that_every_remedy_left_behind_and_a_new_context_meets_first_is_not_tried_again() -> None:
    ended = tuple(Ending(n, ("the failure",)) for n in (1, 2))
    last = (Result(3, 3, failure="another"),)
    used = are_rungs_used(
        state("fresh-context", "smaller-scope"), state("fresh-context", "smaller-scope").main, "tester"
    )
    assert used
    assert not are_rungs_used(state("fresh-context"), state("fresh-context").main, "tester")

    def verdict(endings: tuple[Ending, ...], *, rungs_used: bool) -> Verdict:
        history = History(3, 3, last, endings=endings)
        return follow(history, replace(SEEN, context=3), own=Own(CLOSED, Strikes(), rungs_used))[1]

    found = verdict(ended, rungs_used=True)
    assert found.health is Health.STALLED
    assert "a test fails" in found.evidence
    assert verdict(ended, rungs_used=False).health is Health.PROGRESSING
    assert verdict(ended[:1], rungs_used=True).health is Health.PROGRESSING


@pytest.mark.req("O50")
@pytest.mark.parametrize(
    ("kept", "to"),
    [
        ((), "best"),
        (("RED*",), "RED"),
        (("RED*", "1"), "RED"),
        (("RED*", "1", "2"), "RED"),
        (("RED*", "1", "2", "3"), "1"),
        (("RED*", "GREEN*", "1"), "GREEN"),
        (("RED*", "GREEN*", "1", "2", "3"), "1"),
        (("RED*", "other", "GREEN*", "other", "1", "2"), "GREEN"),
    ],
)
def test_two_batches_back_is_never_behind_the_last_accepted_tree_nor_in_another_stage(
    kept: tuple[str, ...], to: str
) -> None:
    points = tuple(
        replace(point(name.rstrip("*"), accepted=name.endswith("*")), stage="RED" if name == "other" else "GREEN")
        for name in kept
    )
    known = with_changes(state(), checkpoints=points, best=point("best"))
    assert next_rung(known, Health.FLIP_FLOPPING).restore_to == to


@pytest.mark.req("O50")
@pytest.mark.parametrize("best", [None, point(NOW.candidate)], ids=["no tree was better", "this tree is the best"])
def test_without_a_better_tree_a_remedy_starts_from_the_one_there_is(best: Checkpoint | None) -> None:
    found = next_rung(with_changes(state(), best=best), Health.STALLED)
    assert (found.rung, found.restore_to) == ("fresh-context", "")


@pytest.mark.req("M18", "O50")
@pytest.mark.parametrize(
    ("entry", "best", "score", "is_best"),
    [
        (None, None, 1.0, True),
        (5.0, None, 5.0, False),
        (5.0, None, 6.0, True),
        (5.0, 7.0, 6.0, False),
        (None, 7.0, 7.0, False),
        (None, 7.0, 8.0, True),
    ],
)
def test_the_best_tree_is_one_that_beats_the_best_so_far_or_what_the_stage_began_with(
    entry: float | None, best: float | None, score: float, *, is_best: bool
) -> None:
    def weigh(_state: State, _lane: Lane, measured: Measurement, _claim: Claim) -> Weighed:
        return Weighed(GateVerdict(False, "c", ("m",)), False, float(measured.tree))

    began = None if entry is None else Measurement("entry", str(entry))
    known = state()
    known.main.loop = replace(known.main.loop, entry=began, best_score=best)
    turn = RunAgent(EffectId("turn/4"), "tester", "GREEN", "a", "", "", 4, 4)
    judged = judge(known, known.main, weigh, turn, ok(), Measurement("turn-4", str(score)))
    assert (judged.best, judged.score, judged.iteration) == (is_best, score, known.main.loop.iteration + 1)
