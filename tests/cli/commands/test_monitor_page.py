"""The examples of the page on watching another loop do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "monitor-another-loop.md").read_text(encoding="utf-8")


def example(language: str, number: int = 0) -> str:
    return str(re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number])


@pytest.fixture
def bash(tmp_path, monkeypatch):
    """Runs a script of the page in an empty folder, with a gate that fails alike every time and an agent that notes it."""
    (tmp_path / "agent").write_text("#!/bin/sh\necho $1 >> contexts\n")
    (tmp_path / "gate").write_text("#!/bin/sh\necho 'ValueError: row 3'\nexit 1\n")
    for program in ("agent", "gate"):
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")

    def run(script: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120, **more
        )

    return run


@pytest.mark.req("M33")
@pytest.mark.e2e
def test_the_shell_example_changes_the_context_and_then_stops(bash, tmp_path):
    done = bash(example("bash"))
    assert '"cure":"stop"' in done.stdout
    assert (tmp_path / "contexts").read_text().split() == ["1", "1", "2", "2", "3", "3"]


@pytest.mark.req("M1")
@pytest.mark.e2e
def test_the_batch_examples_are_understood(bash):
    done = bash(example("bash", 1))
    assert (done.returncode, done.stdout) == (0, "Status: PROGRESSING | Recommendation: continue\n")
    done = bash("flyball monitor 001-add-login", input=example("json"))
    assert (done.returncode, done.stdout) == (3, "Status: BLOCKED | Recommendation: escalate\nBlockers: no key\n")


@pytest.mark.req("M33")
def test_the_python_example_ends_a_loop_that_goes_nowhere_and_lets_another_pass():
    space: dict[str, Any] = {}
    exec(compile(example("python"), "the page", "exec"), space)
    contexts: list[int] = []
    why = space["watched"](contexts.append, lambda: (False, "ValueError: row 3"))
    assert "the same failure ended 2 earlier contexts" in why
    assert contexts == [1, 1, 2, 2, 3, 3]
    results = iter([(False, "ValueError: row 3"), (False, "KeyError: name"), (True, "")])
    assert space["watched"](contexts.append, lambda: next(results)) == "passed"
