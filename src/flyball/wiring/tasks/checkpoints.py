"""A task's checkpoints: listed, found by what a person calls them, and compared."""

import re

import msgspec

from flyball.core.model.task import TaskId
from flyball.core.text.quantities import plural
from flyball.ports import Refusal
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.pages.changes import of_turn
from flyball.wiring.site import Site
from flyball.workspace.saved_task import KEPT
from flyball.workspace.workspace import GitWorkspace

_STEPS_BACK = re.compile(r"[0-9]{1,3}")
_NEGATIVE = re.compile(r"-[0-9]+")
_SHORTEST_SHA = 4
START = "start"


def checkpoints(site: Site, task: TaskId) -> list[CheckpointRecord]:
    """All checkpoints, oldest first; refuses where there is none.

    The last of them hold what a tree held beside checkpoints when it had to go back: the workspace kept it in the last instant.
    """
    found = list(site.view(task).history.checkpoints)
    if not found:
        raise Refusal(f"NO_CHECKPOINTS: {task} has no checkpoint yet. It gets its first with: flyball resume {task}")
    in_tree = site.workspace(site.state(task).task).checkpoints
    kept = sorted((label for label in in_tree if label.startswith(KEPT)), key=lambda label: (len(label), label))
    newest = found[-1]
    found += (msgspec.structs.replace(newest, label=label, commit=in_tree[label], accepted=False) for label in kept)
    return found


def find_checkpoint(task: TaskId, found: list[CheckpointRecord], word: str) -> CheckpointRecord:
    """The checkpoint a label, a commit, `last-good` or a number of accepted ones back means; the newest of a label."""
    accepted = [kept for kept in found if kept.on_branch]
    if word == "last-good":
        return accepted[-1]
    labelled = [kept for kept in found if kept.label == word]
    if labelled:
        return labelled[-1]
    if _STEPS_BACK.fullmatch(word):
        back = int(word)
        if back < len(accepted):
            return accepted[-1 - back]
        raise Refusal(
            f"{task} has {plural(len(accepted), 'accepted checkpoint')}; {back} back is before the first."
            f" See: flyball checkpoints {task}"
        )
    if _NEGATIVE.fullmatch(word):
        raise Refusal(
            f"{word} is not a number of checkpoints; expected 1 for the accepted checkpoint before the last, 2 for the one"
            f" before that, or a label, a commit or last-good. See: flyball checkpoints {task}"
        )
    by_commit = [kept for kept in found if len(word) >= _SHORTEST_SHA and kept.commit.startswith(word.lower())]
    if len({kept.commit for kept in by_commit}) == 1:
        return by_commit[-1]
    why = "names more than one checkpoint" if by_commit else "names no checkpoint"
    labels = ", ".join(dict.fromkeys(kept.label for kept in found[-12:]))
    raise Refusal(f"{word!r} {why} of {task}; there are: {labels}. See: flyball checkpoints {task}")


def commits_to_compare(site: Site, task: TaskId, word: str = "") -> tuple[GitWorkspace, str, str]:
    """The task's workspace, the older and the newer commit of a diff: from the start, or from a checkpoint, until now."""
    found = checkpoints(site, task)
    state = site.state(task)
    workspace = site.workspace(state.task)
    older = find_checkpoint(task, found, word).commit if word else found[0].commit
    return workspace, older, state.main.head if state.decision == "DONE" else workspace.tip


def commits_of_turn(site: Site, task: TaskId, number: int) -> tuple[GitWorkspace, str, str]:
    """The task's workspace, the commit whose tree a turn began with and the one it left."""
    change = of_turn(site.view(task).history, number)
    if change is None:
        raise Refusal(f"Turn {number} left no checkpoint. See: flyball checkpoints {task}")
    return site.workspace(site.state(task).task), change.older, change.newer
