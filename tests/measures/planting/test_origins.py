"""C42: what a planted failure says of imports is written beside the code under test, which may have forged it."""

import json

import pytest

from flyball.measures.planting.origins import judge

pytestmark = pytest.mark.req("C42")

MARK = "x0123456789abcdef"


def judged(told: str) -> tuple[list[str], tuple[str, ...]]:
    tricks, notes = judge(f"AssertionError: {MARK} {told} {MARK}", "test", ("calc",), (".venv",))
    return [trick.kind for trick in tricks], notes


def test_code_from_the_tree_is_the_candidates_own() -> None:
    assert judged(json.dumps(["/gate", {"calc": "/gate/calc.py"}, {}])) == ([], ())


def test_code_from_elsewhere_is_named() -> None:
    assert judged(json.dumps(["/gate", {"calc": "/home/calc.py"}, {}]))[0] == ["wrong-tree"]


def test_an_assertion_that_the_product_replaced_is_named_and_one_of_the_tests_or_the_environment_is_not() -> None:
    taken = {"pytest.raises": "/gate/calc.py", "pytest.fail": "/gate/.venv/a.py", "TestCase.run": "/gate/tests/base.py"}
    told = json.dumps(["/gate", {"calc": "/gate/calc.py"}, taken])
    tricks, _ = judge(f"{MARK} {told} {MARK}", "test", ("calc",), (".venv",))
    assert [(trick.kind, trick.detail.partition(",")[0]) for trick in tricks] == [("report-forged", "pytest.raises")]


@pytest.mark.parametrize(
    "forged",
    [
        "[1, 2, 3]",
        "[]",
        '["/gate", {"calc": 7}, {}]',
        '["/gate", {"calc": "/gate/calc.py"}]',
        "[" * 2000 + "]",
        "[no JSON]",
    ],
)
def test_what_was_forged_is_not_believed_and_ends_nothing(forged: str) -> None:
    tricks, notes = judged(forged)
    assert tricks == []
    assert "could not be checked where the code under test is imported from" in notes[0]
