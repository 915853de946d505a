"""The ways from stage to stage, as a table that a workflow's code looks its moves up in."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flyball.core.model.events import Moved
from flyball.core.model.state import Lane

HELD = "held"
"""Gate and signal held in the same iteration, or a person took the signal's place."""
REJECTED = "rejected"
LEFT_OUT = "left out"
"""A setting, or what was measured, makes a turn of the stage unnecessary."""
SKIPPED = "skipped"
BY_A_PERSON = "skipped by a person"
"""Why a stage that was skipped is left, in the words of every screen."""


class Transition(msgspec.Struct, frozen=True):
    """From a stage, when, to a stage, and why; without a reason of its own a row is given one when it is taken.

    The first row of a stage is the way through the workflow, the others are turnings. The flags are those of `Moved`.
    """

    stage: str
    when: str
    to: str
    reason: str = ""
    accepts_tests: bool = False
    completed: bool = False
    rejected: bool = False
    forced: bool = False
    unreviewed: bool = False


def move(table: Sequence[Transition], lane: Lane, when: str, reason: str = "") -> Moved:
    [row] = [row for row in table if (row.stage, row.when) == (lane.stage, when)]
    return Moved(
        row.to,
        lane.stage,
        row.reason or reason,
        accepts_tests=row.accepts_tests,
        completed=row.completed,
        rejected=row.rejected,
        forced=row.forced,
        unreviewed=row.unreviewed,
        lane=lane.name,
    )


def skip(table: Sequence[Transition], lane: Lane, when: str = HELD) -> Moved:
    """A person's skip leads where the stage would have led, and nothing in it counts as verified; the last stage stays."""
    to = next((row.to for row in table if (row.stage, row.when) == (lane.stage, when)), lane.stage)
    return Moved(to, lane.stage, BY_A_PERSON, forced=True, lane=lane.name)
