"""C49: known failures shrink with what is accepted, and each excuses only itself."""

import sys

import pytest
from tests.measures.conftest import PYTEST

from flyball.core.model.task import Gate

pytestmark = [pytest.mark.req("C49"), pytest.mark.slow]

OLD = """
    from calc import add


    def test_add():
        assert add(1, 2) == 3


    def test_always_failed():
        assert add(1, 1) == 3
    """
IDS = ("tests/test_old.py::test_add", "tests/test_old.py::test_always_failed")
LINTED = f"{PYTEST}; ended=$?; {sys.executable} -m py_compile more.py || exit 1; exit $ended"


@pytest.fixture
def old_lab(new_lab):
    lab = new_lab({"tests/test_old.py": OLD, "more.py": "X = 1\n"})
    measured = lab.measure("baseline")
    lab.baseline_ref = lab.accepted_ref = measured.tests_ref
    lab.failed_exits = measured.failed_exits
    return lab


def test_a_failure_that_was_mended_may_not_break_again(old_lab) -> None:
    assert old_lab.measure("refactor", {"notes.md": "x\n"}).failing == ()
    old_lab.accept({"notes.md": "y\n"}, dict.fromkeys(IDS, "passing"))
    measured = old_lab.measure("refactor", {"notes.md": "z\n"})
    assert measured.failing == (IDS[1],)
    assert not measured.gates[0].passed


def test_a_lint_in_the_same_gate_is_not_excused_by_a_known_failure(old_lab) -> None:
    old_lab.gates(Gate("test", LINTED, 600.0))
    assert old_lab.measure("refactor", {"notes.md": "x\n"}).gates[0].passed
    measured = old_lab.measure("refactor", {"more.py": "X = (\n"})
    assert not measured.gates[0].passed
    assert "fails for another reason, too" in " ".join(measured.notes)
    assert "test_always_failed" in " ".join(measured.notes)


def test_what_failed_beside_a_known_failure_on_the_untouched_tree_is_excused_with_it(new_lab) -> None:
    lab = new_lab({"tests/test_old.py": OLD, "more.py": "X = (\n"})
    lab.gates(Gate("test", LINTED, 600.0))
    measured = lab.measure("baseline")
    lab.baseline_ref = lab.accepted_ref = measured.tests_ref
    lab.failed_exits = measured.failed_exits
    assert lab.measure("refactor", {"notes.md": "x\n"}).gates[0].passed


def test_a_gate_that_ended_with_0_beside_a_known_failure_must_do_so_again(old_lab) -> None:
    old_lab.gates(Gate("test", f"{PYTEST}; {sys.executable} -m py_compile more.py", 600.0))
    old_lab.failed_exits = {"test": 0}
    assert old_lab.measure("refactor", {"notes.md": "x\n"}).gates[0].passed
    assert not old_lab.measure("refactor", {"more.py": "X = (\n"}).gates[0].passed
