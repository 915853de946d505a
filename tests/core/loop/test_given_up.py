"""What fails on a file of the user's waits for the user; what fails elsewhere is an error."""

import pytest

from flyball.core.decide import decide
from flyball.core.model.events import TaskStopped
from flyball.core.model.outcomes import Failed
from flyball.core.model.task import EffectId
from flyball.testing.builders import Story


@pytest.mark.req("C9")
@pytest.mark.parametrize(
    ("id", "kind", "reason"),
    [
        *(
            (id, "blocked", f"x.md is gone. Once that is mended: flyball resume {Story().state.task.id}")
            for id in ("read/1", "read/track-2", "edit/completed-1", "source/4", "mark/2")
        ),
        ("prepare", "blocked", "prepare: x.md is gone"),
        ("save/1", "error", "save/1: x.md is gone"),
    ],
)
def test_a_file_of_the_users_blocks_with_the_command_to_go_on(id: str, kind: str, reason: str) -> None:
    state = Story().start().state
    state.main.failed = EffectId(id), Failed(f"{id}: x.md is gone")
    [stopped] = decide(state).facts
    assert isinstance(stopped, TaskStopped)
    assert (stopped.kind, stopped.reason) == (kind, reason)
