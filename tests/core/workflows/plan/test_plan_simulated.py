"""The `plan` workflow on a simulated world: planning, batches, integration, review, checkpoints."""

import pytest
from tests.core.workflows.plan.world import PLAN_TEXT, SUBTASKS, Team, a_plan_task, ids, rejecting, simulated
from tests.support.simulator import Simulator, ok

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, OpenQuestion, Rejection
from flyball.core.loop.batches.settling import undo
from flyball.core.model.batch_events import (
    BatchBegun,
    BatchReviewed,
    LaneClosed,
    LaneOpened,
    ReviewUnread,
    SubtaskReturned,
)
from flyball.core.model.effects import Ask, Effect, Integrate, Measure, OpenLane, RunAgent, Save
from flyball.core.model.events import (
    Begun,
    Event,
    ItemChanged,
    LearningRecorded,
    Moved,
    PersonSpoke,
    SessionStarted,
    UndeclaredEditsFound,
)
from flyball.core.model.outcomes import Conflicted, Failed, Outcome, TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Item
from flyball.core.workflows.plan.effects import ReadDraft
from flyball.core.workflows.plan.facts import PlanDrafted, PlanReviewed
from flyball.core.workflows.plan.grammar import render
from flyball.projections.files.task_files import context
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown
from flyball.projections.views.standing import task_status
from flyball.projections.views.status import status

ALL = ["1.1", "2.1", "2.2", "2.3", "2.4"]


def moves(simulator: Simulator, lane: str = "main") -> list[str]:
    return [f.stage for f in simulator.of(Moved) if isinstance(f, Moved) and f.lane == lane]


@pytest.mark.req("O32", "O33")
def test_a_request_is_planned_worked_integrated_reviewed_and_delivered() -> None:
    world = Team()
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert ids(world.saved[state.main.head]) == ALL
    assert {item.status for item in state.items} == {"completed"}
    assert moves(simulator)[:6] == ["PLAN", "PLAN_REVIEW", "SCAFFOLD", "REVIEW", "MONITOR", "CHECKPOINT"]
    assert moves(simulator)[-2:] == ["FINAL_REVIEW", "REPORT"]
    assert [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)] == [
        ("1.1",),
        ("2.1", "2.2"),
        ("2.3", "2.4"),
    ]
    assert list(state.lanes) == ["main"]
    assert world.together == 2


@pytest.mark.req("O30")
@pytest.mark.parametrize("parallel", [1, 2, 3])
def test_as_many_subtasks_are_worked_on_at_once_as_was_set(parallel: int) -> None:
    world = Team()
    state = simulated(world, a_plan_task(parallel=parallel)).run()
    assert state.decision == "DONE"
    assert world.together == parallel


@pytest.mark.req("O30")
def test_a_lane_starts_from_the_tip_of_that_moment() -> None:
    simulator = simulated(Team())
    simulator.run()
    opened = {f.lane: f.base for f in simulator.of(LaneOpened) if isinstance(f, LaneOpened)}
    assert opened["1.1"] == "base"
    assert opened["2.1"] == opened["2.2"] == "scaffold@accept/batch-1"
    assert opened["2.3"] == "batch-2@accept/batch-2"


@pytest.mark.req("O44")
def test_each_accepted_subtask_is_one_commit_and_a_batch_one_checkpoint() -> None:
    simulator = simulated(Team())
    state = simulator.run()
    merges = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Integrate)]
    assert merges[1].message.splitlines()[0] == "read orders"
    assert merges[1].message.endswith("Checkpoint: batch-2 - 2.1")
    saves = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Save)]
    batch = next(save for save in saves if save.label == "batch-2")
    assert batch.message.endswith("Checkpoint: batch-2 - 2.2")
    assert batch.parent == "scaffold@accept/batch-1+EXECUTE@accept/5", "the commit of 2.1 is below it"
    labels = [c.label for c in state.checkpoints if c.accepted and c.lane == "main"]
    assert labels == ["start", "scaffold", "batch-2", "batch-3", "report"]


@pytest.mark.req("O20")
def test_a_plan_with_a_defect_goes_back_to_the_planner_with_the_line() -> None:
    wrong = Claim(plan="- [ ] **1** a — Acceptance: x | `depends_on: 7`", source="report-file")
    world = Team()
    said = [wrong]
    world.say = lambda turn, _state: said.pop() if turn.role == "planner" and said else None
    simulator = simulated(world)
    assert simulator.run().decision == "DONE"
    drafts = [f for f in simulator.of(PlanDrafted) if isinstance(f, PlanDrafted)]
    assert drafts[0].problems == ("line 1: 1 depends on 7, which is no subtask of the plan",)
    assert not drafts[1].problems
    second = [turn for turn in simulator.turns if turn.role == "planner"][1]
    assert "line 1: 1 depends on 7" in second.prompt


@pytest.mark.req("O21")
@pytest.mark.parametrize(("default", "decision"), [("euro", "DONE"), (None, "BLOCKED")])
def test_a_planners_question_takes_its_default_or_blocks_where_nobody_is_there(
    default: str | None, decision: str
) -> None:
    asking = Claim(
        status="needs_clarification",
        questions=(OpenQuestion("Which currency?", ("euro", "yen"), default),),
        source="report-file",
    )
    said = [asking]
    world = Team()
    world.say = lambda turn, _state: said.pop() if turn.role == "planner" and said else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == decision
    if default:
        learnt = [f for f in simulator.of(LearningRecorded) if isinstance(f, LearningRecorded)]
        assert (learnt[0].kind, learnt[0].title, learnt[0].choice) == ("decision", "Which currency?", "euro")
        assert "Which currency? euro" in simulator.turns[1].prompt


@pytest.mark.req("O21")
def test_after_three_rounds_of_questions_a_person_is_asked() -> None:
    asking = Claim(status="needs_clarification", questions=(OpenQuestion("Which?", (), "a"),), source="report-file")
    world = Team(plan=asking)
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.reason == "The planner has asked 3 rounds of questions and made no plan."
    assert sum(turn.role == "planner" for turn in simulator.turns) == 3


@pytest.mark.req("O22", "O35")
def test_a_rejected_plan_is_revised_and_after_three_rejections_a_person_is_asked() -> None:
    finding = Claim(verdict="fail", findings=(Finding("critical", "no tests are planned"),), source="report-file")
    world = Team()
    world.say = lambda turn, _state: finding if turn.role == "plan-reviewer" else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.reason == "The plan was sent back 3 times: no tests are planned"
    planners = [turn for turn in simulator.turns if turn.role == "planner"]
    assert len(planners) == 3
    assert "no tests are planned" in planners[1].prompt
    world.say = lambda _turn, _state: None
    simulator.append(PersonSpoke("modify", "plan the tests"))
    assert simulator.run().decision == "DONE"


@pytest.mark.req("O22")
def test_a_person_who_wants_to_sees_the_plan_and_their_edits_reach_the_planner() -> None:
    world = Team()
    answers = ["leave out the README", "yes"]
    world.answer = lambda ask, _state: answers.pop(0) if ask.question.name == "plan" else None
    simulator = simulated(world, a_plan_task(approve_plan=True))
    assert simulator.run().decision == "DONE"
    planners = [turn for turn in simulator.turns if turn.role == "planner"]
    assert "leave out the README" in planners[1].prompt
    reviews = [(f.by, f.approved) for f in simulator.of(PlanReviewed) if isinstance(f, PlanReviewed)]
    assert reviews == [("reviewer", True), ("person", False), ("reviewer", True), ("person", True)]


@pytest.mark.req("O37")
def test_a_plan_of_the_users_own_needs_no_planner() -> None:
    world = Team()
    simulator = simulated(world, a_plan_task(SUBTASKS))
    state = simulator.run()
    assert state.decision == "DONE"
    assert "planner" not in {turn.role for turn in simulator.turns}
    assert [item.id for item in state.items] == ALL


@pytest.mark.req("O31", "O38")
def test_only_the_rejected_subtask_returns_and_goes_on_from_its_own_work() -> None:
    world = Team()
    said = [rejecting(**{"2_1": "an empty order is not read"})]

    def say(turn: RunAgent, state: State) -> Claim | None:
        return said.pop() if turn.role == "reviewer" and "2.1" in state.lanes and said else None

    world.say = say
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE"
    assert ids(world.saved[state.main.head]) == ALL
    ticked = [(f.id, f.status) for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged)]
    assert ticked.count(("2.1", "in-progress")) == 1, "it stays in progress"
    assert ticked.index(("2.2", "completed")) < ticked.index(("2.1", "completed"))
    fixer = next(turn for turn in simulator.turns if turn.role == "fixer")
    assert (fixer.item, "an empty order is not read" in fixer.prompt) == ("2.1", True)
    assert "Your earlier work is in this tree" in fixer.prompt
    assert sum(turn.item == "2.2" for turn in simulator.turns if not turn.copy) == 1
    measured = [f.effect.id for f in simulator.of(Begun) if isinstance(f, Begun)]
    assert "measure/2-2-2.2" in measured or "integrate/2-2-2.2" in measured, "integrated anew without the rejected work"


@pytest.mark.req("O30")
def test_a_conflict_sends_the_subtask_back_with_it_and_after_two_rounds_it_runs_alone() -> None:
    world = Team()
    met: list[str] = []

    def meet(effect: Integrate) -> Conflicted | None:
        if effect.id.startswith("integrate/") and effect.id.endswith("-2.2") and len(met) < 2:
            met.append(effect.id)
            return Conflicted(("pkg/prices.py",), "<<<<<<< integrated\nours\n=======\ntheirs\n>>>>>>> lane")
        return None

    world.meet = meet
    simulator = simulated(world, a_plan_task(parallel=3))
    state = simulator.run()
    assert state.decision == "DONE"
    assert ids(world.saved[state.main.head]) == ALL
    back = [f for f in simulator.of(SubtaskReturned) if isinstance(f, SubtaskReturned)]
    assert [(f.item, f.why, f.commit) for f in back] == [("2.2", "conflict", ""), ("2.2", "conflict", "")]
    fixers = [turn for turn in simulator.turns if turn.role == "fixer"]
    assert "<<<<<<< integrated" in fixers[0].prompt
    batches = [f.items for f in simulator.of(BatchBegun) if isinstance(f, BatchBegun)]
    assert batches[3] == ("2.2",), "alone"


@pytest.mark.req("O30", "O31")
def test_two_green_lanes_that_are_red_together_send_the_second_back() -> None:
    world = Team()
    world.red = lambda parts: ("t::both",) if {"2.1", "2.2"} <= parts and not any("@11" in p for p in parts) else ()
    simulator = simulated(world)
    state = simulator.run()
    back = [f for f in simulator.of(SubtaskReturned) if isinstance(f, SubtaskReturned)]
    assert (back[0].item, back[0].why) == ("2.2", "gates")
    assert "fails: t::both" in back[0].reasons
    ticked = [f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"]
    assert ticked[:2] == ["1.1", "2.1"], state.stopped


THREE = tuple(Item(f"1.{n}", f"part {n}", files=(f"{n}.py",), acceptance=("x",)) for n in range(1, 4))


def gated_together(simulator: Simulator) -> list[frozenset[str]]:
    """The subtasks on each integrated tree that was measured, in their order."""
    begun = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, Measure)]
    return [frozenset(item.id for item in each.items) for each in begun if each.lane == MAIN and each.kind == "gates"]


@pytest.mark.req("C18", "O32")
def test_the_gates_run_once_on_the_work_of_a_whole_batch() -> None:
    simulator = simulated(Team(), a_plan_task(THREE, parallel=3))
    state = simulator.run()
    assert state.decision == "DONE"
    assert gated_together(simulator) == [{"1.1", "1.2", "1.3"}]
    (accepted,) = state.batches.accepted
    assert accepted.proof is not None
    assert accepted.proof.tree == accepted.tree


@pytest.mark.req("C18", "O30")
def test_where_the_whole_is_red_each_piece_is_gated_by_itself_and_only_the_one_at_fault_goes_back() -> None:
    world = Team()
    world.red = lambda parts: ("t::both",) if {"1.1", "1.2"} <= parts and not any("@5" in p for p in parts) else ()
    simulator = simulated(world, a_plan_task(THREE, parallel=3))
    state = simulator.run()
    back = [f for f in simulator.of(SubtaskReturned) if isinstance(f, SubtaskReturned)]
    assert [(f.item, f.why) for f in back] == [("1.2", "gates")]
    assert gated_together(simulator)[:3] == [{"1.1", "1.2", "1.3"}, {"1.2"}, {"1.3"}]
    assert state.batches.accepted[0].items == ("1.1", "1.3")


@pytest.mark.req("C18", "O31", "O32")
@pytest.mark.parametrize("rejected", ["1_1", "1_2", "1_3"])
def test_what_is_accepted_after_a_rejection_was_measured_without_what_was_rejected(rejected: str) -> None:
    world = Team()
    said = [rejecting(**{rejected: "it is wrong"})]
    world.say = lambda turn, _state: said.pop() if turn.role == "reviewer" and said else None
    simulator = simulated(world, a_plan_task(THREE, parallel=3))
    state = simulator.run()
    assert state.decision == "DONE"
    first = state.batches.accepted[0]
    assert first.items == tuple(item.id for item in THREE if item.id != rejected.replace("_", "."))
    assert [each.proof and each.proof.tree for each in state.batches.accepted] == [
        each.tree for each in state.batches.accepted
    ]


@pytest.mark.req("O36")
def test_a_final_review_that_asks_for_changes_has_the_named_subtask_and_a_new_one_worked_on() -> None:
    world = Team()
    said = [
        Claim(
            verdict="fail",
            rejected=(Rejection("2.3", "the bill has no date"),),
            findings=(Finding("major", "nobody can install it", "pyproject.toml"),),
            source="report-file",
        )
    ]
    world.say = lambda turn, _state: said.pop() if turn.stage == "FINAL_REVIEW" and said else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE"
    assert [item.id for item in state.items] == [*ALL, "F.1"]
    assert {item.status for item in state.items} == {"completed"}
    fixer = next(turn for turn in simulator.turns if turn.role == "fixer")
    assert "the bill has no date" in fixer.prompt
    new = next(turn for turn in simulator.turns if turn.item == "F.1")
    assert "nobody can install it" in new.prompt


@pytest.mark.req("O36")
def test_after_three_final_reviews_that_ask_for_changes_a_person_is_asked() -> None:
    world = Team()
    world.say = lambda turn, _state: rejecting(**{"2_3": "no date"}) if turn.stage == "FINAL_REVIEW" else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.reason == "The final review asked for changes 3 times"


@pytest.mark.req("O35")
def test_a_scaffold_that_is_rejected_three_times_is_put_to_a_person() -> None:
    world = Team()
    world.say = lambda turn, _state: (
        rejecting(**{"1_1": "it has no types"}) if turn.role == "reviewer" and turn.stage == "REVIEW" else None
    )
    state = simulated(world).run()
    assert state.stopped is not None
    assert state.stopped.reason == "The scaffold was sent back 3 times"


@pytest.mark.req("O34")
def test_a_process_that_fails_is_started_again_twice_and_the_third_failure_is_the_subtasks() -> None:
    world = Team()
    crashed: list[int] = []

    def say(turn: RunAgent, _state: State) -> TurnEnded | None:
        if turn.item == "2.1" and len(crashed) < 3:
            crashed.append(turn.turn)
            return TurnEnded("crashed", "exit 1")
        return None

    world.say = say
    simulator = simulated(world)
    state = simulator.run()
    assert state.decision == "DONE"
    closed = [(f.lane, f.reason) for f in simulator.of(LaneClosed) if isinstance(f, LaneClosed)]
    assert ("2.1", "given up") in closed
    assert "2.2" in [f.id for f in simulator.of(ItemChanged) if isinstance(f, ItemChanged) and f.status == "completed"]


@pytest.mark.req("O51")
def test_a_subtask_that_needs_a_person_is_parked_and_the_rest_goes_on() -> None:
    world = Team()
    asking = Claim(questions=(OpenQuestion("Which file?"),), source="report-file")
    world.say = lambda turn, state: asking if turn.item == "2.1" and not state.guidance else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert (state.stopped.kind, state.stopped.reason) == ("blocked", "Which file?")
    assert {item.id for item in state.items if item.status == "completed"} == {"1.1", "2.2", "2.4"}
    world.say = lambda _turn, _state: None
    simulator.append(PersonSpoke("answer", "orders.csv", question=state.stopped.question))
    assert simulator.run().decision == "DONE"
    assert simulator.known.main.head
    assert ids(world.saved[simulator.known.main.head]) == ALL


def test_a_subtask_that_a_person_skips_is_left_out_and_named() -> None:
    world = Team()
    asking = Claim(questions=(OpenQuestion("Which file?"),), source="report-file")
    world.say = lambda turn, _state: asking if turn.item == "2.1" else None
    simulator = simulated(world)
    simulator.run()
    simulator.append(PersonSpoke("skip"))
    state = simulator.run()
    assert state.stopped is not None
    assert (state.decision, "left out by a person: 2.1" in state.stopped.reason) == ("DONE", True)
    assert ids(world.saved[state.main.head]) == ["1.1", "2.2", "2.3", "2.4"]


def test_a_reviewer_that_says_nothing_is_asked_again_and_then_a_person() -> None:
    world = Team()
    world.say = lambda turn, _state: ok() if turn.role == "reviewer" else None
    simulator = simulated(world)
    state = simulator.run()
    assert state.stopped is not None
    assert state.stopped.reason == "REVIEW: the reviewer was asked 3 times and gave no verdict."
    assert not [f for f in simulator.of(BatchReviewed) if isinstance(f, BatchReviewed)]


def in_batch_of_two(world: Team, *answers: Claim) -> Simulator:
    """A plan whose review of 2.1 and 2.2 gives these answers, one after another."""
    left = list(answers)
    world.say = lambda turn, state: left.pop(0) if turn.copy and "2.1" in state.lanes and left else None
    return simulated(world)


UNKNOWN_ID = Claim(
    verdict="fail", approved=("2.2",), rejected=(Rejection("Subtask 2.1", "it is wrong"),), source="report-file"
)


@pytest.mark.req("O31")
def test_a_failing_review_with_an_unknown_id_is_asked_about_once_and_accepts_nothing_by_itself() -> None:
    simulator = in_batch_of_two(Team(), UNKNOWN_ID, rejecting(**{"2_1": "it is wrong"}))
    assert simulator.run().decision == "DONE"
    first = next(f for f in simulator.of(BatchReviewed) if isinstance(f, BatchReviewed) and "1.1" not in f.approved)
    assert (first.approved, [each.id for each in first.rejected]) == (("2.2",), ["2.1"])
    unclear = "'Subtask 2.1' is the id of no subtask; 2.1 is neither approved nor rejected"
    assert [f.unclear for f in simulator.of(ReviewUnread) if isinstance(f, ReviewUnread)] == [unclear]
    reviews = [turn for turn in simulator.turns if turn.role == "reviewer" and turn.stage == "REVIEW"]
    assert unclear in reviews[2].prompt, "the second try says what was not clear"


@pytest.mark.req("O31")
@pytest.mark.parametrize(
    "answer",
    [
        UNKNOWN_ID,
        Claim(verdict="fail", rejected=(Rejection("2.1", "it is wrong"),), source="report-file"),
        Claim(verdict="fail", approved=("2.1", "2.2"), findings=(Finding("major", "slow"),), source="report-file"),
        Claim(verdict="fail", source="report-file"),
        Claim(verdict="fail", approved=("2.1", "2.2"), source="report-file"),
        Claim(verdict="pass", approved=("2.2",), source="report-file"),
    ],
    ids=[
        "unknown id",
        "one is not named",
        "a finding without an id",
        "no id at all",
        "all approved",
        "an approval that leaves one out",
    ],
)
def test_a_review_that_stays_unclear_sends_the_whole_batch_back(answer: Claim) -> None:
    simulator = in_batch_of_two(Team(), answer, answer)
    assert simulator.run().decision == "DONE"
    reviewed = [f for f in simulator.of(BatchReviewed) if isinstance(f, BatchReviewed)]
    assert (reviewed[1].approved, [each.id for each in reviewed[1].rejected]) == ((), ["2.1", "2.2"])
    assert len(simulator.of(ReviewUnread)) == 1, "it is asked about once"


@pytest.mark.req("O31")
def test_a_plain_approval_accepts_all_and_is_not_asked_about() -> None:
    simulator = in_batch_of_two(Team(), Claim(verdict="pass", source="report-file"))
    assert simulator.run().decision == "DONE"
    assert not simulator.of(ReviewUnread)


def test_feedback_on_a_finished_task_is_new_subtasks() -> None:
    world = Team()
    simulator = simulated(world)
    simulator.run()
    simulator.append(PersonSpoke("reopen", "- print the date\n- print the total"))
    state = simulator.run()
    assert state.decision == "DONE"
    assert [item.id for item in state.items][-2:] == ["R.1", "R.2"]
    assert {item.status for item in state.items} == {"completed"}


@pytest.mark.req("O45")
def test_a_persons_rollback_opens_the_subtasks_of_undone_batches_and_they_are_done_again() -> None:
    world = Team()
    simulator = simulated(world)
    simulator.run()
    simulator.append(PersonSpoke("reopen"))
    facts = undo(simulator.known, frozenset({"batch-2", "batch-3"}), "scaffold")
    simulator.append(*facts, Moved("GATHER", "REPORT", "rolled back to scaffold by a person"))
    states = {item.id: item.status for item in simulator.known.items}
    assert states == {"1.1": "completed"} | dict.fromkeys(["2.1", "2.2", "2.3", "2.4"], "not-started")
    assert [batch.label for batch in simulator.known.batches.accepted] == ["scaffold"]
    before = len(simulator.turns)
    state = simulator.run()
    assert state.decision == "DONE"
    assert {turn.item for turn in simulator.turns[before:] if not turn.copy} == {"2.1", "2.2", "2.3", "2.4"}
    assert undo(state, frozenset({"turn-3"}), "scaffold") == ()


@pytest.mark.req("O10")
def test_the_context_names_what_is_ready_scaffold_first_and_stays_within_its_budget() -> None:
    simulator = simulated(Team())
    history = TaskHistory()
    seen: list[str] = []
    told = 0
    while simulator.known.stopped is None:
        simulator.step()
        for event in simulator.events[told:]:
            history.add(event)
        told = len(simulator.events)
        text = context(simulator.known, history)
        assert len(text) <= 2000
        if text and (not seen or seen[-1] != text):
            seen.append(text)
    scaffold = next(text for text in seen if "**Phase**: SCAFFOLD" in text)
    assert "- 1.1: lay out the package — no dependencies | scaffold: true" in scaffold
    assert "2.4: describe it" not in scaffold, "while a scaffold subtask is open nothing else is ready"
    executing = next(text for text in seen if "**Phase**: EXECUTE" in text)
    assert "- 2.1: read orders — after 1.1" in executing
    assert "`pkg/orders.py`" in executing
    assert "2.3: print a bill" not in executing, "its dependencies are open"


@pytest.mark.req("O60")
def test_the_state_of_every_subtask_is_told_as_it_changes() -> None:
    simulator = simulated(Team())
    history = TaskHistory()
    seen: list[dict[str, str]] = []
    while simulator.known.stopped is None:
        simulator.step()
        history = TaskHistory(simulator.events)
        states = {each.id: each.state for each in status(simulator.known, history).subtasks}
        if not seen or seen[-1] != states:
            seen.append(states)
    assert {"1.1": "in-progress", "2.4": "not-started"}.items() <= seen[2].items()
    assert set(seen[-1].values()) == {"completed"}
    assert all(set(each.values()) <= {"not-started", "in-progress", "completed"} for each in seen)


@pytest.mark.req("O37")
@pytest.mark.parametrize(("draft", "done"), [(PLAN_TEXT, True), ("", False)])
def test_a_planner_may_edit_the_plan_file_in_its_turn_instead_of_reporting_it(draft: str, done: bool) -> None:
    world = Team(plan=Claim(status="complete", source="report-file"))
    world.draft = draft
    simulator = simulated(world)
    state = simulator.run()
    assert (state.decision == "DONE") is done
    read = [f.effect for f in simulator.of(Begun) if isinstance(f, Begun) and isinstance(f.effect, ReadDraft)]
    assert (read[0].path, read[0].commit) == (".loop/001-it-works/plan.md", "turn-1@save/1")
    if not done:
        assert "none in plan.md" in [turn for turn in simulator.turns if turn.role == "planner"][1].prompt


@pytest.mark.req("O22")
def test_a_person_may_answer_with_the_edited_plan_which_is_worked_to() -> None:
    edited = "- [ ] **1** read — Files: `a.py` | Acceptance: it reads\n- [ ] **2** write — Acceptance: it writes"
    world = Team()
    world.answer = lambda ask, _state: edited if ask.question.name == "plan" else None
    simulator = simulated(world, a_plan_task(approve_plan=True))
    state = simulator.run()
    assert state.decision == "DONE"
    assert [item.id for item in state.items] == ["1", "2"]
    assert sum(turn.role == "planner" for turn in simulator.turns) == 1


@pytest.mark.req("O22")
def test_a_plan_of_the_users_own_is_shown_without_a_review_where_they_want_to_see_it() -> None:
    world = Team()
    shown: list[str] = []

    def answer(ask: Ask, _state: State) -> str | None:
        shown.append(ask.question.detail)
        return "yes"

    world.answer = answer
    simulator = simulated(world, a_plan_task(SUBTASKS, approve_plan=True))
    assert simulator.run().decision == "DONE"
    assert shown == [render(SUBTASKS)]
    assert "plan-reviewer" not in {turn.role for turn in simulator.turns}


def test_a_skip_that_names_a_subtask_leaves_out_that_one_and_no_other() -> None:
    world = Team()
    simulator = simulated(world)
    while len(simulator.known.lanes) < 3:
        simulator.step()
    simulator.append(PersonSpoke("skip"))
    assert simulator.known.batches.left_out == (), "nobody asks, so nothing is left out"
    simulator.append(PersonSpoke("skip", "2.2"))
    state = simulator.run()
    assert state.decision == "DONE"
    assert ids(world.saved[state.main.head]) == ["1.1", "2.1", "2.3", "2.4"]


def skipped_in_batch(world: Team, stage: str) -> Simulator:
    """A person leaves out 2.2 when its work is in a batch that is integrated, reviewed, judged or settled."""
    simulator = simulated(world)
    while not (simulator.known.main.stage == stage and "2.2" in simulator.known.lanes):
        simulator.step()
    assert simulator.known.batches.current is not None
    assert "2.2" in simulator.known.batches.current.attempted
    simulator.append(PersonSpoke("skip", "2.2"))
    return simulator


@pytest.mark.parametrize("stage", ["REVIEW", "MONITOR", "CHECKPOINT"])
def test_a_skip_that_comes_too_late_for_a_subtask_leaves_what_is_accepted_accepted(stage: str) -> None:
    world = Team()
    state = skipped_in_batch(world, stage).run()
    assert state.decision == "DONE", state.stopped
    assert ids(world.saved[state.main.head]) == ALL
    assert state.batches.left_out == ()
    assert state.stopped is not None
    assert "left out" not in state.stopped.reason


@pytest.mark.parametrize("stage", ["REVIEW", "MONITOR", "CHECKPOINT"])
def test_a_subtask_that_is_skipped_in_its_batch_and_rejected_is_not_begun_again(stage: str) -> None:
    world = Team()
    refused = rejecting(**{"2_2": "no prices"})
    world.say = lambda turn, state: refused if turn.role == "reviewer" and "2.2" in state.lanes else None
    simulator = skipped_in_batch(world, stage)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    assert ids(world.saved[state.main.head]) == ["1.1", "2.1", "2.3", "2.4"]
    assert [f.lane for f in simulator.of(LaneOpened) if isinstance(f, LaneOpened)].count("2.2") == 1
    assert state.stopped is not None
    assert "left out by a person: 2.2" in state.stopped.reason


@pytest.mark.req("O33")
def test_what_the_final_review_found_and_what_was_changed_beside_the_plan_stand_in_the_report() -> None:
    world = Team()
    noted = Claim(
        verdict="warn", findings=(Finding("minor", "the README is short", "README.md"),), source="report-file"
    )
    world.say = lambda turn, _state: noted if turn.stage == "FINAL_REVIEW" else None
    simulator = simulated(world)
    state = simulator.run()
    history = TaskHistory(simulator.events)
    history.add(Event(999, state.now, 1, UndeclaredEditsFound("2.1", ("pkg/extra.py",))))
    text = markdown(report(state, history))
    assert "Final review: minor: the README is short README.md" in text
    assert "2.1 also changed files it had not named: pkg/extra.py" in text


@pytest.mark.req("O2")
def test_a_task_is_a_draft_until_its_plan_is_approved() -> None:
    simulator = simulated(Team())
    words: list[str] = []
    while simulator.known.stopped is None:
        simulator.step()
        word = task_status(simulator.known)
        if not words or words[-1] != word:
            words.append(word)
    assert words == ["DRAFT", "APPROVED", "IN_PROGRESS", "COMPLETE"]


@pytest.mark.req("O61")
def test_the_report_names_the_commit_of_every_subtask() -> None:
    simulator = simulated(Team())
    state = simulator.run()
    commits = report(state, TaskHistory(simulator.events)).commits
    named = [commit.label.partition(": ")[2] for commit in commits if ": " in commit.label]
    assert sorted(named) == ALL
    assert len({commit.sha for commit in commits}) == len(commits)


@pytest.mark.req("O51")
def test_a_subtask_whose_workspace_cannot_be_made_is_parked_and_the_others_are_accepted() -> None:
    class Broken(Team):
        def perform(self, effect: Effect, state: State) -> Outcome:
            if isinstance(effect, OpenLane) and effect.lane == "2.2":
                return Failed(f"{effect.id}: no space left on device")
            return super().perform(effect, state)

    simulator = simulated(Broken())
    state = simulator.run()
    assert state.decision == "BLOCKED"
    done = {item.id for item in state.items if item.status == "completed"}
    assert done == {"1.1", "2.1", "2.4"}, "2.3 waits for 2.2, everything else goes on"
    simulator.world.__class__ = Team
    simulator.append(SessionStarted(2, "simulated", "0"))
    assert simulator.run().decision == "DONE"
