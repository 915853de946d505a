"""What fails on a file of the user's waits for the user; what fails elsewhere is an error."""

from typing import ClassVar

import pytest
from tests.support.builders import Story

from flyball.core.decide import decide
from flyball.core.model.effects import Effect, Prepare, Save
from flyball.core.model.events import TaskStopped
from flyball.core.model.outcomes import Failed
from flyball.core.model.task import Commit, EffectId, Source
from flyball.core.workflows.backlog.effects import EditBacklog, ReadBacklog
from flyball.core.workflows.plan.effects import MarkEntries, ReadPlan
from flyball.core.workflows.track.effects import EditTrack, ReadTrack

SOURCE = Source("x.md", "")


class ReadNotes(Effect, frozen=True, tag="read_notes"):
    """An effect of another package's workflow."""

    users_files: ClassVar[bool] = True


@pytest.mark.req("C9")
@pytest.mark.parametrize(
    "effect",
    [
        ReadBacklog(EffectId("read/1"), path=".work"),
        EditBacklog(EffectId("edit/completed-1"), path=".work", seen={}, edits=()),
        ReadPlan(EffectId("source/4"), SOURCE),
        MarkEntries(EffectId("mark/2"), SOURCE, "", ()),
        ReadTrack(EffectId("read/track-2"), path="x"),
        EditTrack(EffectId("edit/boxes-1"), path="x", seen={}, edits=()),
        ReadNotes(EffectId("notes/1")),
    ],
    ids=lambda effect: type(effect).__name__,
)
def test_a_file_of_the_users_blocks_with_the_command_to_go_on(effect: Effect) -> None:
    stopped = _stop_after(effect)
    told = f"x.md is gone. Once that is mended: flyball resume {Story().state.task.id}"
    assert (stopped.kind, stopped.reason) == ("blocked", told)


@pytest.mark.req("C9")
@pytest.mark.parametrize(
    ("effect", "kind"),
    [
        (Prepare(EffectId("prepare")), "blocked"),
        (Save(EffectId("save/1"), label="x", message="x", parent=Commit("base")), "error"),
    ],
)
def test_a_workspace_that_cannot_be_made_blocks_and_the_rest_is_an_error(effect: Effect, kind: str) -> None:
    stopped = _stop_after(effect)
    assert (stopped.kind, stopped.reason) == (kind, f"{effect.id}: x.md is gone")


def _stop_after(effect: Effect) -> TaskStopped:
    state = Story().start().state
    state.main.failed = effect, Failed(f"{effect.id}: x.md is gone")
    [stopped] = decide(state).facts
    assert isinstance(stopped, TaskStopped)
    return stopped
