"""Requests that need old tests changed or deleted: words, `--may-change` or nothing lets them through, and the end says which."""

import sys
from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, flyball, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C16")]

GATE = ("--gate", f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q")
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n",
    "tests/test_calc.py": "from calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_sub():\n    assert sub(3, 2) == 1\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n",
}
ONLY_ADD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
REMOVED = {"write": {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_calc.py": ONLY_ADD}}


@pytest.mark.parametrize("request_", ["Remove sub and its tests", "Remove sub. Existing tests must be updated."])
def test_a_request_that_says_so_in_words_lets_the_tests_of_its_subject_go(request_: str, tmp_path: Path) -> None:
    ended = play(tmp_path, FILES, request_, [[REMOVED, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (0, "DONE"), ended.reason
    assert ended.branch_file("tests/test_calc.py") == ONLY_ADD
    assert ended.status["tricks"] == []


def test_words_about_one_subject_do_not_open_the_tests_of_another(tmp_path: Path) -> None:
    hack = {"write": {"calc.py": "def add(a, b):\n    return 4\n", "tests/test_calc.py": ONLY_ADD.replace("3", "4")}}
    ended = play(tmp_path, FILES, "Remove sub and its tests", [[hack, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED"), ended.reason
    assert "measured: with this change" in ended.reason


def test_the_end_names_the_command_that_lets_the_change_through_and_the_command_works(tmp_path: Path) -> None:
    ended = play(tmp_path, FILES, "Remove sub", [[REMOVED, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED")
    command = ended.reason.partition("If the request needs this change: flyball ")[2]
    assert command == "resume 001-remove-sub --may-change tests/test_calc.py"
    resumed = flyball(ended.root, *command.split(), "--unattended")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr


def test_an_undone_change_that_no_measurement_speaks_against_is_no_trick_and_has_its_way_out(tmp_path: Path) -> None:
    change = {"write": {"tests/test_calc.py": FILES["tests/test_calc.py"].replace("== 1", "== 1 or True")}}
    useless = {"write": {"extra.py": "def mul(a, b):\n    return a * b\n"}}
    ended = play(tmp_path, FILES, "Teach calc to multiply: mul", [[change, useless, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED"), ended.reason
    assert ended.reason.startswith("The change of tests/test_calc.py was undone: the file is protected.")
    assert "trick" not in ended.reason
    assert ended.reason.endswith("--may-change tests/test_calc.py")
