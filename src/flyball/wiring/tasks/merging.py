"""`flyball merge`: the branch of a DONE task comes into the branch that is checked out, or nothing changes and the command is named."""

from collections.abc import Mapping

import msgspec

from flyball.core.model.task import TaskId
from flyball.ports import Refusal
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import is_delivered, next_command
from flyball.wiring.run.holding import edited_paths
from flyball.wiring.site import Site
from flyball.wiring.tasks.inbox import waiting
from flyball.wiring.tasks.surroundings import look_around
from flyball.workspace.publish import look
from flyball.workspace.repository import Repository
from flyball.workspace.user_merge import Obstacle, UserMerge


class MergeResult(msgspec.Struct, frozen=True):
    """What became of a merge; `next_command` is what to type where it was not done."""

    task: str
    branch: str
    into: str
    merged: bool
    reason: str
    next_command: str = ""

    def lines(self) -> tuple[str, ...]:
        return (self.reason, *([f"To merge it yourself: {self.next_command}"] if self.next_command else []))


def merge_task(site: Site, task: TaskId, environment: Mapping[str, str]) -> MergeResult:
    """Merge the branch of a task; only one that is DONE has something to merge."""
    state = site.state(task)
    if state.decision != "DONE":
        seen = look_around(site, state)
        command = (
            next_command(state, waiting(site, state)) or f"flyball {'watch' if seen.controlled else 'resume'} {task}"
        )
        raise Refusal(f"{task} is {situation(state, seen)}, not DONE, so nothing was merged. Next: {command}")
    # The task may have taken hours: what is checked out now is asked for anew.
    repository = Repository.find(site.repository.root)
    branch, into = f"flyball/{task}", repository.branch or ""
    if not is_delivered(state):
        return MergeResult(
            task, branch, into, merged=True, reason=f"{task} changed nothing: there is no branch to merge."
        )
    tip = look(repository, branch).tip
    already = into and site.workspace(state.task).merged_into(state.main.head, into) == into
    onto = state.prepared.onto if state.prepared is not None else ""
    edited = edited_paths(state.task.workflow, state.task.source)
    merge = UserMerge(repository, environment, branch, tip or state.main.head, onto, edited)
    if into != branch and (already or (tip is not None and merge.is_done)):
        there = f"{branch} is already merged into {into or 'HEAD'}."
        same = f"{into} already has the same changes as {branch}, so there is nothing to merge."
        return MergeResult(task, branch, into, merged=True, reason=there if merge.is_done else same)
    if tip is None:
        command = f"git branch {branch} {state.main.head} && git merge {branch}"
        obstacle: Obstacle | None = Obstacle("somebody deleted it", command)
    else:
        obstacle = merge.perform()
    if obstacle is None:
        return MergeResult(task, branch, into, merged=True, reason=f"{branch} is merged into {into}.")
    message = f"{branch} was not merged, and nothing was changed: {obstacle.reason}."
    return MergeResult(task, branch, into, merged=False, reason=message, next_command=obstacle.command)
