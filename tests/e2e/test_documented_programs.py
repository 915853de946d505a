"""The sample programs of the page on agents of any kind: each is run as it stands there."""

import re
import sys
from pathlib import Path

import pytest
from tests.e2e.plays import flyball, make_repository

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs/how-to/any-program-as-an-agent.md"
FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n",
}
MODEL = """#!/bin/sh
cat > /dev/null
if [ "$FLYBALL_ROLE" = implementer ]; then
    printf '\\n\\ndef multiply(a, b):\\n    return a * b\\n' >> calc.py
    printf 'from calc import multiply\\n\\n\\ndef test_multiply():\\n    assert multiply(6, 7) == 42\\n' > tests/test_multiply.py
fi
echo FINISHED
"""


@pytest.mark.parametrize("language", ["sh", "python"])
def test_a_documented_program_brings_a_task_to_its_end(language: str, tmp_path: Path) -> None:
    blocks: list[str] = re.findall(rf"```{language}\n(#!.*?)```", PAGE.read_text(), re.DOTALL)
    root = make_repository(tmp_path / "project", FILES)
    for name, text in (("agent", blocks[0]), ("model", MODEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    gate = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q --junit-xml={{junit}}"
    program = f"{tmp_path / 'agent'} {tmp_path / 'model'}"
    ended = flyball(root, "run", "Teach calc to multiply", "--unattended", "--agent-command", program, "--gate", gate)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "false claim" not in ended.stdout
