"""What a rollback by a person means for batches that were accepted since: their subtasks are open again."""

from __future__ import annotations

from flyball.core.model.batch_events import BatchesUndone, SubtaskReturned
from flyball.core.model.events import Fact, ItemChanged
from flyball.core.model.state import State


def undo(state: State, labels: frozenset[str], to: str) -> tuple[Fact, ...]:
    """The facts of a rollback to the checkpoint `to`, after which those in `labels` no longer stand."""
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
