"""Whether a finished task can go on with feedback: looked at before anything is said to it."""

from __future__ import annotations

from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.text.quantities import listed
from flyball.ports import Refusal
from flyball.wiring.run.manual_session import manual_session
from flyball.wiring.site import Site
from flyball.workspace.workspace import GitWorkspace


class NotDone(Refusal):
    """There is no finished work yet that feedback could be on."""


class ChangedInPlace(Refusal):
    """The user's tree is no longer what the task delivered."""


def made_ready(site: Site, task: TaskId) -> str:
    """Refuse what could not be delivered in the end; a sentence on what was put back for it, if anything was."""
    with manual_session(site, task) as hand:
        _require_done(hand.state)
        _require_unchanged(hand.workspace)
        return hand.workspace.reclaim()


def _require_done(state: State) -> None:
    task, stopped = state.task.id, state.stopped
    if stopped is not None and stopped.kind == "done":
        return
    if stopped is not None and stopped.kind == "aborted":
        raise NotDone(
            f"{task} was aborted, so it delivered nothing to give feedback on. Continue it with:"
            f" flyball rollback {task} --to last-good; then: flyball modify {task} TEXT; and: flyball resume {task}"
        )
    raise NotDone(
        f"{task} is not finished, so it is not reopened. Give it guidance instead: flyball modify {task} TEXT;"
        f" then: flyball resume {task}"
    )


def _require_unchanged(workspace: GitWorkspace) -> None:
    changed = workspace.unsaved_files() if workspace.in_place else ()
    if changed:
        raise ChangedInPlace(
            f"{workspace.task} was worked in place, and this tree has changed since: {listed(changed, 5)}. Commit or keep that elsewhere"
            f' and start anew from it: flyball run --in-place "…"; or put the files back: flyball diff {workspace.task}'
        )
