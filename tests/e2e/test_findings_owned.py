"""What is wrong with a document is repaired where documents are written, and the suite is not paid for again and again."""

import json
import sys
from pathlib import Path

import pytest
from tests.e2e.test_uncounted import flyball
from tests.measures.gates.test_ways_back import put, run

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C17", "C51")]
PROGRAM = Path(__file__).parents[1] / "agents" / "programs" / "forgetful_documenter.py"
GATE = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
FILES = {
    "calc/__init__.py": '"""A calculator."""\n\n\ndef add(a, b):\n    """Add."""\n    return a + b\n',
    "tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
    "conftest.py": "",
    "README.md": "# calc\n\nA calculator. It can `add`.\n",
    "CHANGELOG.md": "# Changelog\n\n- add\n",
}
CRITERIA = "# Multiply\n\n### Acceptance Criteria\n- [ ] multiply(6, 7) gives 42\n"


def work(folder: Path, *how: str) -> tuple[int, dict[str, object], list[str], str]:
    """The exit code, the status, the stages of the turns and what was shown."""
    root = folder / "project"
    put(root, FILES)
    put(folder, {"prp.md": CRITERIA})
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        run(root, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words)
    program = " ".join([sys.executable, "-E", "-S", str(PROGRAM), *how])
    words = ["run", "--from", str(folder / "prp.md"), "--workflow", "tdd", "--agent-command", program, "--gate", GATE]
    done = flyball(root, *words, "--sandbox", "none", "--unattended")
    told = done.stdout + done.stderr
    stages = [line.split()[1] for line in done.stdout.splitlines() if " begins" in line and " turn " in line]
    return done.returncode, json.loads(flyball(root, "status", "--json").stdout), stages, told


def test_a_readme_without_the_feature_is_repaired_in_document_and_qa_never_sees_it(tmp_path: Path) -> None:
    code, _, stages, told = work(tmp_path)
    assert code == 0, told
    assert stages.count("GREEN") == 1, told
    assert stages.count("DOCUMENT") == 2
    assert stages.count("QA") == 1


def test_a_readme_that_is_never_repaired_ends_in_document(tmp_path: Path) -> None:
    code, shown, stages, told = work(tmp_path, "--never")
    assert code == 3, told
    assert (shown["stage"], stages.count("GREEN")) == ("DOCUMENT", 1), told
    assert "README.md does not mention the feature" in told


def test_a_reviewers_finding_about_a_document_never_runs_green_again(tmp_path: Path) -> None:
    code, _, stages, told = work(tmp_path, "--seen", str(tmp_path / "seen"))
    assert code == 0, told
    assert stages.count("GREEN") == 1, told
    assert stages[-3:] == ["QA", "DOCUMENT", "QA"]
