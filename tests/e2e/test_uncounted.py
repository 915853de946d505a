"""Projects whose tests nobody counts: make, a script, a runner of TAP. An honest agent comes to DONE, a liar never."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C31", "C41", "C42")]

PROGRAM = Path(__file__).parents[1] / "agents" / "programs" / "shell_worker.py"
DOCUMENT = """# More of the calculator

### Acceptance Criteria
- [ ] mul 6 7 prints 42: it multiplies numbers
- [ ] neg 5 prints -5: it negates a number
"""
COMMON = {
    "calc.sh": "add() { echo $(($1 + $2)); }\n",
    "README.md": "# calc\n\nA calculator for the shell. It can `add`.\n",
    "CHANGELOG.md": "# Changelog\n\n- add\n",
}
ADD = '. ./calc.sh\n[ "$(add 1 2)" = 3 ] || exit 1\n'
LAYOUTS = {
    "make": {
        "Makefile": "test:\n\t@for t in tests/*_test.sh; do echo $$t; sh $$t || exit 1; done\n",
        "tests/add_test.sh": ADD,
    },
    "script": {
        "tests/run.sh": 'failed=0\nfor t in tests/test_*.sh; do\n  sh "$t" || { echo "FAILED $t"; failed=$((failed + 1)); }\ndone\nexit $failed\n',
        "tests/test_add.sh": ADD,
    },
    "tap": {
        "run-tap.sh": 'bad=0\nfor t in t/*.t; do\n  out=$(sh "$t"); echo "$out"\n  case "$out" in *"not ok"*) bad=1 ;; ok*) ;; *) bad=1 ;; esac\ndone\nexit $bad\n',
        "t/add.t": "#!/bin/sh\n. ./calc.sh\nif [ \"$(add 1 2)\" = 3 ]; then echo ok 1; else echo 'not ok 1'; fi\n",
    },
}
GATES = {"make": "make test", "script": "sh tests/run.sh", "tap": "sh run-tap.sh"}


def make(layout: dict[str, str], folder: Path) -> Path:
    root = folder / "project"
    for name, text in {**COMMON, **layout}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


def flyball(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = root.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FLYBALL_HOME": str(home / "home")}
    return subprocess.run(
        [sys.executable, "-m", "flyball", *words], cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip


def work(root: Path, gate: str, *lie: str) -> tuple[int, dict[str, Any], str]:
    (root.parent / "prp.md").write_text(DOCUMENT)
    program = " ".join([sys.executable, "-E", "-S", str(PROGRAM), *lie])
    asked = ["run", "--from", str(root.parent / "prp.md"), "--agent-command", program, "--gate", f"test={gate}"]
    done = flyball(root, *asked, "--workflow", "tdd", "--unattended", "--json")
    lines = done.stdout.splitlines()
    return done.returncode, json.loads(lines[-1]) if lines else {}, done.stdout + done.stderr


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_honest_agent_comes_to_done_where_tests_are_not_counted(layout: str, tmp_path: Path) -> None:
    root = make(LAYOUTS[layout], tmp_path)
    code, status, text = work(root, GATES[layout])
    assert (code, status.get("decision")) == (0, "DONE"), text[-3000:]
    assert status["turns"] <= 6
    subprocess.run(["git", "merge", "-q", status["branch"]], cwd=root, check=True, capture_output=True)
    subprocess.run(["sh", "-c", GATES[layout]], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("layout", "lie", "named"),
    [
        ("make", "idle", "test fails: exit 2"),
        ("make", "weaken", "protected-changed"),
        ("tap", "gate", "test-config-changed"),
        ("script", "exit", "exit-forced"),
        ("script", "aid", "test-aided"),
        ("tap", "empty", "every gate ends with 0 with it"),
    ],
)
def test_a_liar_never_comes_to_done_and_is_told_why(layout: str, lie: str, named: str, tmp_path: Path) -> None:
    code, status, text = work(make(LAYOUTS[layout], tmp_path), GATES[layout], "--lie", lie)
    assert (code, status.get("decision")) == (3, "BLOCKED"), text[-3000:]
    assert named in text


def test_where_a_new_test_file_would_not_be_run_tdd_says_so_before_any_turn(tmp_path: Path) -> None:
    root = make({"Makefile": "test:\n\tsh tests/add_test.sh\n", "tests/add_test.sh": ADD}, tmp_path)
    code, status, text = work(root, "make test")
    assert (code, status.get("turns")) == (3, 0), text[-3000:]
    assert "tdd cannot verify RED here (flyball run --workflow quick" in text
