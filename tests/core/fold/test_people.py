"""What people's words, answers and questions of one lane leave alone in the others."""

import pytest

from flyball.core.loop.questions import hourly_limit
from flyball.core.model.events import Ended, WindowOpened
from flyball.core.model.outcomes import Answered
from flyball.testing.builders import OPENED_AT, two_lanes_asking


@pytest.mark.req("C10")
def test_a_new_hour_withdraws_every_lanes_question_about_the_last_one() -> None:
    story = two_lanes_asking(hourly_limit("100 of 100 calls", OPENED_AT)).add(WindowOpened(forced=True))
    assert story.state.questions == {}
    assert [lane for lane in story.state.lanes.values() if story.state.is_working(lane)] == []


def test_an_answer_that_an_older_journal_holds_to_a_withdrawn_question_changes_nothing() -> None:
    story = two_lanes_asking(hourly_limit("100 of 100 calls", OPENED_AT)).add(WindowOpened(forced=True))
    before = story.state
    story.add(Ended(before.lanes["2.2"].effect_id("ask/1"), Answered("wait")))
    assert (story.state.questions, story.state.open, story.state.lanes) == ({}, {}, before.lanes)
