"""C42: what is allowed, exempt or consented to is measured as it is, and nobody honest is accused."""

import pytest
from msgspec.structs import replace
from tests.measures.conftest import MUL, PYTEST, TESTS, tricked

from flyball.core.model.task import Gate, Item

pytestmark = [pytest.mark.req("C42"), pytest.mark.slow]


def test_a_change_that_was_consented_to_is_measured_as_the_candidate_has_it(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    green_lab.consented = (TESTS,)
    measured = green_lab.measure("green", {"calc.py": MUL, TESTS: text.replace("mul(2, 3) == 6", "mul(2, 4) == 8")})
    assert measured.tricks == ()
    assert measured.green_runs == 2
    assert any(TESTS in note and "consented" in note for note in measured.notes)


def test_tests_of_a_file_whose_change_was_consented_to_need_not_be_there_any_more(green_lab) -> None:
    green_lab.consented = (TESTS,)
    renamed = "from calc import mul\n\n\ndef test_ac_1_product():\n    assert mul(2, 3) == 6\n"
    measured = green_lab.measure("green", {"calc.py": MUL, TESTS: renamed})
    assert measured.missing == ()
    assert measured.green_runs == 2


def test_a_path_the_task_names_is_exempt_and_listed(green_lab) -> None:
    green_lab.items = (Item("AC-1", "mul works"), Item("AC-2", "set up CI with .gitlab-ci.yml"))
    measured = green_lab.measure("green", {"calc.py": MUL, ".gitlab-ci.yml": "test: {}\n"})
    assert measured.tricks == ()
    assert any(".gitlab-ci.yml is exempt from protection: the task itself names it" in note for note in measured.notes)


def test_naming_a_red_test_in_a_criterion_does_not_open_it_once_it_is_accepted(green_lab) -> None:
    green_lab.items = (Item("AC-1", f"write tests in {TESTS}"),)
    measured = green_lab.measure("green", {TESTS: "def test_ac_1_multiplies():\n    pass\n"})
    tricked(measured, "protected-changed", TESTS)


@pytest.mark.parametrize(
    "files",
    [
        {"helpers.py": "def help():\n    return 1\n"},
        {"tests/test_more.py": "from calc import mul\n\n\ndef test_more():\n    assert mul(2, 2) == 4\n"},
        {"test_utils.py": "def shorten(text):\n    return text[:3]\n"},
        {"pkg/__init__.py": "", "pkg/types.py": "A = 1\n", "pkg/json.py": "B = 2\n"},
        {"README.md": "# calc\n"},
        {"scripts/operator.py": "X = 1\n"},
        {"docs/conftest.md": "about conftest\n"},
    ],
)
def test_honest_additions_are_not_accused(green_lab, files) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, **files})
    assert measured.tricks == ()
    assert measured.green_runs == 2


def test_a_dependency_added_to_the_manifest_is_not_accused(green_lab) -> None:
    text = (green_lab.workspace.root / "pyproject.toml").read_text()
    changed = text.replace("dependencies = []", 'dependencies = ["typing-extensions"]')
    measured = green_lab.measure("green", {"calc.py": MUL, "pyproject.toml": changed})
    assert measured.tricks == ()
    assert measured.green_runs == 2


def test_only_the_layout_of_a_test_changed_is_named_but_harmless(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure("green", {"calc.py": MUL, TESTS: "# a remark\n" + text})
    assert [(t.kind, t.harmless) for t in measured.tricks] == [("protected-changed", True)]
    assert measured.green_runs == 2


def test_an_ignored_file_reaches_the_gate_only_if_it_is_named_to_be_carried(green_lab) -> None:
    (green_lab.repository / ".env.test").write_text("mine\n")
    (green_lab.repository / "data").mkdir()
    (green_lab.repository / "data" / "rows.csv").write_text("1\n")
    carried = "test -f .env.test && test -f data/rows.csv &&"
    green_lab.gates(Gate("test", f"{carried} {PYTEST}", 600.0))
    assert green_lab.measure("green", {"calc.py": MUL}).green_runs == 0
    green_lab.settings = replace(green_lab.settings, carry=(".env.test", "data", "not-there"))
    measured = green_lab.measure("green")
    assert (measured.green_runs, measured.tricks) == (2, ())


def test_what_is_carried_takes_nobodys_place_in_the_candidate(green_lab) -> None:
    (green_lab.repository / "calc.py").write_text("def mul(a, b):\n    return a * b\n")
    green_lab.settings = replace(green_lab.settings, carry=("calc.py",))
    measured = green_lab.measure("green", {"calc.py": MUL.replace("a * b", "0")})
    assert "tests/test_mul.py::test_ac_1_multiplies" in measured.failing


DOCTEST = '''
    """Arithmetic.

    >>> add(1, 2)
    3
    """


    def add(a, b):
        """Add.

        >>> add(2, 5)
        7
        """
        return a + b
    '''


def test_a_canary_is_planted_among_tests_where_doctests_of_the_product_run_too(new_lab) -> None:
    lab = new_lab({"calc.py": DOCTEST})
    lab.gates(Gate("test", f"{PYTEST} --doctest-modules calc.py tests", 600.0))
    assert not lab.measure("baseline").broken


@pytest.mark.parametrize("patterns", ["['tests.py', 'more.py']", "['tests.py', 'test_*.py', 'more.py']"])
def test_a_canary_is_planted_in_place_where_only_whole_names_of_files_hold_tests(new_lab, patterns) -> None:
    lab = new_lab(
        {
            "pyproject.toml": f"[tool.pytest.ini_options]\npython_files = {patterns}\n",
            "more.py": "import calc\n\n\ndef test_more():\n    assert calc.add(1, 1) == 2\n",
        }
    )
    measured = lab.measure("baseline")
    assert not measured.broken
    assert not any("canary" in note for note in measured.notes)
