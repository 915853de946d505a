"""Which requests say that existing tests change, and what they are about."""

import pytest

from flyball.core.text.requests import changes_tests, subjects

pytestmark = pytest.mark.req("C16")


@pytest.mark.parametrize(
    "request_",
    [
        "Remove sub and its tests",
        "Delete the legacy parser, including all of its tests.",
        "Drop Python 2 support along with the tests",
        "greet says Hi now. Existing tests must be updated.",
        "Change the default to 5 and update the tests",
        "Rename total to amount; adapt the existing tests.",
        "Rename the function fetch to load everywhere, also in the tests",
        "Rename fetch to load in the sources and in the tests",
        "The old tests may be removed.",
        "Replace the affected unit tests",
    ],
)
def test_a_request_that_asks_for_other_tests_in_words_is_known(request_: str) -> None:
    assert changes_tests(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "Remove sub",
        "Fix the failing tests",
        "Make the failing tests pass",
        "Change add, and add tests for it",
        "Change add and run the tests",
        "Update add without changing the tests",
        "Do not change the tests",
        "Existing tests must not be changed",
        "Update the parser; keep the tests as they are",
        "Replace the test runner",
        "Change the parser to take what is used in the tests",
        "Remove tests.py from the package",
    ],
)
def test_a_request_that_does_not_ask_for_other_tests_opens_none(request_: str) -> None:
    assert not changes_tests(request_)


def test_what_a_request_is_about_leaves_out_words_that_name_nothing() -> None:
    assert subjects("Remove sub and its tests") == {"sub"}
    assert {"parse", "empty", "parse_empty"} <= subjects("Delete parse_empty")
