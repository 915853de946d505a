"""C14: the table of phrases that make failing tests part of the work, and how a text names tests."""

import pytest

from flyball.core.text.failing_tests import asks_for_failing_tests, calls_for_passing, named_tests

pytestmark = pytest.mark.req("C14")

TESTS = (
    "tests/test_cart.py::TestTotal::test_adds_tax[1]",
    "tests/test_cart.py::test_empty",
    "tests/test_shop.py::test_opens",
    "src/app/rows.spec.ts::reads rows",
)


@pytest.mark.parametrize(
    "text",
    [
        "Make the failing tests pass",
        "make all failing tests pass.",
        "Please make the tests pass",
        "Get the test suite green",
        "Fix the failing tests",
        "Fix all broken tests in this repository.",
        "fix the tests",
        "Repair the tests that fail",
        "Fix the test failures",
        "Get CI green",
        "Implement cart.py so that all tests pass",
        "Work on calc.py until the tests are green.",
        "Rounding is wrong.\nMake the failing tests pass.",
        "Turn the red tests green",
        "Resolve the failing unit tests",
    ],
)
def test_a_request_for_the_failing_tests_is_recognised(text: str) -> None:
    assert asks_for_failing_tests(text)


@pytest.mark.parametrize(
    "text",
    [
        "Add a function that adds tax",
        "Add slugify and make sure that all tests pass",
        "Ignore the failing tests; add slugify",
        "Do not fix the failing tests.",
        "Fix the tests folder's name in the README",
        "Add tests for the cart",
        "The tests pass on Linux. Add support for Windows.",
        "Leave the failing tests as they are, and add slugify",
        "Write a failing test first",
    ],
)
def test_other_requests_are_not(text: str) -> None:
    assert not asks_for_failing_tests(text)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("test_opens fails since Monday", TESTS[2:3]),
        ("Make tests/test_cart.py pass", TESTS[:2]),
        ("see test_cart.py", TESTS[:2]),
        ("tests/test_cart.py::test_empty must pass", TESTS[:2]),
        ("TestTotal is red", TESTS[:1]),
        ("rows.spec.ts fails", TESTS[3:]),
        ("Do not touch tests/test_cart.py", ()),
        ("An empty cart is free", ()),
        ("Cart: it adds tax twice", TESTS[:1]),
        ("The cart adds shipping", ()),
        ("Leave alone how it adds tax", ()),
    ],
)
def test_a_text_names_tests_by_id_function_class_or_file(text: str, named: tuple[str, ...]) -> None:
    assert named_tests(text, TESTS) == named


REPORTS = (
    "Fix parse: it crashes on empty input",
    "parse does not handle empty input",
    "Fix: parse doesn't accept empty inputs",
    "parse cannot read empty input",
    "test_empty_input does not pass, repair parse",
    "Fix parse so that it never crashes on empty input",
    "parse of an empty input must not raise",
    "test_empty_input is not green",
    "Empty inputs don't work",
)
ORDERS = (
    "Do not touch test_empty_input",
    "Don't make test_empty_input pass",
    "Fix parse without changing test_empty_input",
    "Add parse_hex; test_empty_input is not part of this",
    "This does not include test_empty_input",
    "test_empty_input does not need to pass",
    "test_empty_input should not be fixed",
    "Never mind test_empty_input",
    "We do not support empty input",
)


@pytest.mark.parametrize("text", [*REPORTS, *ORDERS])
def test_a_denial_that_tells_of_a_defect_asks_for_its_test_and_one_that_forbids_does_not(text: str) -> None:
    assert bool(named_tests(text, ("tests/test_parse.py::test_empty_input",))) is (text in REPORTS)


def test_who_asks_that_a_test_passes_does_not_ask_for_its_change() -> None:
    assert calls_for_passing("Make tests/test_cart.py pass", TESTS)
    assert not calls_for_passing("Add a case to tests/test_cart.py", TESTS)
    assert not calls_for_passing("Make cart.py pass the review", TESTS)
