"""Two packages of one repository with a gate each, and a test file of the same name in both."""

import sys
from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, Action, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C14", "C31")]

PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
GATES = ("--gate", f"a=cd a && {PYTEST}", "--gate", f"b=cd b && {PYTEST}")
SIZE = "\n\ndef size():\n    return 3\n"
NEW_TEST = "from core_a import size\n\n\ndef test_ac_1_size():\n    assert size() == 3\n"


def package(name: str, result: str) -> dict[str, str]:
    return {
        f"{name}/core_{name}.py": f"def name():\n    return '{name}'\n",
        f"{name}/tests/test_core.py": f"from core_{name} import name\n\n\ndef test_name():\n    assert name() == '{result}'\n"
        "\n\ndef test_text():\n    assert isinstance(name(), str)\n",
        f"{name}/pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    }


FILES = {**package("a", "a"), **package("b", "not yet"), ".gitignore": "__pycache__/\n"}


@pytest.mark.parametrize(("result", "decision"), [("a", "DONE"), ("broken", "BLOCKED")])
def test_the_known_failure_of_one_package_excuses_nothing_in_the_other(
    result: str, decision: str, tmp_path: Path
) -> None:
    code = FILES["a/core_a.py"].replace("'a'", f"'{result}'") + SIZE
    work: Action = {"write": {"a/core_a.py": code, "a/tests/test_size.py": NEW_TEST}}
    ended = play(tmp_path, FILES, "size in package a gives 3", [[work, FINISHED]], *GATES, "--failing", "known")
    assert ended.decision == decision, ended.reason
