"""export: what is written where, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
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
