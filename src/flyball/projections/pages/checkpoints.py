"""Checkpoints to choose from: a task may have thousands."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.projections.history.records import CheckpointRecord
from flyball.projections.pages.task_page import PAGE


def checkpoints_to_offer(kept: Sequence[CheckpointRecord], wanted: str = "") -> tuple[CheckpointRecord, ...]:
    """The newest, oldest first, and before them the one that is wanted by label or commit, however old it is."""
    older = [each for each in kept[:-PAGE] if wanted and (each.label == wanted or each.commit.startswith(wanted))]
    return (*older[-1:], *kept[-PAGE:])
