"""The recovery ladder of a plan: each rung remedies what it is for, and when none is left a person gets the whole story."""

import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.core.watched import Watched
from tests.core.workflows.plan.world import SUBTASKS, Team, a_plan_task, ids, rejecting, simulated
from tests.support.builders import Story
from tests.support.simulator import Simulator

from flyball.core.claims.values import Claim, ClaimedBlocker, Rejection
from flyball.core.model.batch_events import (
    BatchBegun,
    BatchesUndone,
    BatchSettled,
    LaneClosed,
    LaneOpened,
    SubtaskDeferred,
    SubtaskReturned,
)
from flyball.core.model.effects import RunAgent, Save
from flyball.core.model.events import Begun, ItemChanged, Judged, LearningRecorded, Moved, PersonSpoke
from flyball.core.model.outcomes import Conflicted, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec, Commit, Item, Task
from flyball.core.workflows.plan.grammar import render


def with_two_agents(task: Task) -> Task:
    roles = {"default": AgentChoice("first", fallback=("second",))}
    agents = (AgentSpec("first"), AgentSpec("second"))
    return replace(task, agents=agents, settings=replace(task.settings, roles=roles))


def stubborn(is_remedied: Callable[[RunAgent], bool]) -> Team:
    """A world whose reviewer rejects 2.1 for the same reason until a turn on it is made as `is_remedied` wants it."""
    world = Team()
    made: list[RunAgent] = []

    def say(turn: RunAgent, state: State) -> Claim | None:
        if turn.item == "2.1":
            made.append(turn)
        reviewing = turn.role == "reviewer" and turn.stage == "REVIEW" and "2.1" in state.lanes
        return rejecting(**{"2_1": "an empty order is not read"}) if reviewing and not is_remedied(made[-1]) else None

    world.say = say
    return world


def batch_verdicts(simulator: Simulator) -> list[tuple[str, str]]:
    return [(f.verdict.health, f.rung) for f in simulator.of(Judged) if isinstance(f, Judged) and f.batch]


def last_lane(simulator: Simulator, item: str) -> LaneOpened:
    return [f for f in simulator.of(LaneOpened) if isinstance(f, LaneOpened) and f.lane == item][-1]


@pytest.mark.req("O50")
def test_a_stall_is_remedied_by_a_fresh_context_with_the_lesson_and_without_the_work_that_failed() -> None:
    world = stubborn(lambda turn: "An earlier attempt:" in turn.prompt)
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert ("STALLED", "fresh-context") in batch_verdicts(simulator)
    opened = last_lane(simulator, "2.1")
    assert (opened.start, opened.rungs) == ("", ("fresh-context",))
    assert "an empty order is not read" in opened.lesson


@pytest.mark.req("O50")
def test_a_stall_is_remedied_by_another_agent_where_one_is_set() -> None:
    simulator = simulated(stubborn(lambda turn: turn.agent == "second"), with_two_agents(a_plan_task()))
    assert simulator.run().decision == "DONE"
    rungs = [rung for _, rung in batch_verdicts(simulator) if rung]
    assert rungs == ["fresh-context", "other-agent"]


@pytest.mark.req("O50")
def test_a_stall_is_remedied_by_a_smaller_scope_alone() -> None:
    simulator = simulated(stubborn(lambda turn: "Work on the first open point only" in turn.prompt))
    assert simulator.run().decision == "DONE"
    assert [rung for _, rung in batch_verdicts(simulator) if rung] == ["fresh-context", "smaller-scope"]
    batches = [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)]
    assert batches[-2] == ("2.1",) or batches[-1] == ("2.1",)


@pytest.mark.req("O50")
def test_a_stall_is_remedied_by_a_new_plan_that_keeps_what_is_done() -> None:
    split = (
        *(item for item in SUBTASKS if item.id not in {"2.1", "2.3"}),
        Item("3.1", "read one order", files=("pkg/order.py",), acceptance=("one order is read",)),
        Item("3.2", "print a bill", files=("pkg/bill.py",), acceptance=("a bill is printed",), depends_on=("3.1",)),
    )
    world = stubborn(lambda turn: turn.item != "2.1")
    before = world.say
    replanned = Claim(status="complete", plan=f"# Plan\n\n{render(split)}\n", source="report-file")

    def say(turn: RunAgent, state: State) -> TurnEnded | Claim | None:
        return replanned if turn.role == "planner" and turn.turn > 1 else before(turn, state)

    world.say = say
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    rungs = [rung for _, rung in batch_verdicts(simulator) if rung]
    assert rungs == ["fresh-context", "smaller-scope", "re-plan"]
    planner = [turn for turn in simulator.turns if turn.role == "planner"][1]
    assert "an empty order is not read" in planner.prompt
    assert "- [x] **2.2**" in planner.prompt
    assert sorted(item.id for item in state.items if item.status == "completed") == ["1.1", "2.2", "2.4", "3.1", "3.2"]


@pytest.mark.req("O50")
def test_when_every_remedy_is_spent_the_task_is_blocked_with_the_whole_story() -> None:
    simulator = simulated(stubborn(lambda _turn: False), a_plan_task(parallel=1))
    state = simulator.run()
    assert (state.decision, state.stopped and state.stopped.kind) == ("BLOCKED", "blocked")
    assert state.stopped is not None
    assert "STALLED" in state.stopped.reason
    story = "\n".join(state.stopped.evidence)
    assert "an empty order is not read" in story
    assert "tried: fresh-context, smaller-scope, re-plan" in story
    simulator.world.say = lambda _turn, _state: None  # type: ignore[attr-defined]
    simulator.append(PersonSpoke("modify", "an empty order is none"))
    assert simulator.run().decision == "DONE"


PARTS = tuple(Item(f"1.{n}", f"part {n}", files=(f"{n}.py",), acceptance=("x",)) for n in range(1, 10))


def regressing() -> Team:
    """A world whose reviewer rejects one subtask of the second batch and two of the third, which goes down with 1.7 approved."""
    world = Team()
    rejected = {2: ("1.6",), 3: ("1.6", "1.8")}

    def say(turn: RunAgent, state: State) -> Claim | None:
        number = state.batches.number
        if turn.role != "reviewer" or turn.stage != "REVIEW" or number not in rejected:
            return None
        return rejecting(**{id_.replace(".", "_"): f"{id_} is wrong in batch {number}" for id_ in rejected[number]})

    world.say = say
    return world


@pytest.mark.req("O50", "O32")
def test_a_regressing_batch_is_dropped_and_its_subtasks_pass_afterwards() -> None:
    world = regressing()
    simulator = simulated(world, a_plan_task(PARTS, parallel=3))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert ("REGRESSING", "rollback") in batch_verdicts(simulator)
    settled = {f.number: f.accepted for f in simulator.of(BatchSettled) if isinstance(f, BatchSettled)}
    assert settled[3] == (), "a regressing batch is never the last good checkpoint"
    lessons = [f.title for f in simulator.of(LearningRecorded) if isinstance(f, LearningRecorded)]
    assert not any("1.7" in title for title in lessons), "nobody found fault with it"
    assert ids(world.saved[state.main.head]) == [item.id for item in PARTS]
    assert [turn.role for turn in simulator.turns if turn.item == "1.7"] == ["implementer"], "no second turn"
    again = last_lane(simulator, "1.7")
    assert (again.stage, bool(again.start)) == ("REVIEW", True), "what was approved is merged, gated and reviewed again"


@pytest.mark.req("O38", "C5", "C61")
@pytest.mark.parametrize("seed", range(12))
def test_approved_work_is_merged_again_without_a_turn_whatever_kill_comes_between(seed: int) -> None:
    world, dice = regressing(), random.Random(seed)
    simulator = Watched(world, a_plan_task(PARTS, parallel=3), "GATHER", dice=dice, kills=0.03)
    state = simulator.run(9000)
    assert (state.decision, ids(world.saved[state.main.head])) == ("DONE", [item.id for item in PARTS]), state.stopped
    facts = [event.fact for event in simulator.events]
    down = next(
        n for n, f in enumerate(facts) if isinstance(f, SubtaskReturned) and (f.item, f.why) == ("1.7", "undone")
    )
    after = [fact.effect for fact in facts[down:] if isinstance(fact, Begun)]
    assert not [effect for effect in after if isinstance(effect, RunAgent) and effect.item == "1.7"]


@pytest.mark.req("O38", "C2")
def test_approved_work_that_is_merged_again_later_is_reviewed_as_its_own_authors_work() -> None:
    story = Story().start().add(BatchBegun(1, ("2.1",)), LaneOpened("2.1", "GREEN", Commit("b0"), "2.1"))
    story.switch_to("2.1").turn(model="rare")
    written = story.state.lanes["2.1"].authors
    story.add(
        SubtaskReturned("2.1", "undone", commit=Commit("c1"), base=Commit("b0")),
        LaneClosed("2.1", "sent back"),
        BatchBegun(2, ("2.2",)),
        LaneOpened("2.1", "REVIEW", Commit("b0"), "2.1", Commit("c1")),
    )
    assert [author.model for author in written] == ["rare"]
    assert story.state.lanes["2.1"].authors == written


@pytest.mark.req("O38", "O50")
def test_approved_work_that_no_longer_merges_goes_to_an_agent_with_the_conflict() -> None:
    world = regressing()
    clash = Conflicted(("7.py",), "both sides changed 7.py")
    world.meet = lambda effect: clash if effect.id == "integrate/4-1-1.7" else None
    simulator = simulated(world, a_plan_task(PARTS, parallel=3))
    assert simulator.run().decision == "DONE"
    first, second = (turn for turn in simulator.turns if turn.item == "1.7")
    assert (first.role, second.role) == ("implementer", "fixer")
    assert "both sides changed 7.py" in second.prompt


@pytest.mark.req("O50", "O45")
def test_a_flip_flop_takes_back_two_batches_and_is_then_put_to_a_person_with_both_sides() -> None:
    """2.4 and 2.2 cannot both be right: each time one is accepted, the review finds the other one broken."""
    world = Team()

    def say(turn: RunAgent, state: State) -> Claim | None:
        done = {item.id for item in state.items if item.status == "completed"}
        if turn.role != "reviewer" or turn.stage != "REVIEW":
            return None
        batch = state.batches.current
        assert batch is not None
        if "2.4" in batch.items and "2.2" in done:
            return Claim(
                verdict="fail", approved=batch.items, rejected=(Rejection("2.2", "2.4 broke it"),), source="report-file"
            )
        if "2.2" in batch.items and "2.4" in done:
            return Claim(
                verdict="fail", approved=batch.items, rejected=(Rejection("2.4", "2.2 broke it"),), source="report-file"
            )
        return None

    world.say = say
    simulator = simulated(world, a_plan_task(parallel=1))
    state = simulator.run()
    assert ("FLIP-FLOPPING", "rollback-two") in batch_verdicts(simulator)
    undone = [f for f in simulator.of(BatchesUndone) if isinstance(f, BatchesUndone)]
    assert len(undone) == 1
    assert len(undone[0].labels) == 2
    unticked = [f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "not-started"]
    assert set(unticked) == set(undone[0].items)
    saves = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Save)]
    reverted = next(save for save in saves if save.label.startswith("rollback-"))
    assert reverted.message.startswith(f"revert: go back to {undone[0].to}")
    assert (state.decision, state.stopped and state.stopped.kind) == ("BLOCKED", "blocked")
    assert state.stopped is not None
    assert "FLIP-FLOPPING" in state.stopped.reason
    assert sum("compare the changes: flyball diff" in line for line in state.stopped.evidence) == 2


@pytest.mark.req("O50")
def test_a_blocked_dependency_is_resolved_by_the_order_of_work() -> None:
    world = Team()
    blocked = Claim(
        status="blocked",
        blockers=(ClaimedBlocker("dependency", "the README cannot be written before 2.3 is there"),),
        source="report-file",
    )

    def say(turn: RunAgent, state: State) -> Claim | None:
        done = {item.id for item in state.items if item.status == "completed"}
        return blocked if turn.item == "2.4" and "2.3" not in done else None

    world.say = say
    simulator = simulated(world, a_plan_task(parallel=3))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    deferred = [(f.item, f.until) for f in simulator.of(SubtaskDeferred) if isinstance(f, SubtaskDeferred)]
    assert deferred == [("2.4", ("2.3",))]
    ticked = [f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"]
    assert ticked.index("2.3") < ticked.index("2.4")


@pytest.mark.req("O50", "O51")
@pytest.mark.parametrize("kind", ["external", "dependency"])
def test_what_no_order_resolves_is_put_to_a_person_while_the_rest_goes_on(kind: str) -> None:
    world = Team()
    blocked = Claim(status="blocked", blockers=(ClaimedBlocker(kind, "no licence key"),), source="report-file")  # type: ignore[arg-type]
    world.say = lambda turn, state: blocked if turn.item == "2.2" and not state.guidance else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.kind == "blocked"
    assert "no licence key" in "\n".join((state.stopped.reason, *state.stopped.evidence))
    assert {item.id for item in state.items if item.status == "completed"} == {"1.1", "2.1", "2.4"}
    simulator.append(PersonSpoke("modify", "the key is in the vault"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("O50")
def test_a_lane_whose_own_remedies_are_spent_has_the_plan_revised_and_then_asks() -> None:
    world = Team()
    world.red = lambda parts: ("t::orders",) if "2.1" in parts else ()
    simulator = simulated(world, a_plan_task(parallel=1))
    state = simulator.run()
    assert state.stopped is not None
    assert state.decision == "BLOCKED"
    planners = [turn for turn in simulator.turns if turn.role == "planner"]
    assert len(planners) == 2
    assert "fails: t::orders" in planners[1].prompt
    assert {"2.2", "2.4"} <= {item.id for item in state.items if item.status == "completed"}
    moves = [f.stage for f in simulator.of(Moved) if isinstance(f, Moved) and f.lane == "main"]
    assert moves.count("PLAN") == 2
    back = [f.rung for f in simulator.of(SubtaskReturned) if isinstance(f, SubtaskReturned) and f.item == "2.1"]
    assert back == ["re-plan"]


@pytest.mark.req("O51")
def test_a_subtask_without_a_remedy_left_is_parked_and_the_independent_ones_are_done_first() -> None:
    simulator = simulated(stubborn(lambda _turn: False), a_plan_task(parallel=1))
    state = simulator.run()
    assert state.decision == "BLOCKED"
    assert {item.id for item in state.items if item.status == "completed"} == {"1.1", "2.2", "2.4"}
    assert state.batches.parked == ("2.1",)
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert state.batches.left_out == ("2.1",)
    assert state.stopped is not None
    assert "skipped by a person" in state.stopped.reason
