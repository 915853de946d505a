"""What people's words, answers and questions of one lane leave alone in the others."""

from typing import Literal

import pytest
from msgspec.structs import replace
from tests.support.builders import OPENED_AT, Story, tdd_task, two_lanes_asking

from flyball.core.loop.questions import hourly_limit
from flyball.core.model.batch_events import BatchSettled, ReviewUnread, SubtaskReturned
from flyball.core.model.effects import Question
from flyball.core.model.events import Ended, PersonSpoke, TaskStopped, WindowOpened
from flyball.core.model.outcomes import Answered, Failed, Interrupted, Outcome, Unanswered
from flyball.core.model.task import Commit, EffectId
from flyball.core.workflows.plan.facts import PlanReviewed
from flyball.core.workflows.plan.record import record_of
from flyball.core.workflows.track.facts import TrackPlanned
from flyball.core.workflows.track.record import record_of as track_record


def plan_story() -> Story:
    """A plan that was sent back once and whose subtask 2.4 waits for a person, while 2.1 and 2.2 are worked on."""
    story = Story(replace(tdd_task(), workflow="plan"), "EXECUTE").start()
    story.add(
        PlanReviewed(False, "reviewer"), SubtaskReturned("2.4", "gates", parked=True), ReviewUnread(7, "reviewer")
    )
    return story.open_lanes("2.1", "2.2")


@pytest.mark.req("C10")
def test_a_new_hour_withdraws_every_lanes_question_about_the_last_one() -> None:
    story = two_lanes_asking(hourly_limit("100 of 100 calls", OPENED_AT)).add(WindowOpened(forced=True))
    assert story.state.questions == {}
    assert [lane for lane in story.state.lanes.values() if story.state.is_working(lane)] == []


@pytest.mark.parametrize("end", [Answered("wait"), Unanswered(), Interrupted("the loop stops"), Failed("EIO")])
def test_an_end_that_an_older_journal_holds_of_a_withdrawn_question_changes_nothing(end: Outcome) -> None:
    story = two_lanes_asking(hourly_limit("100 of 100 calls", OPENED_AT)).add(WindowOpened(forced=True))
    before = story.state
    story.add(Ended(before.lanes["2.2"].effect_id("ask/1"), end), Ended(EffectId("ask/1"), end))
    assert (story.state.questions, story.state.open, story.state.lanes) == ({}, {}, before.lanes)


@pytest.mark.parametrize("word", ["reset", "modify"])
def test_a_word_to_one_lane_clears_nothing_that_was_counted_against_the_plan(word: Literal["reset", "modify"]) -> None:
    before = plan_story()
    after = plan_story().add(PersonSpoke(word, "use a table", lane="2.2"))
    assert after.state.batches == before.state.batches
    assert after.state.batches.parked == ("2.4",)
    assert after.state.record == before.state.record


@pytest.mark.parametrize("lane", ["", "main"])
def test_a_word_to_the_task_clears_what_was_counted_against_the_plan(lane: str) -> None:
    state = plan_story().add(PersonSpoke("reset", lane=lane)).state
    assert (state.batches.parked, state.batches.unread) == ((), 0)
    assert record_of(state).rejections == 0


def test_an_accepted_subtask_waits_for_nobody_whichever_word_an_older_journal_freed_it_with() -> None:
    story = plan_story().add(PersonSpoke("reset", lane="2.2"), BatchSettled(1, "batch-1", ("2.4",), Commit("base0000")))
    assert story.state.batches.parked == ()


def test_a_word_to_one_lane_grants_no_more_rounds_to_a_track() -> None:
    story = Story(replace(tdd_task(), workflow="track"), "PLAN").start()
    story.add(TrackPlanned("planner", 1, problems=("line 1: no task",))).open_lanes("2.2")
    told = story.add(PersonSpoke("reset", lane="2.2")).state
    assert track_record(told).revisions == 1
    assert track_record(story.add(PersonSpoke("reset")).state).revisions == 0


@pytest.mark.parametrize(("subtask", "skipped"), [("", ["2.2"]), ("2.1", ["2.1"]), ("2.4", [])])
def test_a_skip_that_names_a_subtask_skips_no_other_in_its_place(subtask: str, skipped: list[str]) -> None:
    story = Story().start().open_lanes("2.1", "2.2").ask(Question("breaker", "2.2 makes no progress"), "2.2")
    lanes = story.add(PersonSpoke("skip", subtask)).state.lanes.values()
    assert [lane.name for lane in lanes if lane.loop.skipping] == skipped


def blocked_lanes() -> Story:
    """An agent of lane 2.2 has asked something, no agent can be reached in lane 2.1, and nobody was there."""
    story = Story().start().open_lanes("2.1", "2.2")
    story.ask(Question("out-of-reach", "no turn has succeeded", again=True), "2.1")
    story.ask(Question("agent-4-1", "Which file?"), "2.2")
    story.add(*(Ended(key, Unanswered()) for key in story.state.open))
    return story.add(TaskStopped("blocked", "no turn has succeeded", question=EffectId("2.1/ask/1")))


def test_resuming_puts_again_what_may_be_settled_and_keeps_the_question_of_another_lane() -> None:
    state = blocked_lanes().add(PersonSpoke("resume")).state
    assert state.stopped is None
    assert list(state.questions) == ["2.2/ask/1"]


def test_a_question_that_a_lane_puts_again_under_its_name_takes_the_place_of_the_first() -> None:
    story = blocked_lanes().add(PersonSpoke("resume")).ask(Question("agent-4-1", "Which file?"), "2.2")
    assert list(story.state.questions) == ["2.2/ask/2"]
