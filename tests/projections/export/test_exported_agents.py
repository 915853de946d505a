"""Roles as other programs read them: read back with the parsers of their formats."""

import json
import re
import tomllib
from typing import Any, get_args

import pytest
import yaml

from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.loop.role import Role
from flyball.core.roles.loop_roles import LOOP_ROLES, LoopRole, Target
from flyball.core.roles.workers import roles
from flyball.core.workflows.registry import WORKFLOWS
from flyball.projections.export.agents import exported_agents, exported_roles
from flyball.projections.export.plugin import exported_plugin

ROLES = roles()
WANTED = {"implementer", "reviewer", "qa", "code-reviewer", "security-auditor", "performance-reviewer", "spec-auditor"}
MARKDOWN = [target for target in get_args(Target) if target != "codex"]


def parts(page: str) -> tuple[dict[str, Any], str]:
    start, head, body = page.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(head), body


def read(target: Target, role: Role) -> tuple[dict[str, Any], str]:
    """A role's settings and its text, as the target's parser sees them."""
    files = exported_agents(target).files.items()
    (page,) = [page for path, page in files if path.rpartition("/")[2].split(".")[0] == f"flyball-{role.name}"]
    if target == "codex":
        settings = tomllib.loads(page)
        return settings, settings.pop("developer_instructions")
    return parts(page)


def role(name: str) -> Role:
    return next(role for role in exported_roles() if role.name == name)


def test_the_roles_of_every_workflow_are_there_each_with_a_text_and_a_description():
    assert {role.name for role in ROLES} >= WANTED
    assert len({role.name for role in ROLES}) == len(ROLES)
    assert all(role.text and role.description.endswith(".") and "read" in role.abilities for role in ROLES)


def test_a_role_that_a_workflow_uses_is_told_the_same_in_both_places():
    assert {
        role.name for role in ROLES if role.text not in {c.text for w in WORKFLOWS.values() for c in w.cards}
    } == set()


@pytest.mark.parametrize("target", get_args(Target))
def test_each_target_gets_every_role_with_the_same_text(target):
    assert len(exported_agents(target).files) == len(exported_roles())
    for each in exported_roles():
        settings, text = read(target, each)
        assert settings["description"] == each.description
        assert each.text in text
        assert ("measured, not said" in text) is not isinstance(each, LoopRole)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("claude", ".claude/agents/flyball-qa.md"),
        ("opencode", ".opencode/agents/flyball-qa.md"),
        ("copilot", ".github/agents/flyball-qa.agent.md"),
        ("gemini", ".gemini/agents/flyball-qa.md"),
        ("codex", ".codex/agents/flyball-qa.toml"),
    ],
)
def test_each_target_looks_where_the_files_are_put(target, path):
    assert path in exported_agents(target).files


def test_a_role_that_only_looks_gets_no_tool_that_edits():
    assert read("claude", role("planner"))[0]["tools"] == "Read, Grep, Glob"
    assert read("copilot", role("planner"))[0]["tools"] == ["read", "search"]
    assert read("gemini", role("planner"))[0]["tools"] == ["read_file", "list_directory", "grep_search", "glob"]
    assert read("opencode", role("planner"))[0]["permission"] == {"edit": "deny", "bash": "deny"}
    assert read("codex", role("planner"))[0]["sandbox_mode"] == "read-only"


def test_a_role_that_works_gets_what_it_needs():
    assert read("claude", role("implementer"))[0]["tools"] == "Read, Grep, Glob, Edit, Write, Bash"
    assert read("copilot", role("implementer"))[0]["tools"] == ["read", "search", "edit", "execute"]
    assert {"replace", "write_file", "run_shell_command"} <= set(read("gemini", role("implementer"))[0]["tools"])
    assert read("opencode", role("implementer"))[0]["permission"] == {"edit": "allow", "bash": "allow"}
    assert read("codex", role("implementer"))[0]["sandbox_mode"] == "workspace-write"


@pytest.mark.parametrize("target", MARKDOWN)
def test_no_key_of_one_program_leaks_into_the_file_of_another(target):
    known = {
        "claude": {"name", "description", "tools", "model"},
        "opencode": {"description", "mode", "permission"},
        "copilot": {"name", "description", "tools"},
        "gemini": {"name", "description", "kind", "tools", "model"},
    }
    assert all(set(read(target, each)[0]) == known[target] for each in ROLES)
    more = {
        "claude": {"permissionMode"},
        "opencode": {"temperature"},
        "copilot": {"model", "agents", "handoffs", "disable-model-invocation"},
        "gemini": {"temperature"},
    }
    assert all(set(read(target, each)[0]) <= known[target] | more[target] for each in LOOP_ROLES)


@pytest.mark.parametrize("card", BUILT_IN, ids=lambda card: card.name)
def test_an_evaluator_of_a_track_is_told_what_to_judge_by_its_own_text(card):
    told = role(f"eval-{card.name}").text
    assert [each.name for each in card.passes if f"- **{each.name}**: {each.judged} " in told] == [
        each.name for each in card.passes if each.judged
    ]
    assert "`flyball dispatch TRACK --measured-only`" in told


def test_the_five_roles_of_the_loop_keep_the_settings_their_files_usually_have():
    assert [each.name for each in LOOP_ROLES] == ["evaluator", "monitor", "controller", "dispatcher", "orchestrator"]
    evaluator, orchestrator = role("evaluator"), role("orchestrator")
    assert read("claude", evaluator)[0]["model"] == "haiku"
    assert read("claude", evaluator)[0]["permissionMode"] == "default"
    assert read("opencode", evaluator)[0]["mode"] == "subagent"
    assert read("opencode", evaluator)[0]["temperature"] == 0.0
    assert len(read("copilot", role("monitor"))[0]["model"]) == 3
    assert read("claude", role("controller"))[0]["tools"] == "Read, Edit, Write, Bash, Grep, Glob, Agent, TodoWrite"
    settings = read("copilot", orchestrator)[0]
    assert settings["disable-model-invocation"] is True
    assert {f"flyball-{each.name}" for each in exported_roles()} >= set(settings["agents"])
    (handoff,) = settings["handoffs"]
    assert handoff["agent"] == "flyball-orchestrator"
    assert handoff["send"] is True


@pytest.mark.parametrize("each", LOOP_ROLES, ids=lambda each: each.name)
def test_a_role_of_the_loop_runs_commands_that_there_are_and_judges_nothing(each):
    import typer
    from typer.main import get_command

    from flyball.cli.app import app

    commands = get_command(app)
    assert isinstance(commands, typer.core.TyperGroup)
    named = re.findall(r"`flyball ([a-z]+)([^`]*)`", each.text)
    assert named
    for name, rest in named:
        options = {
            option for param in commands.commands[name].params for option in (*param.opts, *param.secondary_opts)
        }
        assert set(re.findall(r"--[a-z-]+", rest)) <= options
    assert "shell" in each.abilities
    assert "Do not judge for yourself" in each.text


def test_the_plugin_asks_for_the_verdict_in_its_hook_and_in_its_commands():
    files = exported_plugin("1.2.3").files
    assert json.loads(files[".claude-plugin/plugin.json"])["version"] == "1.2.3"
    (stop,) = json.loads(files["hooks/hooks.json"])["hooks"]["Stop"]
    assert stop["hooks"][0]["command"] == "flyball hook stop"
    settings, text = parts(files["commands/verdict.md"])
    assert settings["allowed-tools"] == "Bash(flyball:*)"
    assert "flyball status $ARGUMENTS --json" in text
    assert parts(files["agents/implementer.md"])[0]["name"] == "implementer"
