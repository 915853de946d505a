"""`loop-state.md`: the monitor's page, at most fifty lines however long the loop has run."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from flyball.core.health.verdict import Blocker, Verdict
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import first_few, plural
from flyball.projections.history.records import Row
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import health, leading_judgement
from flyball.projections.wording import escape, plain

ROWS_SHOWN = 26
MOST_IDS = 6
BLOCKERS_SHOWN = 20
_BLOCKER_TYPES = frozenset({"dependency", "external", "fundamental"})


class LoopPage(msgspec.Struct, frozen=True):
    """What the page says, whoever drives the loop."""

    iteration: int
    status: str
    confidence: str
    attempted: Iterable[str]
    passed: Iterable[str]
    failed: Iterable[str]
    rows: Sequence[Row]
    failures_running: int
    streak: int
    error: str
    trend: str
    recommendation: str


def loop_state(state: State, history: TaskHistory) -> str:
    last = leading_judgement(state, history)
    seen = next((row for row in reversed(history.rows) if row.attempted), None)
    streak = history.errors.streak(last.lane if last else MAIN)
    return page_text(
        LoopPage(
            iteration=history.rows[-1].iteration if history.rows else 0,
            status=health(state, history),
            confidence=last.confidence if last else "LOW",
            attempted=seen.attempted if seen else (),
            passed=seen.passed if seen else (),
            failed=seen.failed if seen else (),
            rows=history.rows,
            failures_running=streak.failures,
            streak=streak.same,
            error=streak.last.error if streak.last else "",
            trend=last.trend if last else "stable",
            recommendation="escalate" if state.decision == "BLOCKED" else last.recommendation if last else "continue",
        )
    )


def page_text(page: LoopPage) -> str:
    lines = [
        "# Loop State",
        "",
        f"**Iteration**: {page.iteration}",
        f"**Status**: {page.status}",
        f"**Confidence**: {page.confidence}",
        "",
        "## Current Batch",
        f"- Attempted: {_ids(page.attempted)}",
        f"- Passed: {_ids(page.passed)}",
        f"- Failed: {_ids(page.failed)}",
        "",
        "## History",
        "| Iter | Attempted | Passed | Failed | Notes |",
        "|------|-----------|--------|--------|-------|",
        *_rows(page.rows),
        "",
        "## Pattern Detection",
        f"- Consecutive failures: {page.failures_running}",
        f"- Same-error streak: {page.streak}" + (f" — {escape(page.error, 120)}" if page.streak else ""),
        f"- Trend: {page.trend}",
        "",
        "## Recommendation",
        escape(page.recommendation, 160),
    ]
    return "\n".join(lines) + "\n"


def verdict_lines(verdict: Verdict) -> str:
    """What the monitor prints: one line, and the blockers where there are any."""
    line = f"Status: {verdict.health} | Recommendation: {plain(verdict.recommendation)}\n"
    if not verdict.blockers:
        return line
    return line + f"Blockers: {first_few([_blocker(b) for b in verdict.blockers], BLOCKERS_SHOWN)}\n"


def _blocker(blocker: Blocker) -> str:
    """What it says of itself; a type that is none of the three is said with it."""
    words = blocker.description if blocker.type in _BLOCKER_TYPES else f"{blocker.type}: {blocker.description}"
    return plain(words or blocker.type).rstrip(": ")


def _rows(rows: Sequence[Row]) -> list[str]:
    recent = rows[-ROWS_SHOWN:]
    folded = len(rows) - len(recent)
    shown = [_row(row) for row in recent]
    if not folded:
        return shown
    first, last = rows[0], rows[folded - 1]
    span = f"{first.iteration}–{last.iteration}"
    note = f"{plural(folded, 'earlier row')}; the journal has them all"
    return [f"| {span} | | {last.passed_so_far} | {last.failed_so_far} | {note} |", *shown]


@lru_cache(maxsize=256)
def _row(row: Row) -> str:
    ids = " | ".join(_ids(column) for column in (row.attempted, row.passed, row.failed))
    return f"| {row.iteration} | {ids} | {escape(row.notes, 120)} |"


def _ids(ids: Iterable[str]) -> str:
    return escape(first_few([plain(i, 40) for i in ids], MOST_IDS))
