"""C50: eleven checks, seven of them blocking; what cannot be verified is never passed."""

import re
import sys

import pytest
from msgspec.structs import replace
from tests.measures.conftest import MUL, PYTEST

from flyball.core.model.measurement import Check, Measurement
from flyball.core.model.task import Gate, Item, QaSettings

pytestmark = [pytest.mark.req("C50"), pytest.mark.slow]

FINISHED = {
    "calc.py": MUL,
    "README.md": "# calc\n\n`mul` multiplies.\n",
    "CHANGELOG.md": "- mul\n",
    "docs/decisions/0001-multiply.md": "# Multiply\n",
}


def by_name(measured: Measurement) -> dict[str, Check]:
    return {check.name: check for check in measured.checks}


def statuses(measured: Measurement) -> dict[str, str]:
    return {check.name: check.status for check in measured.checks}


def test_a_finished_piece_of_work_passes_every_check_that_can_be_made(green_lab) -> None:
    green_lab.settings = replace(green_lab.settings, lint="true")
    measured = green_lab.measure("qa", FINISHED)
    assert statuses(measured) == dict.fromkeys(by_name(measured), "pass"), measured.checks
    assert [c.name for c in measured.checks if c.blocking] == [
        "tests_pass",
        "criteria_covered",
        "lint_clean",
        "complexity",
        "readme",
        "decision_record",
        "changelog",
    ]
    assert len(measured.checks) == 11
    assert measured.tricks == ()


@pytest.mark.req("C17", "C41")
def test_document_makes_the_checks_of_documents_that_qa_will_make(green_lab) -> None:
    green_lab.settings = replace(green_lab.settings, lint="true", qa=QaSettings(changelog="off"))
    found = statuses(green_lab.measure("document", FINISHED | {"README.md": "# nothing\n"}))
    assert found == {"readme": "fail", "decision_record": "pass", "changelog": "n/a"}
    assert statuses(green_lab.measure("document", FINISHED))["readme"] == "pass"


def test_an_unfinished_one_fails_each_check_with_a_sentence(green_lab) -> None:
    tangle = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(11))
    block = "".join(f"    value_{n} = {n} + len(str(a))\n" for n in range(8))
    code = f"def mulAll(a, b):\n{tangle}\n\nclass lower:\n    pass\n\n\ndef one(a):\n{block}\n\ndef two(a):\n{block}"
    green_lab.items = (Item("AC-1", "mul"), Item("AC-2", "rounding"))
    green_lab.settings = replace(green_lab.settings, lint="! grep -n mulAll calc.py /dev/null")
    measured = green_lab.measure("qa", {"calc.py": code, "README.md": "# calc\n", "CHANGELOG.md": "\n"})
    checks = by_name(measured)
    assert {name for name, check in checks.items() if check.status == "fail"} == set(checks), measured.checks
    assert "tests/test_mul.py" in checks["tests_pass"].detail
    assert "AC-2" in checks["criteria_covered"].detail
    assert "AC-1" not in checks["criteria_covered"].detail
    assert "calc.py: def mulAll" in checks["lint_clean"].detail
    assert "mulAll" in checks["complexity"].detail
    assert "README.md" in checks["readme"].detail
    assert "mulAll" in checks["naming"].detail
    assert "lower" in checks["naming"].detail
    assert "mulAll" in checks["comments"].detail


@pytest.mark.req("C50")
def test_documents_that_the_project_does_not_have_are_not_asked_for(green_lab) -> None:
    checks = by_name(green_lab.measure("qa", {"calc.py": FINISHED["calc.py"]}))
    assert {checks[name].status for name in ("readme", "changelog")} == {"n/a"}
    assert "not verified" in checks["changelog"].detail


@pytest.mark.req("C7", "C50")
@pytest.mark.parametrize("lint", ["no-such-linter .", "python3 -m no_such_linter"])
def test_a_lint_tool_that_is_missing_fails_its_check_with_a_clear_sentence(green_lab, lint) -> None:
    green_lab.settings = replace(green_lab.settings, lint=lint)
    measured = green_lab.measure("qa", FINISHED)
    check = by_name(measured)["lint_clean"]
    assert check.status == "fail"
    assert "cannot be run" in check.detail
    assert measured.unusable is not None
    assert measured.unusable.command == lint
    assert re.search("no.such.linter", measured.unusable.broken)


OLD_FINDING = {"old.py": "import os\n"}
RUFF = f"{sys.executable} -m ruff check --no-cache --select F,E501 ."


@pytest.mark.req("C7", "C50")
def test_findings_that_stood_before_the_task_are_known_wherever_their_lines_have_moved(new_lab) -> None:
    lab = new_lab(OLD_FINDING)
    lab.settings = replace(lab.settings, lint=RUFF)
    moved = {"old.py": '"""Moved."""\n\n\nimport os\n', **FINISHED}
    measured = lab.measure("qa", moved)
    check = by_name(measured)["lint_clean"]
    assert check.status == "pass", check
    assert "1 finding stood before the task, none is new" in check.detail
    assert measured.unusable is None
    again = by_name(lab.measure("qa", {"calc.py": MUL.replace("return a * b", "return a * b * undefined")}))[
        "lint_clean"
    ]
    assert again.status == "fail"
    assert "Undefined name" in again.detail
    assert "old.py" not in again.detail


@pytest.mark.req("C7", "C50")
def test_a_linter_that_the_candidate_itself_broke_is_the_candidates_finding(lab) -> None:
    lab.settings = replace(lab.settings, lint="test ! -e broken.txt || exit 127")
    measured = lab.measure("qa", {**FINISHED, "broken.txt": "x"})
    assert by_name(measured)["lint_clean"].status == "fail"
    assert "no longer on this one" in by_name(measured)["lint_clean"].detail
    assert measured.unusable is None


@pytest.mark.req("C7")
@pytest.mark.parametrize("lint", ["no-such-linter .", "python3 -m no_such_linter ."])
def test_the_baseline_tries_the_linter_and_says_that_it_cannot_run(lab, lint) -> None:
    lab.settings = replace(lab.settings, lint=lint)
    measured = lab.measure("baseline")
    assert not measured.broken
    assert measured.unusable is not None
    assert (measured.unusable.name, measured.unusable.command) == ("lint", lint)
    lab.settings = replace(lab.settings, qa=QaSettings(lint_clean="off"))
    assert lab.measure("baseline").tools == ()


@pytest.mark.req("C7")
def test_the_baseline_remarks_what_the_linter_finds_already(new_lab) -> None:
    lab = new_lab(OLD_FINDING)
    lab.settings = replace(lab.settings, lint=RUFF)
    measured = lab.measure("baseline")
    assert measured.unusable is None
    assert f"{RUFF}: 1 finding before the task began; only new ones count" in measured.notes


BRANCHES = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(8))
NINE = f'def pick(a):\n    """Pick."""\n{BRANCHES}    return a\n'
TEN = NINE.replace("    return a\n", "    if a == 8:\n        return 8\n    return a\n")
ELEVEN = TEN.replace("    return a\n", "    if a == 9:\n        return 9\n    return a\n")


@pytest.mark.req("C50", "C41")
@pytest.mark.parametrize(("before", "after", "sound"), [
    ("", NINE, True), ("", TEN, False), (TEN, TEN.replace("Pick", "Choose"), True), (TEN, ELEVEN, False), (ELEVEN, TEN, True),
])  # fmt: skip
def test_refactor_and_qa_agree_on_the_limit_and_functions_that_stood_above_it_are_known(
    new_lab, before: str, after: str, *, sound: bool
) -> None:
    lab = new_lab({"pick.py": before})
    refactored = lab.measure("refactor", {"pick.py": after})
    assert (refactored.quality.over_limit == ()) is sound
    assert (statuses(lab.measure("qa"))["complexity"] == "pass") is sound


def test_what_is_off_or_not_configured_is_not_verified(green_lab) -> None:
    green_lab.settings = replace(green_lab.settings, qa=QaSettings(changelog="off", readme="off"))
    measured = green_lab.measure("qa", {"calc.py": MUL, "docs/decisions/1.md": "x\n"})
    found = statuses(measured)
    assert found["changelog"] == found["readme"] == found["lint_clean"] == "n/a"
    assert "no lint command" in by_name(measured)["lint_clean"].detail


def test_languages_no_tool_supports_are_not_verified(green_lab) -> None:
    measured = green_lab.measure("qa", {"main.exs": "IO.puts 1\n"})
    found = statuses(measured)
    assert found["complexity"] == found["duplication"] == found["naming"] == found["api_documentation"] == "n/a"
    assert measured.quality is not None
    assert "main.exs" in measured.quality.unmeasured


def test_a_trick_makes_the_tests_check_fail(green_lab) -> None:
    assert by_name(green_lab.measure("qa", {**FINISHED, "conftest.py": "X = 1\n"}))["tests_pass"].status == "pass"
    measured = green_lab.measure("qa", {"conftest.py": "import os\n\nos._exit(0)\n"})
    assert by_name(measured)["tests_pass"].status == "fail"
    assert [(t.kind, t.path) for t in measured.tricks] == [("exit-forced", "conftest.py")]


def test_qa_plants_a_canary(green_lab) -> None:
    forge = (
        MUL
        + "\n\n    import _pytest.reports\n\n    _pytest.reports.TestReport.failed = False\n    _pytest.reports.TestReport.passed = True\n"
    )
    measured = green_lab.measure("qa", {**FINISHED, "calc.py": forge})
    assert by_name(measured)["tests_pass"].status == "fail"
    assert measured.tricks


@pytest.mark.req("C50")
def test_tests_in_files_that_only_the_project_calls_tests_cover_criteria(new_lab) -> None:
    lab = new_lab({"pytest.ini": "[pytest]\npython_files = check_*.py test_*.py\npython_functions = check_* test_*\n"})
    lab.items = (Item("AC-1", "multiplies"), Item("AC-2", "by name"))
    lab.gates(Gate("test", f"{PYTEST} tests qa", 600.0))
    checks = "from calc import mul\n\n\ndef test_ac_1():\n    assert mul(2, 3) == 6\n\n\ndef check_ac_2():\n    assert mul(1, 1) == 1\n"
    measured = lab.measure("qa", {"calc.py": MUL, "qa/check_mul.py": checks})
    assert next(check.status for check in measured.checks if check.name == "criteria_covered") == "pass"
