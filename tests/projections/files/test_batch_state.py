"""The monitor's page and answer for a loop that others drive."""

import pytest
from markdown_it import MarkdownIt

from flyball.core.advice.batch import BatchResult, Failure, Review, of_batch
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.health.verdict import Blocker
from flyball.core.model.batch_events import BatchJudged
from flyball.projections.files.batch_state import answer, batch_page, history_of


def told(*results):
    history, facts = History(), []
    for number, result in enumerate(results, 1):
        seen = of_batch(result, number)
        history, verdict = follow(history, seen)
        facts.append(BatchJudged(result, seen, verdict))
    return facts


def failing(item, error="boom"):
    return BatchResult((item,), Review("REJECTED"), failed=(Failure(item, error),))


@pytest.mark.req("M30")
def test_the_page_shows_batch_history_patterns_and_recommendation():
    review = Review("APPROVED", anti_patterns=("AP-7",))
    facts = told(BatchResult(("1.1",), review, ("1.1",)), *[failing("1.2", "TypeError: row")] * 3)
    page = batch_page(facts)
    assert "**Iteration**: 4\n**Status**: STALLED\n**Confidence**: HIGH\n" in page
    assert "- Attempted: 1.2\n- Passed: \n- Failed: 1.2\n" in page
    assert "| 1 | 1.1 | 1.1 |  | recorded AP-7; PROGRESSING: first iteration |" in page
    assert "- Consecutive failures: 3\n- Same-error streak: 3 — TypeError: row\n" in page
    assert page.endswith("## Recommendation\nretry-with-change\n")


@pytest.mark.req("M30")
@pytest.mark.req("M31")
def test_the_page_has_at_most_fifty_lines_and_folds_old_rows_without_losing_their_totals():
    hostile = BatchResult(
        tuple(f"s{n}|\n## x" for n in range(99)),
        Review("REJECTED"),
        failed=(Failure("a|\nb", "## Status\n" * 50),),
        blocked=(Blocker("c", "external", "x\n" * 90),),
    )
    page = batch_page(told(*[failing("a"), hostile] * 40))
    assert len(page.splitlines()) <= 50
    assert "| 1–54 | | 0 | 54 | 54 earlier rows; the journal has them all |" in page
    rows = [token for token in MarkdownIt("commonmark").enable("table").parse(page) if token.type == "tr_open"]
    assert len(rows) == 1 + 1 + 26
    assert page.count("\n## ") == 4


def test_the_history_is_what_the_monitor_knew():
    facts = told(failing("a"), failing("b"), failing("a"))
    history = History()
    for fact in facts:
        history, verdict = follow(history, fact.observation)
    assert history_of(facts) == history
    assert verdict == facts[-1].verdict


@pytest.mark.req("M1")
def test_the_answer_has_every_field_always():
    (fact,) = told(BatchResult(("a",), Review("APPROVED"), ("a",), blocked=(Blocker("b", "dependency"),)))
    assert answer(fact.verdict, 1) == {
        "status": "BLOCKED",
        "recommendation": "unblock:[b]",
        "cure": "ask",
        "confidence": "LOW",
        "trend": "stable",
        "evidence": "b: dependency",
        "blockers": [{"id": "b", "type": "dependency", "description": ""}],
        "iteration": 1,
    }
