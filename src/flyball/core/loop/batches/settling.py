"""The approved work becomes the branch's, boxes are ticked, and what was sent back is made ready to begin again.

The pieces are commits already, each on the one before; the last of them is saved as the batch's one checkpoint. Where the remedy is a
rollback, nothing of the batch is taken; for a flip-flop the two batches before it are undone by a commit with the older tree.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.loop.batches import choosing, integrating
from flyball.core.loop.batches.monitoring import ROLLBACK_TWO
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.commit_messages import message
from flyball.core.loop.step import NOTHING, Step, perform, record
from flyball.core.memory.recording import anti_pattern
from flyball.core.model.batch_events import BatchesUndone, BatchSettled, LaneClosed, SubtaskReturned
from flyball.core.model.batches import AcceptedBatch, Batch, Returning
from flyball.core.model.effects import CloseLane, Save
from flyball.core.model.events import Fact, ItemChanged, LearningRecorded, LearningSource, Moved
from flyball.core.model.outcomes import Saved, WorkspaceClosed
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId
from flyball.core.text.quantities import first_few

BATCHES_BACK = 2
_TAUGHT: dict[str, tuple[LearningSource, str]] = {
    "review": ("review", "the review rejected"),
    "conflict": ("conflict", "a conflict sent back"),
    "gates": ("conflict", "red gates sent back"),
    "failed": ("review", "every turn failed on"),
    "undone": ("rollback", "a rollback undid"),
}


def settle(rules: BatchRules, state: State, lane: Lane) -> Step:
    """Save or undo, close the lanes, and tell what became of each."""
    batch = state.batches.current
    if batch is None or any(item not in state.lanes for item in batch.attempted):
        return NOTHING  # in the midst of the facts below, which are appended together
    wanted = _save(state, batch)
    if wanted is not None and not isinstance(lane.outcomes.get(wanted.id), Saved):
        return perform(wanted)
    return _close_lanes(state, batch) or record(*_outcome(rules, state, lane, batch))


def _accepted_items(state: State, batch: Batch) -> tuple[str, ...]:
    return () if state.batches.rung.startswith("rollback") else tuple(each.item for each in batch.taken)


def _undone_batches(state: State) -> tuple[AcceptedBatch, ...]:
    return state.batches.accepted[-BATCHES_BACK:] if state.batches.rung == ROLLBACK_TWO else ()


def _save(state: State, batch: Batch) -> Save | None:
    """The batch as one checkpoint, or the tree from before the batches that are undone."""
    if _undone_batches(state):
        return _revert(state, batch)
    pieces = [each for each in batch.taken if each.result == "integrated"]
    if not pieces or not _accepted_items(state, batch):
        return None
    item = choosing.find(state.items, pieces[-1].item)
    return Save(
        EffectId(f"accept/batch-{batch.number}"),
        label=integrating.label(state, batch),
        message=integrating.commit_text(state, batch, item),
        parent=pieces[-2].commit if len(pieces) > 1 else state.main.head,
        accepted=True,
        tree=pieces[-1].tree,
    )


def _revert(state: State, batch: Batch) -> Save:
    """The branch goes on with the older tree, so that no commit of it is lost."""
    back, label = _before(state), f"rollback-{batch.number}"
    undone = [choosing.find(state.items, item) for gone in _undone_batches(state) for item in gone.items]
    return Save(
        EffectId(f"accept/{label}"),
        label=label,
        message=message(f"revert: go back to {back.label}", label, undone),
        parent=state.main.head,
        accepted=True,
        tree=back.tree,
    )


def _before(state: State) -> AcceptedBatch:
    left = state.batches.accepted[: -len(_undone_batches(state))]
    if left:
        return left[-1]
    assert state.prepared is not None
    return AcceptedBatch("start", (), state.prepared.base, state.prepared.tree)


def _close_lanes(state: State, batch: Batch) -> Step | None:
    """Give back the workspaces of the batch, all at once."""
    lanes = [state.lanes[item] for item in batch.attempted]
    closing = {lane.name: lane.effect_id(f"close/{batch.number}") for lane in lanes}
    left = [lane.name for lane in lanes if not isinstance(lane.outcomes.get(closing[lane.name]), WorkspaceClosed)]
    return perform(*(CloseLane(closing[name], lane=name) for name in left)) if left else None


def _outcome(rules: BatchRules, state: State, lane: Lane, batch: Batch) -> Iterator[Fact]:
    """What became of each subtask of the batch, and where the task's own lane goes on."""
    accepted, undone, name = _accepted_items(state, batch), _undone_batches(state), integrating.label(state, batch)
    gone = tuple(item for each in undone for item in each.items)
    returning = _returning(state, batch, accepted, gone)
    changes = [ItemChanged(item, "completed") for item in accepted]
    changes += [ItemChanged(item, "not-started") for item in gone]
    changes += [ItemChanged(item, "in-progress") for item in returning if item not in {*gone, *batch.attempted}]
    yield from changes
    yield from _return_subtasks(state, batch, returning)
    yield from (LaneClosed(item, "accepted" if item in accepted else "sent back") for item in batch.attempted)
    if undone:
        labels = tuple(each.label for each in undone)
        yield BatchesUndone(labels, gone, _before(state).label, state.batches.evidence)
    yield BatchSettled(batch.number, name if accepted else "", accepted, state.main.head if accepted else Commit(""))
    statuses = {change.id: change.status for change in changes}
    after = tuple(replace(item, status=statuses.get(item.id, item.status)) for item in state.items)
    told = f"{name}: {first_few(accepted, 5)} accepted" if accepted else "nothing was accepted"
    yield Moved(rules.following(replace(state, items=after)), lane.stage, told, completed=bool(accepted))


def _returning(state: State, batch: Batch, accepted: tuple[str, ...], gone: tuple[str, ...]) -> dict[str, Returning]:
    """All that goes back: what was rejected or failed, and what a rollback takes along."""
    told = (state.batches.evidence,)
    dropped = {each.item: Returning("undone", told) for each in batch.taken if each.item not in accepted}
    failed = {item: Returning("failed", (gone.detail,)) for item, gone in state.batches.failures.items()}
    return {**dict.fromkeys(gone, Returning("undone", told)), **dropped, **batch.returning, **failed}


def _return_subtasks(state: State, batch: Batch, returning: dict[str, Returning]) -> Iterator[Fact]:
    """Why each goes back, for whoever takes it up, and what it teaches. A remedy starts without the work that failed.

    What was approved and went down with a regressing batch keeps its work, and teaches nothing.
    """
    rung, taught = "" if state.batches.rung.startswith("rollback") else state.batches.rung, 0
    for item, back in returning.items():
        head = base = Commit("")
        approved = back.why == "undone" and state.batches.rung != ROLLBACK_TWO
        if (approved or (back.why == "review" and not rung)) and item in batch.attempted:
            head, base = state.lanes[item].head, state.lanes[item].base
        parked = state.batches.spent
        yield SubtaskReturned(item, back.why, back.reasons, back.detail, head, base, rung, parked)
        if not approved:
            yield _lesson(state, item, back, taught)
            taught += 1


def _lesson(state: State, item: str, back: Returning, after: int) -> LearningRecorded:
    """What an item that goes back teaches: about the item, and about the files its work changed or was to change."""
    source, title = _TAUGHT[back.why]
    work = state.lanes.get(item)
    proven = (work.loop.last or work.loop.entry) if work is not None else None
    files = (proven.changed if proven is not None else ()) or choosing.find(state.items, item).files
    said = "; ".join(back.reasons)
    return anti_pattern(state, state.main, source, f"{title} {item}", said, after=after, item=item, files=files)


def undo(state: State, labels: frozenset[str], to: str) -> tuple[Fact, ...]:
    """The facts of a person's rollback to the checkpoint `to`, after which those in `labels` no longer stand: their subtasks are open again."""
    gone = [batch for batch in state.batches.accepted if batch.label in labels]
    items = tuple(item for batch in gone for item in batch.items)
    if not items:
        return ()
    told = f"rolled back to {to} by a person"
    return (
        *(ItemChanged(item, "not-started") for item in items),
        *(SubtaskReturned(item, "undone", (told,)) for item in items),
        BatchesUndone(tuple(batch.label for batch in gone), items, to, told),
    )
