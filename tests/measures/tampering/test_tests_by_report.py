"""C42: a file that holds an accepted test is protected, whatever its name; product code beside the test is not."""

import pytest

from flyball.measures.tampering.tests_by_report import UnnamedTests, held_by_file

CHECKS = "from calc import add\n\n\ndef test_seven():\n    assert add(2, 5) == 7\n"
SUB = 'def sub(a, b):\n    """Subtract."""\n    return a - b\n'
MIXED = SUB + "\n\ndef test_sub():\n    assert sub(5, 2) == 3\n"


def may_become(path: str, before: str, after: str | None, *names: str, configuration: str = "") -> bool:
    tree = {path: before.encode(), "pytest.ini": configuration.encode()}
    tests = UnnamedTests(
        commands="pytest",
        held={path: frozenset(names)},
        files=frozenset(tree),
        plugins=frozenset(),
        written=frozenset(),
        read=tree.get,
    )
    changed = None if after is None else after.encode()
    return tests.may_become(path, before.encode(), changed, rewritable=False, tests_may_grow=False)


@pytest.mark.req("C42")
def test_where_accepted_tests_are_is_told_from_their_ids() -> None:
    ids = ("qa/check_add.py::test_seven[1-2]", "qa/check_add.py::TestMore::test_x", "qa/check_add.py::test_seven[3]")
    assert held_by_file(ids) == {"qa/check_add.py": {"test_seven", "TestMore"}}


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    "after",
    [
        CHECKS.replace(" == 7", ""),
        CHECKS.replace("test_seven", "seven"),
        CHECKS.replace("from calc import add", "def add(a, b):\n    return 7"),
        CHECKS + "\n\ntest_seven = print\n",
        None,
    ],
)
def test_a_file_of_tests_is_protected_whatever_its_name(after) -> None:
    assert not may_become("qa/check_add.py", CHECKS, after, "test_seven")


@pytest.mark.req("C42")
def test_tests_that_are_called_otherwise_are_protected_by_the_names_the_report_gave() -> None:
    checks = CHECKS.replace("test_seven", "check_seven")
    assert not may_become("qa/adding.py", checks, checks.replace(" == 7", ""), "check_seven")


@pytest.mark.req("C42")
def test_helpers_of_a_file_that_the_project_calls_a_test_are_protected_with_it() -> None:
    helped = "CASES = [(2, 5, 7)]\n\n\ndef make():\n    return CASES\n\n\ndef test_make():\n    assert make()\n"
    fewer = helped.replace("return CASES", "return [1]")
    assert not may_become("qa/check_add.py", helped, fewer, "test_make", configuration="python_files = check_*.py")
    assert may_become("qa/check_add.py", helped, fewer, "test_make", configuration="python_files = *.py")


@pytest.mark.req("C42")
def test_a_test_inside_a_product_file_may_not_change_and_the_product_may() -> None:
    assert may_become("calc/more.py", MIXED, MIXED.replace("a - b", "-(b - a)"), "test_sub")
    assert may_become("calc/more.py", MIXED, MIXED + "\n\ndef test_more():\n    assert sub(1, 1) == 0\n", "test_sub")
    assert not may_become("calc/more.py", MIXED, MIXED.replace("sub(5, 2) == 3", "sub(5, 2)"), "test_sub")


@pytest.mark.req("C42")
def test_a_product_file_whose_docstrings_are_tests_stays_editable() -> None:
    documented = SUB.replace("Subtract.", "Subtract.\n\n    >>> sub(3, 1)\n    2\n    ")
    assert may_become("calc/more.py", documented, SUB, "calc.more.sub")


@pytest.mark.req("C42")
def test_other_languages_are_counted_by_their_text() -> None:
    script = "import test from 'node:test';\ntest('a', () => { assert.equal(add(2, 5), 7); });\n"
    assert not may_become("qa/adding.mjs", script, script.replace("assert.equal(add(2, 5), 7);", ""), "a")
    assert may_become("qa/adding.mjs", script, script + "export const x = 1;\n", "a")


@pytest.mark.req("C42")
def test_an_accepted_test_in_a_file_of_another_name_is_measured_as_accepted(new_lab) -> None:
    lab = new_lab({"qa/check_add.py": CHECKS, "pytest.ini": "[pytest]\npython_files = check_*.py test_*.py\n"})
    lab.accept({}, {"tests/test_old.py::test_add": "passing", "qa/check_add.py::test_seven": "passing"})
    measured = lab.measure(
        "gates",
        {"qa/check_add.py": CHECKS.replace(" == 7", ""), "calc.py": "def add(a, b):\n    return 3\n"},
    )
    assert [(t.kind, t.path) for t in measured.tricks] == [("protected-changed", "qa/check_add.py")]
    assert measured.failing == ("qa/check_add.py::test_seven",)
