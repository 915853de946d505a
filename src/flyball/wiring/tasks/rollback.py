"""Going back to a checkpoint of a task, and what that opens again: items that were accepted since, and their marks in a plan of the user's."""

from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec

from flyball.config.home import environment
from flyball.core.loop.commit_messages import message as commit_message
from flyball.core.memory.recording import anti_pattern
from flyball.core.model import events as ev
from flyball.core.model.effects import Restore, Save
from flyball.core.model.outcomes import Interrupted, Outcome, Restored, Saved
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Commit, EffectId, Source, TaskId
from flyball.core.workflows.backlog.cycles import folder, reopening
from flyball.core.workflows.backlog.effects import ReadBacklog
from flyball.core.workflows.backlog.record import record_of as backlog_record
from flyball.core.workflows.plan.effects import EntriesMarked
from flyball.core.workflows.plan.importing import marking, reading, source_of, take_in
from flyball.core.workflows.plan.record import record_of as plan_record
from flyball.core.workflows.registry import workflow_of
from flyball.documents.backlog_folder import BacklogFolders
from flyball.ports import Refusal
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.views.standing import final_stop, next_command
from flyball.projections.wording import short
from flyball.wiring.run.manual_session import ManualSession, manual_session
from flyball.wiring.run.trackers import PlanSources
from flyball.wiring.site import Site
from flyball.wiring.tasks.checkpoints import (
    START,
    checkpoints,
    find_checkpoint,
)
from flyball.wiring.tasks.surroundings import look_around

_AGAIN = "rollback-"


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


def rollback(site: Site, task: TaskId, word: str) -> RolledBack:
    """Go back to a checkpoint: what is undone is kept as one, and the loop goes on from the stage that followed it."""
    target = _target(task, checkpoints(site, task), word)
    with manual_session(site, task) as hand:
        merged = _reclaim_finished(site, hand, target)
        hand.workspace.prepare()
        hand.interrupt_all(f"rolled back to {target.label}")
        undone = _set_aside(hand, target)
        found = checkpoints(site, task)
        stage = workflow_of(hand.state.task).rolled_back_to or stage_after(site.journal.read(task), target)
        base = _accepted_before(found, target)
        labels = frozenset(kept.label for kept in found[found.index(base) + 1 :] if kept.on_branch)
        _accept_again(hand, base, target, stage, *workflow_of(hand.state.task).undo(hand.state, labels, base.label))
        _write_reopened(site, hand)
        unmarked = _take_marks_back(site, hand)
        workflow = workflow_of(hand.state.task)
        if target.label == START or (not workflow.rolled_back_to and stage == workflow.stages[0]):
            # No accepted work of this round is left, so its tests are no longer what is protected: the head's are.
            hand.append(ev.Moved(stage, stage, f"rolled back to {target.label} by a person", accepts_tests=True))
        _restore(hand, target, undone)
        files = len(hand.workspace.changed_files(Commit(target.commit), undone.commit))
        hand.append(ev.TaskStopped("paused", f"rolled back to {target.label} by a person"))
        following = next_command(hand.state)
        return RolledBack(
            task, target.label, target.commit, stage, undone.label, undone.commit, files, following, merged, unmarked
        )


def _target(task: TaskId, found: list[CheckpointRecord], word: str) -> CheckpointRecord:
    """The checkpoint to go back to; refuses one that nothing may be built on."""
    target = find_checkpoint(task, found, word)
    if target.tricked:
        raise Refusal(
            f"{target.label} of {task} holds a trick, so it cannot be restored: {target.tricked}."
            f" Choose another: flyball checkpoints {task}; the last good one: flyball rollback {task} --to last-good"
        )
    if target.lane != MAIN:
        raise Refusal(
            f"{target.label} is a checkpoint of {target.lane} alone and not on the branch; see it with:"
            f" flyball diff {task} {target.label}. Checkpoints of the branch: flyball checkpoints {task}"
        )
    return target


def _reclaim_finished(site: Site, hand: ManualSession, target: CheckpointRecord) -> str:
    """Refuse what would not lead on; the user's branch that has the work already, which stays as it is."""
    task, state = hand.state.task.id, hand.state
    if not site.view(task).history.can_restore(target):
        raise Refusal(
            f"{target.label} is older than the reopening of {task} and belongs to delivered work; expected a checkpoint made"
            f" since, such as reopened-{state.rounds}. See: flyball checkpoints {task}"
        )
    if final_stop(state) is None:
        return ""
    hand.workspace.reclaim()
    return look_around(site, state).merged_into


def stage_after(events: Iterable[ev.Event], target: CheckpointRecord) -> str:
    """The stage the loop was in once the checkpoint stood: an accepted one is followed by the move it was made for."""
    if not target.accepted or target.label.startswith(_AGAIN):
        return target.stage
    seen = False
    own: set[EffectId] = set()
    for event in events:
        fact = event.fact
        if isinstance(fact, ev.Begun) and fact.effect.lane == target.lane:
            own.add(fact.effect.id)
        saved = fact.outcome if isinstance(fact, ev.Ended) and isinstance(fact.outcome, Saved) else None
        if not seen:
            seen = saved is not None and event.at == target.at and saved.commit == target.commit
        elif isinstance(fact, ev.Moved) and fact.lane == target.lane:
            return fact.stage
        elif isinstance(fact, ev.Ended) and saved is not None and saved.accepted and fact.id in own:
            break
    return target.stage


def _set_aside(hand: ManualSession, target: CheckpointRecord) -> Saved:
    state = hand.state
    at_once: list[ev.Fact] = [ev.PersonSpoke("reopen")] if final_stop(state) is not None else []
    at_once.append(ev.PersonSpoke("reset", f"Rolled back to {target.label} ({short(target.commit)})."))
    if state.main.at_work is not None:
        at_once.append(ev.TurnSetAside(state.main.at_work.turn, "interrupted", f"rolled back to {target.label}"))
    return hand.snapshot(f"undone-{state.seq}", f"undone: {state.task.id}", *at_once)


def _accepted_before(found: list[CheckpointRecord], target: CheckpointRecord) -> CheckpointRecord:
    """The last accepted checkpoint at or before the target: what the branch is to hold."""
    place = max(n for n, kept in enumerate(found) if kept.commit == target.commit and kept.label == target.label)
    return next(kept for kept in reversed(found[: place + 1]) if kept.on_branch)


def _write_reopened(site: Site, hand: ManualSession) -> None:
    """Let the user's files say at once what is open again; what they do not let us write now, the next session does."""
    if not backlog_record(hand.state).reopened:
        return
    folders = BacklogFolders(site.repository.root)
    seen = folders.read(ReadBacklog(EffectId("read/reopen"), path=folder(hand.state)))
    effect = reopening(hand.state, seen)
    hand.perform(effect, lambda _at: folders.edit(effect))


def _accept_again(
    hand: ManualSession, base: CheckpointRecord, target: CheckpointRecord, stage: str, *reopened: ev.Fact
) -> None:
    """Let the branch go on from where it is with the older tree, so that no commit of it is ever lost."""
    state = hand.state
    moved = ev.Moved(stage, state.main.stage, f"rolled back to {target.label} by a person")
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
        notes = kept.notes
        try:
            hand.workspace.publish(kept.commit)
        except Refusal as error:
            notes = (*notes, str(error))
        return Saved(Commit(kept.commit), kept.tree, label, accepted=True, notes=notes)

    hand.perform(save, do, lesson, *reopened, moved)


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


def _take_marks_back(site: Site, hand: ManualSession) -> str:
    """Let the user's plan say at once what is open again, whatever else was edited in it; the reason where it cannot be marked now.

    Then the next session marks it: what we wrote is remembered, and never taken for a person's word.
    """
    source = source_of(hand.state)
    if source is None or marking(hand.state) is None:
        return ""
    sources = PlanSources(site.repository.root, environment())
    look = reading(hand.state, source)
    seen = hand.perform(look, _or_broken_off(lambda: sources.read(look)))
    known = plan_record(hand.state).imported
    fatal = [defect for defect in known.unread.defects if defect.fatal] if known.unread is not None else []
    if known.unread is not None and not fatal:
        hand.append(*take_in(hand.state, known, source))
    effect = marking(hand.state)
    if effect is None or isinstance(seen, Interrupted) or fatal:
        problem = f"line {fatal[0].line}: {fatal[0].message}" if fatal else getattr(seen, "detail", "")
        return _unmarked_note(source, problem) if effect is not None else ""
    marked = hand.perform(effect, _or_broken_off(lambda: sources.mark(effect)))
    if isinstance(marked, EntriesMarked):
        return ""
    return _unmarked_note(
        source, marked.detail if isinstance(marked, Interrupted) else "it changed in the same instant"
    )


def _or_broken_off(do: Callable[[], Outcome]) -> Callable[[datetime], Outcome]:
    """A refusal is no end of a rollback: what could not be done is done by the next session."""

    def attempt(_at: datetime) -> Outcome:
        try:
            return do()
        except (Refusal, OSError) as error:
            return Interrupted(str(error))

    return attempt


def _unmarked_note(source: Source, why: str) -> str:
    return f"{source.path} still marks reopened entries as done; flyball could not change the marks: {why.rstrip('.')}"
