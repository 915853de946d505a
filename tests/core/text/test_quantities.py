"""One thing is one, and a long list is short."""

import pytest

from flyball.core.text.quantities import alternatives, first_few, plural


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (0, ("turn",), "0 turns"),
        (1, ("turn",), "1 turn"),
        (2, ("turn",), "2 turns"),
        (1, ("criterion", "criteria"), "1 criterion"),
        (3, ("criterion", "criteria"), "3 criteria"),
    ],
)
def test_one_thing_is_counted_as_one(number: int, words: tuple[str, ...], said: str) -> None:
    assert plural(number, *words) == said


def test_of_a_long_list_the_first_are_named_and_the_rest_counted() -> None:
    assert first_few(()) == ""
    assert first_few(("a", "b", "c")) == "a, b, c"
    assert first_few(["a", "b", "c", "d"], 2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("words", "said"), [((), ""), (("a",), "a"), (("a", "b"), "a or b"), (("a", "b", "c"), "a, b or c")]
)
def test_one_of_several_is_named_with_an_or_before_the_last(words: tuple[str, ...], said: str) -> None:
    assert alternatives(words) == said
