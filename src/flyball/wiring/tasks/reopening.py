"""Whether a finished task can go on with feedback: looked at before anything is said to it."""

from __future__ import annotations

from flyball.core.model.task import TaskId
from flyball.core.text.quantities import listed
from flyball.ports import Refusal
from flyball.wiring.run.manual_session import manual_session
from flyball.wiring.site import Site


class NotDone(Refusal):
    """There is no finished work yet that feedback could be on."""


class ChangedInPlace(Refusal):
    """The user's tree is no longer what the task delivered."""


def prepare_reopening(site: Site, task: TaskId) -> str:
    """Refuse what could not be delivered in the end; a sentence on what was put back for it, if anything was."""
    with manual_session(site, task) as hand:
        stopped, workspace = hand.state.stopped, hand.workspace
        if stopped is not None and stopped.kind == "aborted":
            raise NotDone(
                f"{task} was aborted, so it delivered nothing to give feedback on. Continue it with:"
                f" flyball rollback {task} --to last-good; then: flyball modify {task} TEXT; and: flyball resume {task}"
            )
        if stopped is None or stopped.kind != "done":
            raise NotDone(
                f"{task} is not finished, so it is not reopened. Give it guidance instead: flyball modify {task} TEXT;"
                f" then: flyball resume {task}"
            )
        changed = workspace.unsaved() if workspace.in_place else ()
        if changed:
            raise ChangedInPlace(
                f"{task} was worked in place, and this tree has changed since: {listed(changed, 5)}. Commit or keep that elsewhere"
                f' and start anew from it: flyball run --in-place "…"; or put the files back: flyball diff {task}'
            )
        return workspace.reclaim()
