"""The monitor's page and answer for a loop that others drive, folded from the batches it told of."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from flyball.core.advice.loop_page import PastRow
from flyball.core.health.history import History
from flyball.core.health.observation import Observation, observe
from flyball.core.health.verdict import Verdict
from flyball.core.model.batch_events import BatchJudged, HistoryImported
from flyball.core.text.quantities import first_few
from flyball.projections.files.loop_state import LoopPage, page_text
from flyball.projections.history.records import Row
from flyball.projections.wording import plain

Told = BatchJudged | HistoryImported


def history_of(facts: Iterable[Told]) -> History:
    history = History()
    for seen in _observations(facts):
        history = observe(history, seen)
    return history


def next_iteration(facts: Iterable[Told]) -> int:
    return max((seen.iteration for seen in _observations(facts)), default=0) + 1


def is_rolled_back(facts: Sequence[Told]) -> bool:
    """Whether the history that was read ends with a rollback, and no batch followed it yet."""
    last = facts[-1] if facts else None
    return isinstance(last, HistoryImported) and bool(last.rows) and last.rows[-1].observation is None


def _observations(facts: Iterable[Told]) -> Iterator[Observation]:
    for fact in facts:
        if isinstance(fact, BatchJudged):
            yield fact.observation
        else:
            yield from (row.observation for row in fact.rows if row.observation is not None)


def batch_page(facts: Sequence[Told]) -> str:
    """`loop-state.md` after the last fact, which is a batch."""
    last = facts[-1]
    assert isinstance(last, BatchJudged)
    seen, verdict = last.observation, last.verdict
    repeated = [item for item in history_of(facts).items if seen.iteration in item.repeats]
    worst = max(repeated, key=lambda item: item.count, default=None)
    return page_text(
        LoopPage(
            iteration=seen.iteration,
            status=verdict.health,
            confidence=verdict.confidence,
            attempted=seen.batch,
            passed=seen.passed,
            failed=seen.failed,
            rows=_rows(facts),
            failures_running=_failures_running([*_observations(facts)]),
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
        "cure": verdict.remedy,
        "confidence": verdict.confidence,
        "trend": verdict.trend,
        "evidence": plain(verdict.evidence, 1000),
        "blockers": [{"id": b.id, "type": b.type, "description": b.description} for b in verdict.blockers],
        "iteration": iteration,
    }


def _rows(facts: Sequence[Told]) -> list[Row]:
    rows: list[Row] = []
    passed = failed = 0
    for past in (row for fact in facts for row in _past_rows(fact)):
        seen = past.observation or Observation(past.iteration, batch=("ROLLBACK",))
        passed, failed = passed + len(seen.passed), failed + len(seen.failed)
        rows.append(Row(seen.iteration, seen.batch, seen.passed, tuple(seen.failed), past.note, passed, failed))
    return rows


def _past_rows(fact: Told) -> tuple[PastRow, ...]:
    if isinstance(fact, HistoryImported):
        return fact.rows
    recorded = fact.batch.review.anti_patterns if fact.batch.review else ()
    learnt = f"recorded {first_few(recorded)}; " if recorded else ""
    note = plain(f"{learnt}{fact.verdict.health}: {fact.verdict.evidence}", 160)
    return (PastRow(fact.observation.iteration, note, fact.observation),)


def _failures_running(observations: Sequence[Observation]) -> int:
    count = 0
    for seen in reversed(observations):
        if seen.passed or not (seen.batch or seen.failed):
            break
        count += 1
    return count
