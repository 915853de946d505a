"""Checkpoints to choose from, and which two commits tell what a turn or an item changed: those of its own lane, which sees no other."""

from collections.abc import Sequence

import msgspec

from flyball.core.model.task import MAIN
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.task_page import PAGE

BEGAN = "where its lane began"


class Change(msgspec.Struct, frozen=True):
    """From one commit to another; `since` is what the older one is called, `turns` made the change, where it is theirs alone."""

    older: str
    newer: str
    since: str
    turns: frozenset[int] = frozenset()


def of_turn(history: TaskHistory, number: int) -> Change | None:
    """What a turn changed; None where it left no checkpoint."""
    kept = next((each for each in reversed(history.checkpoints) if each.label == f"turn-{number}"), None)
    return _since_before(history, kept, kept, frozenset({number})) if kept else None


def of_item(history: TaskHistory, item: str) -> Change | None:
    """What was changed for an item as it stands: in its own lane since that was last opened, or by its turns."""
    turns = frozenset(turn.number for turn in history.turns if turn.item == item)
    opened = next((each for each in reversed(history.timeline.openings) if each.item == item), None)
    if opened is not None:
        kept = [each for each in history.checkpoints if each.lane == opened.lane and each.at >= opened.at]
        return Change(opened.base, kept[-1].commit, BEGAN, turns) if kept else None
    kept = [each for each in history.checkpoints if each.lane == MAIN and each.turn in turns]
    return _since_before(history, kept[0], kept[-1], turns) if kept else None


def _since_before(
    history: TaskHistory, first: CheckpointRecord, last: CheckpointRecord, turns: frozenset[int]
) -> Change:
    older = first.before or first.commit
    label = next((each.label for each in reversed(history.checkpoints) if each.commit == older), BEGAN)
    return Change(older, last.commit, label, turns)


def checkpoints_to_offer(kept: Sequence[CheckpointRecord], wanted: str = "") -> tuple[CheckpointRecord, ...]:
    """The newest of what may be thousands, oldest first; before them the one wanted by label or commit, however old it is."""
    older = [each for each in kept[:-PAGE] if wanted and (each.label == wanted or each.commit.startswith(wanted))]
    return (*older[-1:], *kept[-PAGE:])
