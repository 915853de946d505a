"""Requests that need old tests changed or deleted: words, `--may-change` or nothing lets them through, and the end says which."""

import sys
from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, Action, flyball, play

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


def move(text: str) -> list[Action]:
    return [{"write": {"tests/moved/test_calc.py": text}}, {"delete": ["tests/test_calc.py"]}, FINISHED]


def test_tests_that_the_request_moves_may_move_with_all_they_ask_for(tmp_path: Path) -> None:
    ended = play(
        tmp_path, FILES, "Move the tests from tests to tests/moved", [move(FILES["tests/test_calc.py"])], *GATE
    )
    assert (ended.exit_code, ended.decision) == (0, "DONE"), ended.reason
    files = [ended.branch_file(path) for path in ("tests/moved/test_calc.py", "tests/test_calc.py")]
    assert files == [FILES["tests/test_calc.py"], ""]
    report = flyball(ended.root, "report", "1").stdout
    assert "1 file created, 0 modified, 1 deleted" in report


def test_tests_that_are_lost_on_the_way_are_restored(tmp_path: Path) -> None:
    ended = play(tmp_path, FILES, "Move the tests from tests to tests/moved", [move(ONLY_ADD)], *GATE)
    assert ended.decision == "BLOCKED" or ended.branch_file("tests/test_calc.py") == FILES["tests/test_calc.py"]
    report = flyball(ended.root, "report", "1").stdout
    assert "0 deleted" in report, "what is restored is not deleted"


def test_a_renaming_that_the_request_wants_in_the_tests_goes_through(tmp_path: Path) -> None:
    names = {name: text.replace("sub", "minus") for name, text in FILES.items() if name.endswith(".py")}
    request = "Rename the function sub to minus everywhere, also in the tests"
    ended = play(tmp_path, FILES, request, [[{"write": names}, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision, ended.status["tricks"]) == (0, "DONE", []), ended.reason


MINUS = {"write": {name: text.replace("sub", "minus") for name, text in FILES.items() if name.endswith(".py")}}
FIRST = {"write": {name: text.replace("== 3", "== 4").replace("a + b", "a + b + 1") for name, text in FILES.items()}}


@pytest.mark.parametrize(
    ("request_", "change"), [("Rename the function sub to minus", MINUS), ("add counts from one", FIRST)]
)
def test_a_change_of_tests_that_a_request_needs_is_no_trick_and_the_reason_names_the_way_out(
    request_: str, change: Action, tmp_path: Path
) -> None:
    ended = play(tmp_path, FILES, request_, [[change, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED")
    assert ended.reason.startswith("A change of a protected file was undone in iteration ")
    assert ended.reason.endswith("--may-change tests/test_calc.py")
    report = flyball(ended.root, "report", "1").stdout
    assert "trick" not in (ended.reason + report).casefold()


def test_a_reviewer_of_another_model_may_consent_to_a_change_that_the_agent_declares(tmp_path: Path) -> None:
    declared = {"protected_changes": [{"path": "tests/test_calc.py", "reason": "sub has another name"}]}
    report = {"report": {**FINISHED["report"], **declared}}
    other = f'[agents.other]\ntype = "scripted"\nmodel = "other"\nscript = "{tmp_path}/script.yaml"\n'
    ended = play(tmp_path, FILES, "Rename the function sub to minus", [[MINUS, report]], *GATE, settings=other)
    assert (ended.exit_code, ended.decision) == (0, "DONE"), ended.reason
    assert "minus(3, 2) == 1" in ended.branch_file("tests/test_calc.py")


def test_a_change_that_was_refused_and_is_needed_again_is_asked_of_a_person_at_once(tmp_path: Path) -> None:
    declared = {"protected_changes": [{"path": "tests/test_calc.py", "reason": "sub has another name"}]}
    report = {"report": {**FINISHED["report"], **declared}}
    ended = play(tmp_path, FILES, "Rename the function sub to minus", [[MINUS, report]], *GATE)
    assert (ended.exit_code, ended.decision, ended.status["turns"]) == (3, "BLOCKED", 2), ended.reason
    assert ended.reason.startswith("The agent asked to change tests/test_calc.py, and that was refused.")
    assert "measured: with this change" in ended.reason
    command = ended.reason.partition("If the request needs this change: flyball ")[2]
    assert command.endswith("--may-change tests/test_calc.py")
    resumed = flyball(ended.root, *command.split(), "--unattended")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr


def test_who_finds_another_way_after_a_refusal_is_not_stopped(tmp_path: Path) -> None:
    declared = {"protected_changes": [{"path": "tests/test_calc.py", "reason": "sub has another name"}]}
    report = {"report": {**FINISHED["report"], **declared}}
    both = FILES["calc.py"] + "\n\nminus = sub\n"
    test = "from calc import minus\n\n\ndef test_minus():\n    assert minus(3, 2) == 1\n"
    other: list[Action] = [{"write": {"calc.py": both, "tests/test_minus.py": test}}, FINISHED]
    ended = play(tmp_path, FILES, "sub can be called minus", [[MINUS, report], other], *GATE)
    assert (ended.exit_code, ended.decision) == (0, "DONE"), ended.reason
