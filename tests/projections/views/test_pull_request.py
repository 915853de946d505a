"""The text for a merge or pull request."""

import pytest
from tests.support.builders import short_tdd_run

from flyball.projections.files.loop_files import render
from flyball.projections.history.task_history import TaskHistory


@pytest.mark.req("C52")
def test_a_finished_task_has_a_text_that_says_what_was_asked_measured_and_how_to_take_it() -> None:
    story = short_tdd_run()
    text = render(story.state, TaskHistory(story.events))["pull-request.md"]
    assert text.splitlines()[0] in story.state.task.request.replace("_", "\\_")
    assert "- [x] AC" in text
    assert "passed: `" in text
    assert "git merge flyball/" in text


@pytest.mark.req("C52")
def test_an_unfinished_task_has_none() -> None:
    story = short_tdd_run()
    early = story.events[:6]
    from flyball.core.fold.evolve import fold

    state = fold(early)
    assert state is not None
    assert "pull-request.md" not in render(state, TaskHistory(early))
