"""A task's checkpoints: found by what a person calls them, compared, and gone back to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from flyball.core.loop.commit_messages import message as commit_message
from flyball.core.memory.recording import anti_pattern
from flyball.core.model.effects import Restore, Save
from flyball.core.model.events import (
    Event,
    Fact,
    Moved,
    PersonSpoke,
    TaskReopened,
    TaskStopped,
    TurnSetAside,
)
from flyball.core.model.outcomes import Outcome, Restored, Saved
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Commit, EffectId, TaskId
from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog import workflow
from flyball.core.workflows.backlog.cycles import folder
from flyball.core.workflows.backlog.effects import ReadBacklog
from flyball.core.workflows.backlog.record import record_of
from flyball.core.workflows.registry import workflow_of
from flyball.documents.backlog_folder import BacklogFolders
from flyball.ports import Refusal
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.views.standing import finished, next_command
from flyball.projections.wording import short
from flyball.wiring.run.manual_session import ManualSession, manual_session
from flyball.wiring.site import Site
from flyball.wiring.tasks.surroundings import look_around
from flyball.wiring.tasks.undone_batches import take_marks_back, undone_batches
from flyball.workspace.saved_task import KEPT
from flyball.workspace.workspace import GitWorkspace

_STEPS_BACK = re.compile(r"[0-9]{1,3}")
_NEGATIVE = re.compile(r"-[0-9]+")
_SHORTEST_SHA = 4
_AGAIN = "rollback-"
START = "start"


class NoCheckpoints(Refusal):
    """The task has nothing to go back to."""


class NoSuchCheckpoint(Refusal):
    """The word names no checkpoint of the task."""


class HoldsTrick(Refusal):
    """The checkpoint was caught with a trick, so nothing is built on it."""


class RolledBack(msgspec.Struct, frozen=True):
    """What a rollback did; `unmarked` is why a plan of the user's still says that undone work is done."""

    task: str
    to: str
    sha: str
    stage: str
    undone: str
    undone_sha: str
    files: int
    next_command: str
    merged_into: str = ""
    unmarked: str = ""


def checkpoints(site: Site, task: TaskId) -> list[CheckpointRecord]:
    """All checkpoints, oldest first; refuses where there is none."""
    found = list(site.dossier(task).chronicle.checkpoints)
    if not found:
        raise NoCheckpoints(
            f"NO_CHECKPOINTS: {task} has no checkpoint yet. It gets its first with: flyball resume {task}"
        )
    return [*found, *_found_in_tree(site, task, found[-1])]


def _found_in_tree(site: Site, task: TaskId, newest: CheckpointRecord) -> list[CheckpointRecord]:
    """What a tree held beside checkpoints when it had to go back: kept by the workspace itself, in the last instant."""
    known = site.workspace(site.state(task).task).checkpoints
    kept = sorted((label for label in known if label.startswith(KEPT)), key=lambda label: (len(label), label))
    return [msgspec.structs.replace(newest, label=label, commit=known[label], accepted=False) for label in kept]


def named(task: TaskId, found: list[CheckpointRecord], word: str) -> CheckpointRecord:
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
        raise NoSuchCheckpoint(
            f"{task} has {plural(len(accepted), 'accepted checkpoint')}; {back} back is before the first."
            f" See: flyball checkpoints {task}"
        )
    if _NEGATIVE.fullmatch(word):
        raise NoSuchCheckpoint(
            f"{word} is not a number of checkpoints; expected 1 for the accepted checkpoint before the last, 2 for the one"
            f" before that, or a label, a commit or last-good. See: flyball checkpoints {task}"
        )
    by_commit = [kept for kept in found if len(word) >= _SHORTEST_SHA and kept.commit.startswith(word.lower())]
    if len({kept.commit for kept in by_commit}) == 1:
        return by_commit[-1]
    why = "names more than one checkpoint" if by_commit else "names no checkpoint"
    labels = ", ".join(dict.fromkeys(kept.label for kept in found[-12:]))
    raise NoSuchCheckpoint(f"{word!r} {why} of {task}; there are: {labels}. See: flyball checkpoints {task}")


def compared(site: Site, task: TaskId, word: str = "") -> tuple[GitWorkspace, str, str]:
    """The task's workspace, the older and the newer commit of a diff: from the start, or from a checkpoint, until now."""
    found = checkpoints(site, task)
    state = site.state(task)
    workspace = site.workspace(state.task)
    older = named(task, found, word).commit if word else found[0].commit
    return workspace, older, state.main.head if state.decision == "DONE" else workspace.tip


def rollback(site: Site, task: TaskId, word: str) -> RolledBack:
    """Go back to a checkpoint: what is undone is kept as one, and the loop goes on from the stage that followed it."""
    target = named(task, checkpoints(site, task), word)
    if target.tricked:
        raise HoldsTrick(
            f"{target.label} of {task} holds a trick, so it cannot be restored: {target.tricked}."
            f" Choose another: flyball checkpoints {task}; the last good one: flyball rollback {task} --to last-good"
        )
    if target.lane != MAIN:
        raise NoSuchCheckpoint(
            f"{target.label} is a checkpoint of {target.lane} alone, which is worked on beside the branch; look at it with:"
            f" flyball diff {task} {target.label}. Checkpoints of the branch: flyball checkpoints {task}"
        )
    with manual_session(site, task) as hand:
        merged = _finished_before(site, hand, target)
        hand.workspace.prepare()
        hand.interrupt_all(f"rolled back to {target.label}")
        undone = _set_aside(hand, target)
        found = checkpoints(site, task)
        stage = workflow_of(hand.state.task).rolled_back_to or stage_after(site.journal.read(task), target)
        base = _accepted_before(found, target)
        _accept_again(hand, base, target, stage, *_reopened(hand.state, found, base))
        hand.append(*undone_batches(hand.state, found, base))
        _write_reopened(site, hand)
        unmarked = take_marks_back(site, hand)
        if target.label == START or _before_tests(hand.state, stage):
            # No accepted work of this round is left, so its tests are no longer what is protected: the head's are.
            hand.append(Moved(stage, stage, f"rolled back to {target.label} by a person", accepts_tests=True))
        _restore(hand, target, undone)
        files = len(hand.workspace.changed_files(Commit(target.commit), undone.commit))
        hand.append(TaskStopped("paused", f"rolled back to {target.label} by a person"))
        following = next_command(hand.state)
        return RolledBack(
            task, target.label, target.commit, stage, undone.label, undone.commit, files, following, merged, unmarked
        )


def _finished_before(site: Site, hand: ManualSession, target: CheckpointRecord) -> str:
    """Refuse what would not lead on; the user's branch that has the work already, which stays as it is."""
    task, state = hand.state.task.id, hand.state
    if state.rounds and target.at < _reopened_at(site.journal.read(task)):
        raise NoSuchCheckpoint(
            f"{target.label} lies before {task} was reopened, and belongs to work that was delivered; expected a checkpoint made"
            f" since, such as reopened-{state.rounds}. See: flyball checkpoints {task}"
        )
    if finished(state) is None:
        return ""
    hand.workspace.reclaim()
    return look_around(site, state).merged_into


def _reopened_at(events: Iterable[Event]) -> datetime:
    return max(event.at for event in events if isinstance(event.fact, TaskReopened))


def _before_tests(state: State, stage: str) -> bool:
    """Whether a task whose stages follow each other is back in the first of them."""
    workflow = workflow_of(state.task)
    return not workflow.rolled_back_to and stage == workflow.stages[0]


def stage_after(events: Iterable[Event], target: CheckpointRecord) -> str:
    """The stage the loop was in once the checkpoint stood: an accepted one is followed by the move it was made for."""
    if not target.accepted or target.label.startswith(_AGAIN):
        return target.stage
    seen = False
    for event in events:
        fact = event.fact
        outcome: Outcome | None = getattr(fact, "outcome", None)
        if not seen:
            seen = event.at == target.at and isinstance(outcome, Saved) and outcome.commit == target.commit
        elif isinstance(fact, Moved):
            return fact.stage
        elif isinstance(outcome, Saved) and outcome.accepted:
            break
    return target.stage


def _set_aside(hand: ManualSession, target: CheckpointRecord) -> Saved:
    """Keep the tree as it is now under a label of its own."""
    state = hand.state
    number = state.seq
    save = Save(
        EffectId(f"save/undone-{number}"),
        label=f"undone-{number}",
        message=f"undone: {state.task.id}",
        parent=state.main.head,
    )
    at_once: list[Fact] = [PersonSpoke("reopen")] if finished(state) is not None else []
    at_once.append(PersonSpoke("reset", f"Rolled back to {target.label} ({short(target.commit)})."))
    if state.main.at_work is not None:
        at_once.append(TurnSetAside(state.main.at_work.turn, "interrupted", f"rolled back to {target.label}"))

    def do(at: datetime) -> Outcome:
        kept = hand.workspace.snapshot(save.label, save.message, at)
        return Saved(Commit(kept.commit), kept.tree, save.label, notes=kept.notes)

    saved = hand.perform(save, do, *at_once)
    assert isinstance(saved, Saved)
    return saved


def _accepted_before(found: list[CheckpointRecord], target: CheckpointRecord) -> CheckpointRecord:
    """The last accepted checkpoint at or before the target: what the branch is to hold."""
    place = max(n for n, kept in enumerate(found) if kept.commit == target.commit and kept.label == target.label)
    return next(kept for kept in reversed(found[: place + 1]) if kept.on_branch)


def _reopened(state: State, found: list[CheckpointRecord], base: CheckpointRecord) -> tuple[Fact, ...]:
    """What is open again because it was completed after the checkpoint the branch goes back to."""
    undone = frozenset(kept.label for kept in found[found.index(base) + 1 :] if kept.on_branch)
    return workflow_of(state.task).undo(state, undone, base.label)


def _write_reopened(site: Site, hand: ManualSession) -> None:
    """Let the user's files say at once what is open again; what they do not let us write now, the next session does."""
    if not record_of(hand.state).reopened:
        return
    folders = BacklogFolders(site.repository.root)
    seen = folders.read(ReadBacklog(EffectId("read/reopen"), path=folder(hand.state)))
    effect = workflow.reopening(hand.state, seen)
    hand.perform(effect, lambda _at: folders.edit(effect))


def _accept_again(
    hand: ManualSession, base: CheckpointRecord, target: CheckpointRecord, stage: str, *reopened: Fact
) -> None:
    """Let the branch go on from where it is with the older tree, so that no commit of it is ever lost."""
    state = hand.state
    moved = Moved(stage, state.main.stage, f"rolled back to {target.label} by a person")
    lesson = anti_pattern(state, state.main, "rollback", f"rolled back to {target.label} by a person", _lesson(state))
    tree = hand.workspace.tree_of(Commit(base.commit))
    if hand.workspace.tree_of(state.main.head) == tree:
        hand.append(lesson, *reopened, moved)
        return
    label = f"{_AGAIN}{state.seq}"
    message = commit_message(f"revert: go back to {base.label} ({short(base.commit)})", label, state.items)
    save = Save(
        EffectId(f"save/{label}"), label=label, message=message, parent=state.main.head, accepted=True, tree=tree
    )

    def do(at: datetime) -> Outcome:
        kept = hand.workspace.accept(label, message, at, tree=tree, parent=save.parent)
        return Saved(
            Commit(kept.commit), kept.tree, label, accepted=True, notes=(*kept.notes, *_published(hand, kept.commit))
        )

    hand.perform(save, do, lesson, *reopened, moved)


def _published(hand: ManualSession, commit: str) -> tuple[str, ...]:
    try:
        hand.workspace.publish(commit)
    except Refusal as error:
        return (str(error),)
    return ()


def _restore(hand: ManualSession, target: CheckpointRecord, undone: Saved) -> None:
    commit = Commit(target.commit)
    effect = Restore(EffectId(f"restore/{hand.state.main.restores + 1}"), to=commit, reason="a person asked")

    def do(_at: datetime) -> Outcome:
        notes = hand.workspace.restore(commit)
        return Restored(commit, hand.workspace.tree_of(commit), undone.commit, notes)

    hand.perform(effect, do)


def _lesson(state: State) -> str:
    judged = state.main.loop.judged
    if judged is None:
        return f"The work of {state.main.stage} up to iteration {state.main.loop.iteration} was given up."
    missing = "; ".join(judged.gate_1.missing[:3])
    return f"The work of {state.main.stage} was given up at: {judged.verdict.evidence}" + (
        f" Missing: {missing}" if missing else ""
    )
