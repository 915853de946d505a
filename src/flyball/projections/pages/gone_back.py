"""A rollback by a person: what was measured last belongs to work that is undone, so pages tell what the older tree had."""

from datetime import datetime

import msgspec

from flyball.core.model.measurement import Counts
from flyball.core.model.task import MAIN
from flyball.projections.history.records import CheckpointRecord, Rollback
from flyball.projections.history.task_history import TaskHistory


class GoneBack(msgspec.Struct, frozen=True):
    """To which checkpoint, and what was counted when its tree was measured; None where it never was."""

    at: datetime
    label: str
    counts: Counts | None = None


def gone_back(history: TaskHistory) -> GoneBack | None:
    """The last rollback by a person, as long as no iteration was judged since."""
    marks = history.timeline.marks
    if not marks:
        return None
    # The first rollback after a verdict to roll back is the loop's own; a subtask's tree is not what the page shows.
    own = _own_rollback(history)
    later = [each for each in history.rollbacks if each.lane == MAIN and each.at >= marks[-1].at and each != own]
    if not later:
        return None
    kept = next((each for each in reversed(history.checkpoints) if each.commit == later[-1].commit), None)
    label = kept.label if kept else later[-1].commit[:10]
    return GoneBack(later[-1].at, label, _counts_at(history, kept) if kept else None)


def _own_rollback(history: TaskHistory) -> Rollback | None:
    last = next((mark for mark in reversed(history.timeline.marks) if mark.lane == MAIN), None)
    if last is None or last.kind != "rolled back":
        return None
    return next((back for back in history.rollbacks if back.lane == MAIN and back.at >= last.at), None)


def _counts_at(history: TaskHistory, kept: CheckpointRecord) -> Counts | None:
    """A turn's checkpoint is the tree that was measured after it; an accepted stage's is its last turn's."""
    mark = next((each for each in history.timeline.marks if each.turn == kept.turn and each.lane == kept.lane), None)
    if mark is None or not mark.counts.total:
        return None
    same = kept.label == f"turn-{kept.turn}" or (kept.label == kept.stage and mark.kind == "accepted")
    return mark.counts if same else None
