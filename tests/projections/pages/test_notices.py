"""V40: what a person is told, and that each thing is told once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.builders import Story, short_tdd_run

from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import Ask, Option, Question, Wait
from flyball.core.model.events import Begun, Ended, PersonSpoke, TaskStopped
from flyball.core.model.outcomes import Waited
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.projections.pages.notices import Notice, Notices

pytestmark = pytest.mark.req("V40")


def told(story: Story) -> list[Notice]:
    notices, state = Notices("ledger-1"), None
    found = []
    for event in story.events:
        state = evolve(state, event)
        assert isinstance(state, State)
        notice = notices.of(event, state)
        found += [notice] if notice else []
    return found


def test_a_question_is_told_with_its_reason_its_command_and_buttons_that_answer_nothing() -> None:
    story = Story().start()
    question = Question(
        "agent-1",
        "Which rounding?",
        (Option("half-even", ""), Option("half-up", "")),
        "half-even",
        story.at + timedelta(hours=1),
    )
    (notice,) = told(story.ask(question))
    assert notice.kind == "needed"
    assert notice.title == "NEEDS YOU: parse the rows"
    assert notice.text == "Which rounding? [half-even | half-up]; half-even is taken at 10:00 UTC"
    assert notice.command == "flyball answer 007-parse-rows ask/1 half-even"
    assert [button.path for button in notice.buttons] == [
        "/t/ledger-1/007-parse-rows/question/ask-1?answer=half-even",
        "/t/ledger-1/007-parse-rows/question/ask-1?answer=half-up",
    ]


def test_subtasks_that_wait_for_the_same_limit_are_told_once_and_named() -> None:
    story = Story().start()
    until = story.at + timedelta(hours=3)
    waits = [Wait(EffectId(f"{lane}/wait/1"), until=until, reason="usage limit", lane=lane) for lane in ("2.1", "2.2")]
    for wait in waits:
        story.switch_to(wait.lane).add(Begun(wait))
    assert [notice.text for notice in told(story)] == ["2.1: waits until 12:00 UTC: usage limit"]
    for wait in waits:
        story.add(Ended(wait.id, Waited()), after_s=0)
    assert [notice.text for notice in told(story)[1:]] == ["goes on after its wait: usage limit"]


def test_a_task_that_waits_again_after_a_word_is_told_to_go_on_when_that_wait_is_over() -> None:
    story = Story().start()
    until = story.at + timedelta(hours=3)
    story.add(Begun(Wait(EffectId("wait/1"), until=until, reason="usage limit")), PersonSpoke("modify", "use a set"))
    story.add(Begun(Wait(EffectId("wait/2"), until=until, reason="usage limit")), Ended(EffectId("wait/2"), Waited()))
    assert [notice.kind for notice in told(story)] == ["waits", "goes on"]


@pytest.mark.req("C22")
def test_a_question_that_blocks_the_task_is_told_once_and_asked_again_by_another_session_not_at_all() -> None:
    story = Story().start().ask(Question("breaker", "What now?"))
    story.add(TaskStopped("blocked", "What now?", question=EffectId("ask/1")))
    again = Ask(EffectId("ask/1"), Question("breaker", "What now?"), attempt=2)
    assert len(told(story)) == 1
    assert told(Story().start().add(Begun(again))) == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("blocked", "needed"), ("limit", "needed"), ("no_agent", "needed"), ("error", "needed"), ("aborted", "ended")],
)
def test_a_task_that_stopped_is_told_by_whether_it_needs_somebody(kind: str, expected: str) -> None:
    (notice,) = told(Story().start().add(TaskStopped(kind, "so it is")))  # type: ignore[arg-type]
    assert (notice.kind, notice.text) == (expected, "so it is")


@pytest.mark.parametrize("kind", ["paused", "interrupted"])
def test_what_the_person_did_themselves_is_not_told(kind: str) -> None:
    assert told(Story().start().add(TaskStopped(kind, "paused by a person"))) == []  # type: ignore[arg-type]


def test_a_finished_task_is_told_with_the_command_that_merges_it() -> None:
    (notice,) = told(short_tdd_run())
    assert notice.title == "DONE: parse the rows"
    assert notice.command == "git merge flyball/007-parse-rows"


@pytest.mark.parametrize(("minutes", "count"), [(9, 0), (11, 2)])
def test_a_wait_of_over_ten_minutes_is_told_when_it_begins_and_when_it_is_over(minutes: int, count: int) -> None:
    story = Story().start()
    until = story.at + timedelta(minutes=minutes)
    story.add(Begun(Wait(EffectId("wait/1"), until=until, reason="usage limit of claude")), after_s=0)
    story.add(Ended(EffectId("wait/1"), Waited()), after_s=minutes * 60)
    notices = told(story)
    assert [notice.kind for notice in notices] == ["waits", "goes on"][:count]
