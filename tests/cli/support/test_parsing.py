"""Texts that begin with a dash are texts."""

import pytest

from flyball.cli.support.parsing import texts_last

VALUED = {"--gate", "--max-turns"}


@pytest.mark.req("C66")
@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["1", "- greet\n- part"], ["1", "--", "- greet\n- part"]),
        (["- greet", "--new"], ["--new", "--", "- greet"]),
        (["--new", "- a = b"], ["--new", "--", "- a = b"]),
        (["x", "--gate", "-v y"], ["x", "--gate", "-v y"]),
        (["--gate=test=make -k check", "x"], ["--gate=test=make -k check", "x"]),
        (["--nwe", "x"], ["--nwe", "x"]),
        (["1", "--", "- a"], ["1", "--", "- a"]),
        (["--", "1", "-a b"], ["--", "1", "-a b"]),
    ],
)
def test_a_text_that_begins_with_a_dash_is_no_option(typed: list[str], read: list[str]) -> None:
    assert texts_last(typed, VALUED) == read
