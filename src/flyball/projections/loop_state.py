"""`loop-state.md`: the monitor's page, at most fifty lines however long the loop has run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from flyball.core.monitor import Verdict
from flyball.core.state import State
from flyball.projections.chronicle import Chronicle
from flyball.projections.records import Row
from flyball.projections.standing import health
from flyball.projections.wording import escaped, listed, plain

ROWS_SHOWN = 26
MOST_IDS = 6


def loop_state(state: State, chronicle: Chronicle) -> str:
    """The page after the last event."""
    last = chronicle.judgements[-1] if chronicle.judgements else None
    seen = chronicle.judged.observation if chronicle.judged else None
    lines = [
        "# Loop State",
        "",
        f"**Iteration**: {len(chronicle.judgements)}",
        f"**Status**: {health(state, chronicle)}",
        f"**Confidence**: {last.confidence if last else 'LOW'}",
        "",
        "## Current Batch",
        f"- Attempted: {_ids(seen.batch if seen else ())}",
        f"- Passed: {_ids(seen.passed if seen else ())}",
        f"- Failed: {_ids(seen.failed if seen else ())}",
        "",
        "## History",
        "| Iter | Attempted | Passed | Failed | Notes |",
        "|------|-----------|--------|--------|-------|",
        *_rows(chronicle.rows),
        "",
        "## Pattern Detection",
        f"- Consecutive failures: {chronicle.errors.failures_running}",
        f"- Same-error streak: {chronicle.errors.streak}{_error(chronicle)}",
        f"- Trend: {last.trend if last else 'stable'}",
        "",
        "## Recommendation",
        _recommendation(state, chronicle),
    ]
    return "\n".join(lines) + "\n"


def verdict_lines(verdict: Verdict) -> str:
    """What the monitor prints: one line, and the blockers where there are any."""
    line = f"Status: {verdict.health} | Recommendation: {plain(verdict.recommendation)}\n"
    if not verdict.blockers:
        return line
    return line + f"Blockers: {'; '.join(plain(b.description or b.type) for b in verdict.blockers)}\n"


def _rows(rows: list[Row]) -> list[str]:
    recent = rows[-ROWS_SHOWN:]
    folded = len(rows) - len(recent)
    shown = [_row(row) for row in recent]
    if not folded:
        return shown
    first, last = rows[0], rows[folded - 1]
    span = f"{first.iteration}–{last.iteration}"
    note = f"{folded} earlier rows; the journal has them all"
    return [f"| {span} | | {last.passed_so_far} | {last.failed_so_far} | {note} |", *shown]


@lru_cache(maxsize=256)
def _row(row: Row) -> str:
    ids = " | ".join(_ids(column) for column in (row.attempted, row.passed, row.failed))
    return f"| {row.iteration} | {ids} | {escaped(row.notes, 120)} |"


def _ids(ids: Iterable[str]) -> str:
    return escaped(listed([plain(i, 40) for i in ids], MOST_IDS))


def _error(chronicle: Chronicle) -> str:
    if not chronicle.errors.streak:
        return ""
    return f" — {escaped(chronicle.errors.recent[-1].error, 120)}"


def _recommendation(state: State, chronicle: Chronicle) -> str:
    if state.decision == "BLOCKED":
        return "escalate"
    if not chronicle.judgements:
        return "continue"
    return escaped(chronicle.judgements[-1].recommendation, 160)
