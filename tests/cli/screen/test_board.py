"""All tasks as a picture: what needs a person first, at any width, without colour."""

from datetime import timedelta

import pytest
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.cli.screen.board import Looked, board, order_tasks
from flyball.core.model.effects import Question
from flyball.core.model.events import TaskStopped
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.summary import Known, Place, Summary, summarize
from flyball.projections.views.situation import Seen

NOW = Story().at + timedelta(hours=1)


def summary(story: Story, name: str = "ledger") -> Summary:
    return summarize(Known(Place(f"{name}-1", name), story.state, TaskHistory(story.events), (), Seen(), NOW))


def tasks() -> list[Summary]:
    asks = Story(tdd_task(request="Import bank statements")).start().ask(Question("q", "Which rounding?"))
    runs = Story(tdd_task(request="Paginate")).start()
    blocked = Story().start().iterate().add(TaskStopped("blocked", "every remedy was tried"))
    return [summary(short_tdd_run(), "basket"), summary(runs), summary(blocked), summary(asks)]


@pytest.mark.req("V30")
def test_what_needs_a_person_stands_first_and_is_told_with_its_reason() -> None:
    page, rows = order_tasks(tasks(), NOW)
    assert page.heading == "2 tasks need you"
    assert {rows[0].word, rows[1].word} == {"NEEDS YOU", "BLOCKED"}
    assert [row.word for row in rows[2:]] == ["RUNNING", "DONE"]
    text = "\n".join(line.plain for line in board(tasks(), Looked(NOW), 100, 30))
    assert "Which rounding?" in text
    assert "Every remedy was tried." in text
    assert "▸ " in text
    assert "q leave" in text


@pytest.mark.req("V30")
@pytest.mark.parametrize(("width", "height"), [(60, 24), (40, 10), (200, 60), (24, 8)])
def test_no_line_is_wider_than_the_terminal_and_there_are_no_more_than_fit(width: int, height: int) -> None:
    many = tasks() * 30
    for selected in (0, 60, 119):
        lines = board(many, Looked(NOW, selected), width, height)
        assert all(line.cell_len <= width for line in lines)
        assert len(lines) <= height + 2
        if height > 10:
            assert any("▸" in line.plain for line in lines)


@pytest.mark.req("V30")
def test_words_filter_by_name_state_and_repository_and_help_explains_the_keys() -> None:
    assert [row.title for row in order_tasks(tasks(), NOW, "bank needs")[1]] == ["Import bank statements"]
    assert [row.place.name for row in order_tasks(tasks(), NOW, "basket")[1]] == ["basket"]
    text = "\n".join(line.plain for line in board(tasks(), Looked(NOW, help=True), 80, 30))
    assert "answer its question" in text


def test_without_a_task_it_says_how_to_start_one() -> None:
    assert "flyball run" in "\n".join(line.plain for line in board([], Looked(NOW), 80, 24))
