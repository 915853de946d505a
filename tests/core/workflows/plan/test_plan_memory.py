"""Learnings of a plan: decisions follow their subtasks, lessons name them, and reviews see what is proposed and what contradicts."""

import msgspec
import pytest
from tests.core.memory.folding import learnings_of
from tests.core.workflows.plan.world import Team, rejecting, simulated
from tests.support.simulator import APPROVED, DONE, START, Simulator

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ClaimedRevision, DesignDecision
from flyball.core.memory.settling import settle
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import ItemChanged, LearningRecorded, LearningRevised
from flyball.core.model.learnings import KnownLearning, Learnings
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Conflicted, TurnEnded
from flyball.core.model.state import State

ROWS = DesignDecision("Rows of the order file", choice="read rows with the csv module")


class Deciding(Team):
    """The first turn on each subtask decides something about its file; `reviews` are what the reviewer of batches says."""

    def __init__(self, *reviews: Claim, **decided: DesignDecision) -> None:
        super().__init__()
        self.reviews = list(reviews)
        self.decided = {item.replace("_", "."): made for item, made in decided.items()}
        self.say = self.speak

    def speak(self, turn: RunAgent, _state: State) -> TurnEnded | Claim | None:
        if turn.purpose == "batch" and self.reviews:
            return self.reviews.pop(0)
        made = self.decided.pop(turn.item, None) if not turn.copy else None
        return msgspec.structs.replace(DONE, decisions=(made,)) if made else None

    def look(self, measure: Measure, state: State) -> Measurement:
        files = {item.id: item.files for item in state.items}
        found = super().look(measure, state)
        return msgspec.structs.replace(found, changed=files.get(measure.lane, ()))


def learnt(simulator: Simulator) -> list[LearningRecorded]:
    return [fact for fact in simulator.of(LearningRecorded) if isinstance(fact, LearningRecorded)]


def states(simulator: Simulator) -> list[str]:
    return [each.standing for each in learnings_of(simulator.events).known.values()]


def reviews(simulator: Simulator) -> list[str]:
    return [turn.prompt for turn in simulator.turns if turn.purpose == "batch"]


@pytest.mark.req("O40", "O42")
def test_a_decision_stands_in_its_batchs_review_as_proposed_and_is_kept_when_its_subtask_is_ticked() -> None:
    simulator = simulated(Deciding(**{"2_1": ROWS}))
    assert simulator.run().decision == "DONE"
    (fact,) = learnt(simulator)
    assert (fact.item, fact.lane, fact.files, fact.source) == ("2.1", "2.1", ("pkg/orders.py",), "report")
    assert states(simulator) == ["kept"]
    told = "## Decisions of this work, not accepted yet\n- 1 Rows of the order file: read rows with the csv module"
    assert [told in prompt for prompt in reviews(simulator)] == [False, True, False]
    later = next(turn for turn in simulator.turns if turn.item == "2.3")
    beside = next(turn for turn in simulator.turns if turn.item == "2.2")
    assert "001-it-works/1 Rows of the order file" in later.prompt, "2.3 depends on 2.1"
    assert "Rows of the order file" not in beside.prompt
    ticked = [n for n, e in enumerate(simulator.events) if e.fact == ItemChanged("2.1", "completed")]
    assert learnings_of(simulator.events[: ticked[0]]).known[1].standing == "proposed"


@pytest.mark.req("O40", "O38")
def test_a_rejected_subtask_leaves_a_lesson_with_its_item_and_its_decision_waits_for_the_next_attempt() -> None:
    rejected = rejecting(**{"2_1": "quotes are lost"})
    simulator = simulated(Deciding(APPROVED, rejected, **{"2_1": ROWS}))
    assert simulator.run().decision == "DONE"
    decision, lesson = learnt(simulator)
    assert (decision.item, lesson.item, lesson.source, lesson.kind) == ("2.1", "2.1", "review", "anti-pattern")
    assert lesson.files == ("pkg/orders.py",)
    assert "quotes are lost" in _again(simulator, "2.1"), "as a finding"
    assert "avoid: the review rejected" not in _again(simulator, "2.1"), (
        "a lesson only once an accepted tree resolves it"
    )
    assert states(simulator) == ["kept", "kept"]


def _again(simulator: Simulator, item: str) -> str:
    return [turn.prompt for turn in simulator.turns if turn.item == item][1]


@pytest.mark.req("O40")
def test_a_conflict_leaves_a_lesson_and_what_was_decided_in_the_lost_attempt_is_undone() -> None:
    world = Deciding(**{"2_2": ROWS})
    clash = [Conflicted(("pkg/orders.py",), "both changed it")]
    world.meet = lambda effect: clash.pop() if effect.id.endswith("2.2") and clash else None
    simulator = simulated(world)
    assert simulator.run().decision == "DONE"
    lesson = next(fact for fact in learnt(simulator) if fact.kind == "anti-pattern")
    assert (lesson.item, lesson.source) == ("2.2", "conflict")
    assert states(simulator) == ["undone", "kept"], "its work began anew from the tip"


@pytest.mark.req("O40")
def test_a_plan_that_is_rejected_teaches_the_planner() -> None:
    no = Claim(verdict="fail", findings=(Finding("critical", "no rollback"),), source="report-file")
    said = [no]
    world = Team()
    world.say = lambda turn, _state: said.pop() if turn.role == "plan-reviewer" and said else None
    simulator = simulated(world)
    assert simulator.run().decision == "DONE"
    (lesson,) = learnt(simulator)
    assert (lesson.source, lesson.context) == ("plan-review", "no rollback")
    second = [turn for turn in simulator.turns if turn.role == "planner"][1]
    assert "avoid: the plan was rejected: no rollback" in second.prompt


@pytest.mark.req("O42")
def test_a_batch_that_contradicts_an_earlier_decision_is_put_to_the_reviewer_whose_word_is_a_fact() -> None:
    old = LearningRecorded(1, "decision", "Rows of the order file", choice="split them by hand", source="report")
    answer = msgspec.structs.replace(
        APPROVED, supersedes=(ClaimedRevision("009-old/1", "quotes survive", "001-it-works/1"),)
    )
    world = Deciding(APPROVED, answer, **{"2_1": ROWS})
    world.others = {"009-old": Learnings({1: KnownLearning(old, START, "kept")})}
    simulator = simulated(world)
    assert simulator.run().decision == "DONE"
    told = (
        "- 001-it-works/1 Rows of the order file: read rows with the csv module AGAINST "
        "009-old/1 Rows of the order file: split them by hand (their titles share words)"
    )
    assert told in reviews(simulator)[1]
    (fact,) = simulator.of(LearningRevised)
    assert isinstance(fact, LearningRevised)
    assert (fact.learning, fact.favours, fact.by) == ("009-old/1", "001-it-works/1", "reviewer")
    settled = settle({**world.others, "001-it-works": learnings_of(simulator.events)})
    assert (settled["009-old/1"].standing, settled["009-old/1"].by) == ("superseded", "001-it-works/1")
