"""After a rollback by a person no page tells what was measured of the work that is undone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.projections.pages.test_pages import known
from tests.support.builders import Story

from flyball.core.model.batch_events import LaneOpened
from flyball.core.model.effects import Restore
from flyball.core.model.events import Judged, Moved, PersonSpoke, TaskStopped
from flyball.core.model.outcomes import Restored
from flyball.core.model.task import Commit, EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.gone_back import gone_back
from flyball.projections.pages.guidance import said_shown
from flyball.projections.pages.home import home_page
from flyball.projections.pages.summary import summarize
from flyball.projections.pages.task_page import task_page

pytestmark = pytest.mark.req("V6")


def rolled_back(to: str) -> Story:
    """Four failing, then none; then a person goes back to a checkpoint."""
    story = Story().start()
    story.iterate(failing=tuple(f"a::t{n}" for n in range(4)))
    story.iterate(failing=())
    kept = {each.label: each.commit for each in TaskHistory(story.events).checkpoints}
    story.add(PersonSpoke("reset", f"Rolled back to {to}.")).restore(Commit(kept[to]))
    return story.add(TaskStopped("paused", f"rolled back to {to} by a person"))


def test_the_page_tells_what_was_measured_of_the_tree_that_stands_again() -> None:
    found = known(rolled_back("turn-1"), controlled=False)
    page = task_page(found)
    assert (page.figures[0].value, page.figures[0].note) == ("4", "of 12, as measured at turn-1")
    assert "4 tests failed when it was measured" in page.sentence
    assert "0 tests fail" not in page.sentence
    assert page.failing is not None
    assert page.failing.story.endswith("Then a person went back to turn-1, where 4 tests failed when it was measured.")
    assert "0 at the last iteration" in page.failing.story
    assert all("back to turn-1" in picture for picture in page.failing.pictures)
    assert home_page([summarize(found)], found.now).under_way[0].failing == 4


def test_stages_that_were_done_and_are_undone_are_to_come_again() -> None:
    story = Story().start().iterate(signal=True).leave("GREEN").iterate(signal=True).leave("REFACTOR")
    story.add(Moved("RED", "REFACTOR", "rolled back to start by a person"), TaskStopped("paused", "rolled back"))
    stops = task_page(known(story, controlled=False)).rail
    assert [stop.chip.word for stop in stops[:3]] == ["stopped here", "to come", "to come"]


def test_a_tree_that_was_never_measured_has_no_number() -> None:
    page = task_page(known(rolled_back("start"), controlled=False))
    assert (page.figures[0].value, page.figures[0].note) == ("–", "start was not measured")
    assert page.failing is not None
    assert "which was not measured" in page.failing.story


def test_a_rollback_of_the_loop_itself_or_an_iteration_since_is_told_as_measured() -> None:
    own = Story().start().iterate(failing=("a::b",), restore_to="base0000").restore(Commit("base0000"))
    assert gone_back(TaskHistory(own.events)) is None
    on = rolled_back("turn-1").iterate(failing=("a::b",))
    assert gone_back(TaskHistory(on.events)) is None
    assert gone_back(TaskHistory(Story().start().events)) is None


def test_two_lanes_that_the_loop_rolls_back_at_once_are_no_rollback_of_a_person() -> None:
    story = Story().start().iterate(failing=("a::b",), restore_to="base0000")
    judged = next(event.fact for event in reversed(story.events) if isinstance(event.fact, Judged))
    story.add(LaneOpened("a", "RED", Commit("base0000")), replace(judged, lane="a"))
    story.restore(Commit("base0000"))
    back = Restore(EffectId("a/restore/1"), Commit("base0000"), "regressing", lane="a")
    story.perform(back, Restored(Commit("base0000"), "tree-0"))
    assert gone_back(TaskHistory(story.events)) is None
    assert gone_back(TaskHistory(story.restore(Commit("base0000")).events)) is not None


def test_a_subtask_that_flyball_restores_is_nobodys_going_back() -> None:
    story = Story().start().switch_to("2.1").iterate(failing=("a::b",), restore_to="base0000")
    story.switch_to("2.2").iterate()
    restore = Restore(EffectId("2.1/restore/1"), Commit("base0000"), "regressing", lane="2.1")
    story.perform(restore, Restored(Commit("base0000"), "tree-0", Commit("undone00")))
    told = TaskHistory(story.events)
    assert [each.lane for each in told.rollbacks] == ["2.1"]
    assert gone_back(told) is None
    again = Restore(EffectId("2.1/restore/2"), Commit("base0000"), "a person asked", lane="2.1")
    story.perform(again, Restored(Commit("base0000"), "tree-0", Commit("undone01")))
    assert gone_back(TaskHistory(story.events)) is None, "a person's word to the subtask, too"


def test_a_word_that_waits_says_what_it_will_do() -> None:
    pausing = said_shown(PersonSpoke("pause"), controlled=True)
    assert pausing.said == "You said pause"
    assert pausing.effect == "The task stops when its iteration ends. Nothing is lost."
    assert said_shown(PersonSpoke("modify", "round up"), controlled=False).effect.endswith("when you resume it.")
