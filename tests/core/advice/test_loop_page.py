"""A `loop-state.md` of another monitor, read as the history so far."""

import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.advice.loop_page import PageUnreadable, read_page
from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.health.observation import Observation, observe
from flyball.core.health.verdict import Health

pytestmark = pytest.mark.req("M34")

PAGE = """\
# Loop State

**Iteration**: 4
**Status**: STALLED
**Confidence**: MEDIUM

## Current Batch
- Attempted: 1.3
- Passed:
- Failed: 1.3

## History
| Iter | Attempted | Passed | Failed | Notes |
|------|-----------|--------|--------|-------|
| 1    | 1.1, 1.2  | 1.1    | 1.2    | Initial |
| 2    | 1.2       | 1.2    |        | Fixed  |
| 3    | 1.3       | -      | 1.3    | a \\| b |

## Pattern Detection
- Consecutive failures: 2
- Same-error streak: 2 — TypeError in parse_row
- Trend: declining

## Recommendation
retry-with-change
"""


def told(text):
    rows = read_page(text)
    assert rows is not None
    return rows


def test_each_row_is_an_iteration_and_the_current_batch_is_the_last():
    rows = told(PAGE)
    seen = [row.observation for row in rows]
    assert [(one.iteration, one.batch, one.passed, tuple(one.failed)) for one in seen] == [
        (1, ("1.1", "1.2"), ("1.1",), ("1.2",)),
        (2, ("1.2",), ("1.2",), ()),
        (3, ("1.3",), (), ("1.3",)),
        (4, ("1.3",), (), ("1.3",)),
    ]
    assert [row.note for row in rows] == ["Initial", "Fixed", "a | b", ""]


def test_the_next_batch_goes_on_from_the_streak_the_page_tells_of():
    history = History()
    for row in told(PAGE):
        history = observe(history, row.observation)
    error = signature("TypeError in parse_row", ("1.3",))
    _, verdict = follow(
        history, Observation(5, None, "plan", batch=("1.3", "1.4"), passed=("1.4",), failed={"1.3": error})
    )
    assert verdict.health is Health.STALLED
    assert verdict.evidence == "same error 3x: TypeError in parse_row, iterations 3, 4, 5"


def test_a_rollback_starts_the_comparison_anew_and_keeps_its_row():
    table = "| Iter | Attempted | Passed | Failed | Notes |\n|--|--|--|--|--|\n"
    rows = told(table + "| 1 | a | a | | |\n| 1 | ROLLBACK | - | - | reverted to abc |\n| 2 | a | | a: boom | |\n")
    assert [row.observation is None for row in rows] == [False, True, False]
    assert (rows[1].note, rows[2].observation.restored) == ("reverted to abc", True)
    assert rows[2].observation.failed["a"].summary == "boom"


def test_a_page_of_flyball_itself_can_be_read_with_its_folded_rows():
    table = "| Iter | Attempted | Passed | Failed | Notes |\n|--|--|--|--|--|\n"
    rows = told(table + "| 1–3 | | 2 | 1 | 3 earlier rows |\n| 4 | a, b and 7 more | a | b and 1 more | x |\n")
    assert [row.iteration for row in rows] == [1, 2, 3, 4]
    assert (rows[-1].observation.batch, tuple(rows[-1].observation.failed)) == (("a", "b"), ("b",))


def test_what_is_no_such_page_is_none_and_an_unreadable_row_is_named():
    assert read_page("# My notes\n\nnothing here\n") is None
    assert read_page("# Loop State\n\n**Status**: INITIALIZING\n") == ()
    table = "# Loop State\n| Iter | Attempted | Passed | Failed | Notes |\n|--|--|--|--|--|\n"
    for row, problem in (
        ("| 1 | a |", "line 4: '| 1 | a |' has"),
        ("| one | a | a | | |", "line 4: 'one' is not an iteration"),
        ("| 1 | a b | a | | |", "line 4: 'a b' is not an id"),
        ("| 9-1 | | | | |", "line 4: '9-1' is not a range"),
    ):
        with pytest.raises(PageUnreadable) as refused:
            read_page(table + row + "\n")
        assert str(refused.value).startswith(problem)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from([*PAGE.splitlines(), "| | | | | |", "|", "# Loop State", "| 5 |", "\\|"]), max_size=12))
def test_any_text_is_a_history_or_none_or_refused_by_line(lines):
    refused = ""
    try:
        read_page("\n".join(lines))
    except PageUnreadable as error:
        refused = str(error)
    assert not refused or refused.startswith("line ")


@pytest.mark.parametrize(
    "row",
    ["4 | 1.4 | 1.4 | | no bar before it |", "  4 | 1.4 | 1.4 | | and none behind"],
)
def test_a_row_without_its_outer_bars_is_read(row):
    rows = told(PAGE.replace("**Iteration**: 4", "**Iteration**: 3").replace("a \\| b |\n", f"a \\| b |\n{row}\n"))
    assert (rows[-1].iteration, rows[-1].observation.passed) == (4, ("1.4",))


@pytest.mark.parametrize(
    "line",
    ["iteration 4: 1.4 passed", "- 4: 1.4 failed", "| Run | Items | Result |", "and so on"],
)
def test_a_line_of_the_history_that_is_no_row_is_refused_and_never_passed_over(line):
    with pytest.raises(PageUnreadable, match="line 18") as refused:
        read_page(PAGE.replace("a \\| b |\n", f"a \\| b |\n{line}\n"))
    assert "expected" in str(refused.value)


def test_a_history_of_another_shape_is_refused_as_a_whole():
    other = PAGE.replace("| Iter | Attempted | Passed | Failed | Notes |", "| Run | Items | Result |")
    with pytest.raises(PageUnreadable, match="line 13"):
        read_page(other)
