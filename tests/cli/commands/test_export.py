"""export: what is written where, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.cli.stage import Project, told_to_run
from typer.main import get_command

from flyball.cli.app import app
from flyball.core.roles.loop_roles import LOOP_ROLES, Target


@pytest.mark.parametrize("target", get_args(Target))
def test_export_says_what_it_wrote_and_how_to_use_it(tmp_path, flyball, target):
    done = flyball("export", "--target", target, "--to", str(tmp_path))
    assert done.code == 0, done.err
    *lines, last = done.out.splitlines()
    assert all((tmp_path / line.removeprefix("wrote ")).is_file() for line in lines)
    assert last.startswith(f"{len(lines)} written, 0 unchanged, in {tmp_path}.")
    again = json.loads(flyball("export", "--target", target, "--to", str(tmp_path), "--json").out)
    assert again["written"] == []
    assert len(again["unchanged"]) == len(lines)


def test_the_how_to_names_the_number_of_files_that_are_written(tmp_path, flyball):
    page = Path(__file__).parents[3] / "docs" / "how-to" / "export-to-your-agent.md"
    (named,) = re.findall(r"^(\d+) written", page.read_text(), re.MULTILINE)
    assert flyball("export", "--target", "claude", "--to", str(tmp_path)).out.count("wrote ") == int(named)


def test_what_somebody_else_wrote_is_kept_unless_force_is_given(tmp_path, flyball):
    mine = tmp_path / ".claude" / "agents" / "flyball-qa.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    refused = flyball("export", "--target", "claude", "--to", str(tmp_path))
    assert refused.code == 2
    assert "flyball-qa.md" in refused.err
    assert mine.read_text() == "mine\n"
    assert flyball("export", "--target", "claude", "--to", str(tmp_path), "--force").code == 0
    assert mine.read_text() != "mine\n"


def test_only_claude_code_has_a_plugin(tmp_path, flyball):
    refused = flyball("export", "--target", "codex", "--plugin", "--to", str(tmp_path))
    assert refused.code == 2
    assert "--target claude" in refused.err
    done = flyball("export", "--target", "claude", "--plugin", "--to", str(tmp_path / "plugin"))
    assert done.out.splitlines()[-1].endswith(f"claude --plugin-dir {tmp_path / 'plugin'}")
    assert (tmp_path / "plugin" / ".claude-plugin" / "plugin.json").is_file()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("evaluator", ("flyball evaluate", "--validation", "--build", "--gates", "--error", "--unrecoverable", "--max-cycles", "--focus")),
        ("dispatcher", ("flyball dispatch TRACK`", "evaluation-report.md", "metadata.json", "fix actions")),
        ("orchestrator", ("--workflow plan", "--approve-plan", "flyball answer TASK QUESTION TEXT", "ask the person", "flyball resume", "flyball report")),
    ],
)  # fmt: skip
def test_a_role_of_the_loop_does_its_whole_job_with_options_that_exist(name, words):
    (text,) = [role.text for role in LOOP_ROLES if role.name == name]
    assert all(word in text for word in words)
    assert "--choose" not in text
    commands: Any = get_command(app)
    for command, rest in re.findall(r"`flyball (\w+)([^`]*)`", text):
        known = {option for each in commands.commands[command].params for option in (*each.opts, *each.secondary_opts)}
        assert set(re.findall(r"--[\w-]+", rest)) <= known, command


def text_of(name: str) -> str:
    (text,) = [role.text for role in LOOP_ROLES if role.name == name]
    return " ".join(text.split())


ISSUE = """---
id: BUG-001@a1b2c3
title: the total is wrong
created: 2026-01-01
type: bug
priority: high
status: proposed
---
### Problem
wrong
### Acceptance Criteria
- right
"""


@pytest.mark.req("E7")
@pytest.mark.parametrize(
    ("told", "code", "decision"), [({"--focus"}, 10, "CONTINUE"), ({"--error", "--unrecoverable"}, 3, "BLOCKED")]
)
def test_the_exported_evaluator_is_followed_word_for_word(repository, flyball, told, code, decision):
    issues = repository / ".work" / "agent" / "issues"
    issues.mkdir(parents=True)
    (issues / "high.md").write_text(ISSUE)
    (repository / "review.md").write_text("## Code Review Summary\n\n**Result:** pass\n")
    (command,) = told_to_run("evaluator")
    values = {"FILE": "review.md", "TEXT": "disk full", "N": "9", "ID": "BUG-001@a1b2c3"}
    options = [words.split() for words in re.findall(r"`(--[^`]+)`", text_of("evaluator"))]
    given = [
        values.get(word, word.partition("|")[0])
        for words in options
        if words[0] in told or words[0] in {"--validation", "--build", "--gates", "--max-cycles"}
        for word in words
    ]
    done = flyball(*command, *given)
    assert (done.code, f"{code} is {decision}" in text_of("evaluator")) == (code, True), done.err
    for line in (
        f"Decision: {decision}",
        "Reason: ",
        "Next priority: " if code == 10 else "Blocked on: ",
        f"<promise>LOOP_{decision}<",
    ):
        assert line in done.out


@pytest.mark.req("M32")
def test_the_exported_monitor_is_followed_word_for_word(repository, flyball):
    (command,) = told_to_run("monitor", TASK="demo")
    lines = "Batch: 1.1\nReview: {}\nPassed: {}\nFailed: {}\nBlocked: {}\n"
    done = flyball(*command, input=lines.format("approved", "1.1", "", ""))
    assert (done.code, done.out.startswith("Status: PROGRESSING | ")) == (0, True)
    stuck = flyball(*command, input=lines.format("approved", "", "", "1.1 needs a key"))
    assert (stuck.code, "Status: BLOCKED" in stuck.out, "Blockers: " in stuck.out) == (3, True, True), stuck.out
    assert "0 is PROGRESSING and 3 is any other status" in text_of("monitor")
    assert (repository / ".loop" / "demo" / "loop-state.md").exists()


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("C64")
def test_the_exported_controller_is_followed_word_for_word(tmp_path, monkeypatch):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    project = Project(tmp_path)
    project.go()
    run, look, report = told_to_run("controller", DOCUMENT="docs/discount.md")
    done = project.flyball(*run)
    assert done.returncode == 0, done.stderr
    shown = json.loads(project.flyball(*look).stdout)
    assert shown["decision"] == "DONE"
    assert {"stage", "iterations", "breaker", "questions"} <= set(shown)
    assert project.flyball(*report).stdout.startswith("# Report: 001-give-a-discount")
    assert "is finished" in project.flyball(*run).stderr, "a second start of the same document begins no second task"
