"""The kernel carries workflows that are not built yet: lanes side by side and panels with fix cycles, in any order of endings."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.core.paper import EVALUATORS, PLAN, SUBTASKS, TRACK
from tests.core.watched import Watched
from tests.support.simulator import APPROVED, DONE, Simulator, World, a_task, ok, suite

from flyball.core.claims.values import Claim
from flyball.core.fold.evolve import evolve
from flyball.core.model.batch_events import LaneClosed
from flyball.core.model.effects import Effect, Integrate, Measure, OpenLane, RunAgent, Save
from flyball.core.model.events import Begun, Ended, Event, ItemChanged, Moved, PersonSpoke, SessionStarted, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import (
    Conflicted,
    Failed,
    Integrated,
    Measured,
    NothingToIntegrate,
    Outcome,
    Saved,
    TurnEnded,
)
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Task
from flyball.core.workflows import registry


@pytest.fixture(autouse=True)
def _on_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    for workflow in (PLAN, TRACK):
        monkeypatch.setitem(registry.WORKFLOWS, workflow.name, workflow)


def plan_task(parallel: int | None = None) -> Task:
    model = a_task(items=SUBTASKS)
    return replace(model, workflow=PLAN.name, settings=replace(model.settings, parallel=parallel))


class Team(World):
    """Each subtask adds its name to its lane's tree; `conflicts` meet one the first time they are integrated."""

    def __init__(self, *conflicts: str) -> None:
        super().__init__(self.work, self.look)
        self.conflicts = set(conflicts)
        self.together = 0

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        self.together = max(self.together, sum(isinstance(e, RunAgent) for e in state.open.values()))
        if turn.copy:
            return ok(APPROVED)
        self.trees[turn.lane] = f"{self.trees[turn.lane]}+{turn.item}"
        return ok(DONE)

    def look(self, measure: Measure, _state: State) -> Measurement:
        return suite(measure.candidate, self.saved.get(measure.candidate, self.trees[measure.lane]))

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        if effect.lane in self.conflicts:
            self.conflicts.discard(effect.lane)
            return Conflicted(("README.md",), "both changed it")
        merged = super().integrate(effect)
        if isinstance(merged, Integrated):
            added = Counter(names(self.saved[effect.commit])) - Counter(names(self.saved[effect.base]))
            both = sorted((added + Counter(names(self.saved[effect.onto]))).elements())
            tree = self.saved[merged.commit] = "+".join(("tree-0", *both))
            return Integrated(merged.commit, tree)
        return merged


def names(tree: str) -> list[str]:
    """The subtasks whose work is in a tree, as often as it is in there."""
    return tree.split("+")[1:]


class NoRoomFor13(Team):
    """The workspace of one subtask cannot be made."""

    def perform(self, effect: Effect, state: State) -> Outcome:
        if effect.lane == "1.3" and effect.id.endswith("/open"):
            return Failed("1.3/open: no space left on device")
        return super().perform(effect, state)


def accepted(simulator: Simulator) -> list[str]:
    """The subtasks the main lane took, in order."""
    saves = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Save)]
    return [save.label for save in saves if save.lane == "main" and save.accepted and save.label != "report"]


@pytest.mark.parametrize(("parallel", "together"), [(1, 1), (2, 2), (4, 4)])
def test_independent_subtasks_are_worked_on_side_by_side_and_integrated_one_by_one(
    parallel: int, together: int
) -> None:
    world = Team("1.3")
    simulator = Simulator(world, plan_task(parallel), "EXECUTE")
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert names(world.saved[state.main.head]) == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert sorted(accepted(simulator)) == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert world.together == together
    closed = Counter(f.reason for f in simulator.of(LaneClosed) if isinstance(f, LaneClosed))
    assert closed == {"integrated": 5, "conflict": 1}
    assert list(state.lanes) == ["main"]
    order = accepted(simulator)
    assert order.index("1.1") < order.index("1.2"), "what depends on another comes after it"


@pytest.mark.req("C61")
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(start, start + 25), marks=[pytest.mark.slow] if start >= 50 else [])
        for start in range(0, 100, 25)
    ],
    ids=str,
)
def test_in_any_order_and_with_any_kill_nothing_is_lost_nothing_is_done_twice_and_lanes_are_independent(
    seeds: range,
) -> None:
    for seed in seeds:
        dice = random.Random(seed)
        world = Team(*dice.sample([item.id for item in SUBTASKS], dice.randrange(3)))
        task = plan_task(dice.choice((1, 2, 3, 5)))
        simulator = Watched(world, task, "EXECUTE", dice=random.Random(seed), kills=0.03)
        state = simulator.run()
        assert state.decision == "DONE", (seed, state.stopped)
        assert names(world.saved[state.main.head]) == [item.id for item in SUBTASKS], seed
        ticks = Counter(
            f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"
        )
        assert ticks == Counter(item.id for item in SUBTASKS), (seed, ticks)
        begun = Counter((f.effect.id, f.effect.attempt) for f in simulator.of(Begun) if isinstance(f, Begun))
        ended = Counter((f.id, f.attempt) for f in simulator.of(Ended) if isinstance(f, Ended))
        assert all(times <= simulator_openings(simulator, key) for (key, _), times in begun.items()), seed
        assert set(ended) <= set(begun), seed


def _spoil_tree(state: State, other: Lane, _outcome: Outcome) -> None:
    other.tree = state.checkpoints[-1].tree


def _spoil_best(state: State, other: Lane, _outcome: Outcome) -> None:
    other.best, other.tree_before = state.checkpoints[-1], state.checkpoints[-1].tree


def _spoil_last(_state: State, other: Lane, outcome: Outcome) -> None:
    assert isinstance(outcome, Measured)
    other.loop.last = outcome.measurement


def _park(_state: State, other: Lane, outcome: Outcome) -> None:
    assert isinstance(outcome, Failed)
    other.failed = OpenLane(EffectId("1.3/open"), base=Commit("base")), outcome


@pytest.mark.parametrize(
    ("kind", "spoil"), [(Saved, _spoil_tree), (Saved, _spoil_best), (Measured, _spoil_last), (Failed, _park)]
)
def test_the_watch_sees_an_outcome_of_one_lane_that_touches_another(
    monkeypatch: pytest.MonkeyPatch, kind: type[Outcome], spoil: Callable[[State, Lane, Outcome], None]
) -> None:
    def careless(state: State | None, event: Event) -> State:
        after = evolve(state, event)
        ended = event.fact
        if state is not None and isinstance(ended, Ended) and isinstance(ended.outcome, kind):
            own = state.open[ended.id].lane
            for other in (lane for lane in after.lanes.values() if lane.name != own):
                spoil(after, other, ended.outcome)
        return after

    monkeypatch.setattr("flyball.testing.simulator.evolve", careless)
    simulator = Watched(NoRoomFor13(), plan_task(3), "EXECUTE", dice=random.Random(0), kills=0)
    with pytest.raises(AssertionError, match=f"{kind.__name__} of .* touched"):
        simulator.run()


def simulator_openings(simulator: Simulator, key: str) -> int:
    """How often an id may be begun with the same attempt: once for each time its lane was opened."""
    lane = key.partition("/")[0]
    opened = sum(
        1 for f in simulator.events if getattr(f.fact, "lane", "") == lane and type(f.fact).__name__ == "LaneOpened"
    )
    return max(opened, 1)


@pytest.mark.req("C60")
def test_a_lane_whose_workspace_cannot_be_made_is_parked_and_the_others_go_on() -> None:
    simulator = Simulator(NoRoomFor13(), plan_task(2), "EXECUTE")
    state = simulator.run()
    assert (state.decision, state.stopped and state.stopped.kind) == ("BLOCKED", "error")
    assert {i.id for i in state.items if i.status == "completed"} == {"1.1", "1.2", "1.4", "1.5"}
    simulator.world.__class__ = Team
    simulator.append(SessionStarted(2, "simulated", "0"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("O51")
def test_a_question_of_one_lane_holds_only_that_lane() -> None:
    class Asking(Team):
        def work(self, turn: RunAgent, state: State) -> TurnEnded:
            if turn.item == "1.4" and not state.guidance:
                return TurnEnded("crashed", "exit 1")
            return super().work(turn, state)

    simulator = Simulator(Asking(), plan_task(2), "EXECUTE")
    state = simulator.run()
    assert state.stopped is not None
    assert (state.stopped.kind, state.stopped.question) == ("blocked", "1.4/ask/1")
    assert {i.id for i in state.items if i.status == "completed"} == {"1.1", "1.2", "1.3", "1.5"}
    simulator.append(SessionStarted(2, "simulated", "0"), PersonSpoke("modify", "use the other library"))
    assert simulator.run().decision == "DONE"


def test_a_panel_that_rejects_leads_to_a_fix_and_is_convened_again() -> None:
    refused = {"ui-ux": 2, "code-quality": 1}

    def judge(turn: RunAgent, _state: State) -> TurnEnded:
        if turn.role not in EVALUATORS:
            world.tree = f"tree-{turn.turn}"
            return ok(DONE)
        refused[turn.role] -= 1
        return ok(Claim(verdict="fail", source="report-file") if refused[turn.role] >= 0 else APPROVED)

    world = World(judge, lambda m, _s: suite(m.candidate, world.tree))
    simulator = Simulator(
        world, replace(a_task(), workflow=TRACK.name), "EXECUTE", pick=lambda under_way: under_way[-1]
    )
    state = simulator.run()
    assert state.decision == "DONE"
    moves = [f.stage for f in simulator.of(Moved) if isinstance(f, Moved)]
    assert moves == ["EVALUATE", "FIX", "EVALUATE", "FIX", "EVALUATE", "COMPLETE"]
    assert Counter(turn.role for turn in simulator.turns) == {"executor": 1, "fixer": 2, "ui-ux": 3, "code-quality": 3}


def test_a_crashed_seat_is_taken_again_and_the_others_are_not_asked_twice() -> None:
    crashed: list[str] = []

    def judge(turn: RunAgent, _state: State) -> TurnEnded:
        if turn.role == "ui-ux" and not crashed:
            crashed.append(turn.id)
            return TurnEnded("crashed", "exit 1")
        if turn.role not in EVALUATORS:
            world.tree = "tree-1"
        return ok(APPROVED if turn.role in EVALUATORS else DONE)

    world = World(judge, lambda m, _s: suite(m.candidate, world.tree))
    simulator = Simulator(world, replace(a_task(), workflow=TRACK.name), "EXECUTE")
    assert simulator.run().decision == "DONE"
    assert Counter(turn.role for turn in simulator.turns) == {"executor": 1, "ui-ux": 2, "code-quality": 1}


def test_fixes_are_bounded() -> None:
    def judge(turn: RunAgent, _state: State) -> TurnEnded:
        if turn.role not in EVALUATORS:
            world.tree = f"tree-{turn.turn}"
        return ok(Claim(verdict="fail", source="report-file") if turn.role in EVALUATORS else DONE)

    world = World(judge, lambda m, _s: suite(m.candidate, world.tree))
    simulator = Simulator(world, replace(a_task(), workflow=TRACK.name), "EXECUTE")
    stopped = simulator.run().stopped
    assert stopped == TaskStopped("blocked", "ui-ux, code-quality failed after 3 fixes", ())
