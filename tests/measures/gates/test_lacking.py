"""C7: the baseline is first of all a test of flyball: what passes beside the user's ignored files says that the gate lacks one."""

import pytest
from msgspec.structs import replace

pytestmark = [pytest.mark.req("C7"), pytest.mark.slow]

PACKAGE = {
    "pkg/__init__.py": "from pkg._version import NUMBER\n",
    "tests/test_old.py": "import pkg\n\n\ndef test_number():\n    assert pkg.NUMBER\n",
    "tests/test_more.py": "def test_wrong():\n    assert 1 == 2\n\n\ndef test_right():\n    assert 1\n",
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = '.'\n",
    ".gitignore": "__pycache__/\n_version.py\n",
}


def test_a_generated_file_of_the_user_is_named_with_the_first_error_and_what_to_do(new_lab) -> None:
    lab = new_lab(PACKAGE)
    (lab.repository / "pkg/_version.py").write_text("NUMBER = 1\n")
    (lab.repository / "data.txt").write_text("x\n")
    broken = lab.measure("baseline").broken
    assert "No module named 'pkg._version'" in broken
    assert "gates.carry (of pkg/_version.py)" in broken
    assert "`setup`" in broken
    assert broken.startswith("test: 1 test fails here")


def test_carrying_the_file_is_what_to_do(new_lab) -> None:
    lab = new_lab(PACKAGE)
    (lab.repository / "pkg/_version.py").write_text("NUMBER = 1\n")
    lab.settings = replace(lab.settings, carry=("pkg/_version.py",))
    measured = lab.measure("baseline")
    assert (measured.broken, measured.counts.passing, measured.counts.known_failing) == ("", 2, 1)


def test_a_conftest_that_cannot_be_loaded_says_what_it_lacks(new_lab) -> None:
    lab = new_lab({**PACKAGE, "conftest.py": "import pkg\n"})
    (lab.repository / "pkg/_version.py").write_text("NUMBER = 1\n")
    assert "gates.carry (of pkg/_version.py)" in lab.measure("baseline").broken


def test_tests_that_fail_in_the_users_folder_too_stop_nothing(new_lab) -> None:
    lab = new_lab(PACKAGE)
    (lab.repository / "data.txt").write_text("x\n")
    measured = lab.measure("baseline")
    assert (measured.broken, measured.counts.known_failing) == ("", 2)


def test_a_test_that_passes_in_any_second_run_lacks_nothing(new_lab, tmp_path) -> None:
    seen = tmp_path / "seen"
    flaky = f"from pathlib import Path\n\n\ndef test_flaky():\n    seen = Path({str(seen)!r})\n    ran = seen.exists()\n    seen.touch()\n    assert ran\n"
    lab = new_lab({"tests/test_flaky.py": flaky})
    (lab.repository / "data.txt").write_text("x\n")
    assert lab.measure("baseline").broken == ""


def test_the_users_folder_is_not_written_and_no_run_is_made_where_nothing_fails(new_lab) -> None:
    lab = new_lab()
    (lab.repository / "data.txt").write_text("x\n")
    lab.measure("baseline")
    told = [line for kind, line in lab.said if kind == "command" and "pytest" in line]
    assert len(told) == 2, "one run, and one with planted failures"
    assert sorted(p.name for p in lab.repository.iterdir() if p.name != ".git") == [
        ".gitignore", "calc.py", "data.txt", "pyproject.toml", "tests",
    ]  # fmt: skip
