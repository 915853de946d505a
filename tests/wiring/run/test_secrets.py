"""C47: a value that flyball hands on stands in nothing that it writes."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agents.sample import make_sample_repository

pytestmark = [pytest.mark.req("C47"), pytest.mark.slow]

SECRET = "sk-live-7f3a9c5e1b"
LEAKING = """
import json, os, pathlib, sys

value = os.environ["SERVICE_TOKEN"]
sys.stdin.read()
print("I was given", value, flush=True)
print("and on stderr", value, file=sys.stderr, flush=True)
pathlib.Path("notes.txt").write_text("\\x1b]0;title\\x07\\x1b[2Jwork\\n")
report = {
    "nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True, "summary": f"used {value}",
    "learnings": [{"kind": "decision", "title": f"use {value}", "text": f"the value is {value}"}],
    "decisions": [{"title": f"use {value}", "text": value}], "blockers": [], "verdict": "pass", "findings": [],
}
pathlib.Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(report))
"""


@pytest.fixture
def done(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    repository = make_sample_repository(tmp_path / "repository")
    program = tmp_path / "agent.py"
    program.write_text(LEAKING)
    home = tmp_path / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "FLYBALL_HOME": str(home), "SERVICE_TOKEN": SECRET}
    (repository / "flyball.toml").write_text(
        f'agent = "leaky"\n[agents.leaky]\ntype = "command"\ncommand = ["{sys.executable}", "{program}"]\nenv = ["SERVICE_TOKEN"]\n'
    )
    for command in (
        ["trust", "--yes"],
        ["run", "Do it", "--workflow", "quick", "--unattended", "--max-turns", "2", "--gate", "test=true"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "flyball", *command],
            cwd=repository,
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert ran.stdout or ran.stderr
    return repository, home, env


def test_a_passed_on_variable_stands_in_no_artefact(done) -> None:
    repository, home, env = done
    files = [path for root in (repository, home) for path in root.rglob("*") if path.is_file()]
    assert any(path.name == "stdout" for path in files), "a turn was taken"
    assert [str(path) for path in files if SECRET.encode() in path.read_bytes() and path.name != "flyball.toml"] == []
    assert not any(SECRET in str(path) for path in files)
    for words in (["logs"], ["logs", "--turn", "1"], ["report"], ["status"]):
        shown = subprocess.run(
            [sys.executable, "-m", "flyball", *words],
            cwd=repository,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert SECRET not in shown.stdout + shown.stderr
        assert shown.returncode == 0
    branches = subprocess.run(
        ["git", "log", "--all", "-p"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    assert SECRET not in branches


def test_a_patch_is_scrubbed_for_a_terminal_and_whole_for_a_pipe(done) -> None:
    repository, _, env = done
    command = [sys.executable, "-m", "flyball", "diff"]
    piped = subprocess.run(command, cwd=repository, env=env, capture_output=True, timeout=60, check=False).stdout
    assert b"\x1b[2J" in piped
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=repository, env=env, stdout=theirs, stderr=subprocess.DEVNULL, timeout=60, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert b"notes.txt" in shown
    assert b"work" in shown
    assert b"\x1b" not in shown
