"""What a request asks for: failing tests it describes, the things it lists; and how agents end that never say they are done."""

import sys
from pathlib import Path

import pytest
from tests.e2e.plays import AT_WORK, FINISHED, Action, flyball, make_repository, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

GATE = ("--gate", f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q")
FILES = {
    "parse.py": "def parse(text):\n    return int(text)\n",
    "tests/test_parse.py": "from parse import parse\n\n\ndef test_number():\n    assert parse('3') == 3\n\n\n"
    "def test_empty_input():\n    assert parse('') == 0\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n",
}
GREEN = {**FILES, "parse.py": "def parse(text):\n    return int(text or 0)\n"}
HEX = {
    "append": {"parse.py": "\n\ndef parse_hex(text):\n    return int(text, 16)\n"},
}
HEX_TEST = {
    "write": {
        "tests/test_hex.py": "from parse import parse_hex\n\n\ndef test_ac_1_hex():\n    assert parse_hex('ff') == 255\n"
    }
}


@pytest.mark.req("C14")
@pytest.mark.parametrize(
    ("code", "decision"), [("return int(text or 0)", "DONE"), ("return int(text.strip())", "BLOCKED")]
)
def test_a_failing_test_whose_words_stand_in_the_request_is_part_of_the_work(
    code: str, decision: str, tmp_path: Path
) -> None:
    work = {"write": {"parse.py": f"def parse(text):\n    {code}\n"}}
    ended = play(tmp_path, FILES, "Fix parse: it crashes on empty input", [[work, FINISHED]], *GATE)
    assert ended.decision == decision, ended.reason


@pytest.mark.req("C19")
def test_a_request_of_two_numbered_lines_is_not_done_with_one_of_them(tmp_path: Path) -> None:
    request = "Extend the parser:\n1. parse_hex reads hexadecimal numbers\n2. parse_octal reads octal numbers"
    ended = play(tmp_path, GREEN, request, [[HEX, HEX_TEST, FINISHED], [FINISHED]], *GATE)
    assert ended.decision == "BLOCKED"
    assert "no test names AC-2" in ended.reason


@pytest.mark.req("C40")
def test_an_agent_that_is_at_work_for_ever_and_changes_nothing_ends_in_the_question(tmp_path: Path) -> None:
    ended = play(tmp_path, GREEN, "Add parse_hex", [[HEX, HEX_TEST, AT_WORK], [AT_WORK]], *GATE, "--max-turns", "20")
    assert ended.decision == "BLOCKED", ended.reason
    assert "the gates hold, but the agent has not said that it is done" in ended.reason
    assert ended.status["turns"] < 10


@pytest.mark.req("C40")
def test_a_program_that_cannot_report_ends_with_an_answer_that_works_when_typed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", GREEN)
    program = tmp_path / "project.sh"
    program.write_text(
        "#!/bin/sh\ngrep -q hex parse.py && exit 0\nprintf '\\n\\ndef parse_hex(text):\\n    return int(text, 16)\\n' >> parse.py\n"
        "printf 'from parse import parse_hex\\n\\n\\ndef test_ac_1_hex():\\n    assert parse_hex(\"ff\") == 255\\n' > tests/test_hex.py\n"
    )
    program.chmod(0o755)
    words = ("Add parse_hex", "--workflow", "quick", "--unattended", "--agent-command", str(program), *GATE)
    ended = flyball(root, "run", *words)
    assert ended.returncode == 3, ended.stdout
    assert 'exit_signal = "exit-0"' in flyball(root, "status", "001", "--json").stdout.replace('\\"', '"')
    command = ended.stdout.rpartition("next: flyball ")[2].splitlines()[0].split()
    assert command[0] == "answer"
    assert command[-1] == "accept"
    assert flyball(root, *command).returncode == 0


def at_work_on(name: str) -> list[Action]:
    return [{"write": {f"{name}.py": f"def {name}():\n    return '{name}'\n"}}, AT_WORK]


@pytest.mark.req("C15")
def test_groundwork_for_four_turns_under_the_same_failing_test_comes_to_done(tmp_path: Path) -> None:
    repair = {"write": {"parse.py": GREEN["parse.py"]}}
    turns: list[list[Action]] = [*map(at_work_on, ("alpha", "beta", "gamma", "delta")), [repair, FINISHED]]
    ended = play(tmp_path, FILES, "Make the failing tests pass", turns, *GATE)
    assert (ended.decision, ended.status["turns"]) == ("DONE", len(turns) + 1), ended.reason
    assert ended.branch_file("alpha.py"), "nothing was rolled back"
