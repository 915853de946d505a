"""The monitor's page and answer for a loop that others drive, folded from the batches it told of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flyball.core.events import BatchJudged
from flyball.core.monitor import Verdict, observe
from flyball.core.observation import History
from flyball.core.quantities import listed
from flyball.projections.loop_state import Page, written
from flyball.projections.records import Row
from flyball.projections.wording import plain


def history_of(judged: Iterable[BatchJudged]) -> History:
    """What the monitor knows of the loop."""
    history = History()
    for fact in judged:
        history = observe(history, fact.observation)
    return history


def batch_page(judged: Sequence[BatchJudged]) -> str:
    """`loop-state.md` after the last of at least one batch."""
    last = judged[-1]
    seen, verdict = last.observation, last.verdict
    repeated = [item for item in history_of(judged).items if seen.iteration in item.repeats]
    worst = max(repeated, key=lambda item: item.count, default=None)
    return written(
        Page(
            iteration=seen.iteration,
            status=verdict.health,
            confidence=verdict.confidence,
            attempted=seen.batch,
            passed=seen.passed,
            failed=seen.failed,
            rows=_rows(judged),
            failures_running=_failures_running(judged),
            streak=worst.count if worst else 0,
            error=worst.summary if worst else "",
            trend=verdict.trend,
            recommendation=verdict.recommendation,
        )
    )


def answer(verdict: Verdict, iteration: int) -> dict[str, Any]:
    """What `flyball monitor --json` prints, every field of it, always."""
    return {
        "status": verdict.health,
        "recommendation": plain(verdict.recommendation),
        "cure": verdict.cure,
        "confidence": verdict.confidence,
        "trend": verdict.trend,
        "evidence": plain(verdict.evidence, 1000),
        "blockers": [{"id": b.id, "type": b.type, "description": b.description} for b in verdict.blockers],
        "iteration": iteration,
    }


def _rows(judged: Sequence[BatchJudged]) -> list[Row]:
    rows: list[Row] = []
    passed = failed = 0
    for fact in judged:
        seen = fact.observation
        passed, failed = passed + len(seen.passed), failed + len(seen.failed)
        rows.append(Row(seen.iteration, seen.batch, seen.passed, tuple(seen.failed), _notes(fact), passed, failed))
    return rows


def _notes(fact: BatchJudged) -> str:
    recorded = fact.batch.review.anti_patterns if fact.batch.review else ()
    learnt = f"recorded {listed(recorded)}; " if recorded else ""
    return plain(f"{learnt}{fact.verdict.health}: {fact.verdict.evidence}", 160)


def _failures_running(judged: Sequence[BatchJudged]) -> int:
    """How many of the latest batches passed nothing."""
    count = 0
    for fact in reversed(judged):
        if fact.observation.passed or not (fact.observation.batch or fact.observation.failed):
            break
        count += 1
    return count
