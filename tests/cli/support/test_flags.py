"""The options of `run` and `resume`: declared once, with their values and defaults."""

import typing

import pytest
from msgspec.structs import replace
from typer.main import get_command

from flyball.cli import app as table
from flyball.cli.support import flags
from flyball.config.settings import RunFlags
from flyball.core.model.task import Limits
from flyball.core.workflows.registry import DEFAULT, WORKFLOWS

COMMANDS = get_command(table.app).commands  # type: ignore[attr-defined]


def help_of(command: str, option: str) -> str:
    return str(next(p.help for p in COMMANDS[command].params if p.name == option))


def test_every_setting_that_can_be_typed_is_an_option_and_nothing_else_is():
    assert set(flags.SETTINGS) == set(RunFlags.__struct_fields__)
    assert set(flags.AT_RESUME) < set(flags.SETTINGS)


@pytest.mark.parametrize("command", ["run", "resume"])
def test_help_names_the_values_and_the_default_of_every_setting(command: str):
    settings = [p for p in COMMANDS[command].params if p.name in flags.SETTINGS]
    assert settings
    for option in settings:
        assert "Default: " in option.help, option.name
        assert option.is_flag or option.metavar, option.name
        assert "[" not in option.help, f"{option.name}: brackets are markup, and vanish"


def test_help_names_every_workflow_and_the_defaults_that_are_true():
    said = help_of("run", "workflow")
    assert all(name in said for name in WORKFLOWS)
    assert f"Default: {DEFAULT}" in said
    assert Limits().turn_timeout_s == 3600
    assert "Default: 1h." in help_of("run", "turn_timeout")
    assert Limits().idle_timeout_s == 900
    assert "Default: 15m." in help_of("run", "idle_timeout")
    limits = typing.get_type_hints(Limits)
    for name in (n for n in flags.AT_RESUME if n.startswith(("max_", "budget_"))):
        assert name in limits
        assert getattr(Limits(), name) is None
        assert help_of("run", name).endswith("Default: no limit.")


def test_help_names_the_workflows_that_can_be_shown_and_those_of_other_packages(monkeypatch):
    monkeypatch.setitem(WORKFLOWS, "notes", replace(WORKFLOWS[DEFAULT], name="notes"))
    monkeypatch.setitem(WORKFLOWS, "dull", replace(WORKFLOWS[DEFAULT], name="dull", demo=None))
    commands = get_command(table.app).commands  # type: ignore[attr-defined]
    run, demo = (next(p.help for p in commands[name].params if p.name == "workflow") for name in ("run", "demo"))
    assert run.startswith("Workflow: quick, tdd, plan, backlog, track, notes or dull. ")
    assert demo == "Workflow to show: quick, tdd, plan, backlog, track or notes. Default: quick."


def test_a_resumed_task_keeps_what_is_not_typed_and_help_says_so():
    for name in flags.AT_RESUME:
        assert help_of("resume", name).endswith("Default: as before.")
