"""What is not of the wanted kind in foreign JSON is an empty one, and money is never less than it was."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from flyball.agents.reading.loose_json import as_money, as_object, object_in


@pytest.mark.parametrize("text", [b"", b"\xff", "words", "[1]", "null", "[" * 200_000, '{"a":' * 200_000])
def test_a_text_that_holds_no_object_holds_an_empty_one(text: str | bytes) -> None:
    assert as_object(text) == {}


def test_an_object_is_read_from_its_file_if_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text('{"a": 1}')
    assert object_in(tmp_path / "there.json") == {"a": 1}
    assert object_in(tmp_path / "missing.json") == object_in(tmp_path) == {}


@pytest.mark.parametrize(
    ("told", "usd"),
    [(0.0024000000000000002, 0.0024), (0.0000004, 0.000001), (0.25, 0.25), (3, 3.0), (0.1234561, 0.123457)],
)
def test_money_is_rounded_up_to_a_millionth(told: float, usd: float) -> None:
    assert as_money(told) == usd


@pytest.mark.parametrize("told", [None, True, "0.1", -1, 0, float("nan"), float("inf"), 10**9])
def test_what_is_no_amount_is_nothing(told: Any) -> None:
    assert as_money(told) == 0.0


@pytest.mark.req("C1")
@given(st.lists(st.floats(1e-7, 1.0), max_size=50))
def test_many_turns_together_never_count_less_than_they_cost(costs: list[float]) -> None:
    assert sum(map(as_money, costs)) >= sum(costs) - 1e-7
