"""Lanes as rows of a plot: those that were never worked on at one time share a row, as pooled workspaces do."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.history.timeline import TimelineMark

MOST_ROWS = 6
Rows = Mapping[str, str]
"""The name of each lane's row: the lane every task has keeps its own, the others have letters."""


def rows_of(spans: Mapping[str, tuple[datetime, datetime]]) -> Rows:
    """From the first to the last thing that was done in each lane."""
    return _rows((lane, begin.timestamp(), end.timestamp()) for lane, (begin, end) in spans.items())


def rows_of_marks(marks: Sequence[TimelineMark]) -> Rows:
    """The same where only iterations are known."""
    return _rows((mark.lane, mark.number, mark.number + 1) for mark in marks)


def _rows(spans: Iterable[tuple[str, float, float]]) -> dict[str, str]:
    whole: dict[str, tuple[float, float]] = {}
    for lane, begin, end in spans:
        before = whole.get(lane, (begin, end))
        whole[lane] = min(before[0], begin), max(before[1], end)
    ends: list[float] = []
    named = {MAIN: MAIN} if MAIN in whole else {}
    for lane, (begin, end) in sorted(whole.items(), key=lambda each: each[1]):
        if lane == MAIN:
            continue
        free = next((place for place, until in enumerate(ends) if until <= begin), len(ends))
        ends[free : free + 1] = [end]
        named[lane] = chr(65 + free % 26)
    return named


def order(rows: Rows) -> list[str]:
    """The rows from above: the task's own first."""
    return sorted(set(rows.values()), key=lambda name: (name != MAIN, name))


def more(rows: Sequence[str]) -> str:
    """What stands under the last row that has room."""
    return f"and {plural(len(rows) - MOST_ROWS, 'more lane')}" if len(rows) > MOST_ROWS else ""
