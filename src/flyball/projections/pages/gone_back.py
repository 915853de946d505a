"""A rollback by a person: what was measured last belongs to work that is undone, so pages tell what the older tree had."""

from __future__ import annotations

from datetime import datetime

import msgspec

from flyball.core.model.measurement import Counts
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
    own = _own_rollbacks(history)
    later = [each for each in history.rollbacks if each.at >= marks[-1].at and each not in own]
    if not later:
        return None
    kept = next((each for each in reversed(history.checkpoints) if each.commit == later[-1].commit), None)
    label = kept.label if kept else later[-1].commit[:10]
    return GoneBack(later[-1].at, label, _counts_at(history, kept) if kept else None)


def _own_rollbacks(history: TaskHistory) -> list[Rollback]:
    """Those of the loop: the first in a lane since the last verdict there was to roll it back."""
    last = {mark.lane: mark for mark in history.timeline.marks}
    first = (
        next((back for back in history.rollbacks if back.lane == mark.lane and back.at >= mark.at), None)
        for mark in last.values()
        if mark.kind == "rolled back"
    )
    return [back for back in first if back is not None]


def _counts_at(history: TaskHistory, kept: CheckpointRecord) -> Counts | None:
    """A turn's checkpoint is the tree that was measured after it; an accepted stage's is its last turn's."""
    mark = next((each for each in history.timeline.marks if each.turn == kept.turn and each.lane == kept.lane), None)
    if mark is None or not mark.counts.total:
        return None
    same = kept.label == f"turn-{kept.turn}" or (kept.label == kept.stage and mark.kind == "accepted")
    return mark.counts if same else None
