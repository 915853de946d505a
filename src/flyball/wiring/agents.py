"""Makes the agents a task was opened with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from flyball.agents.cli import Cli, CliAgent
from flyball.agents.command import Command, CommandAgent
from flyball.agents.dialects import DIALECTS, speaking_acp
from flyball.agents.frame import Frame, Patience
from flyball.agents.homes import known_paths
from flyball.agents.scripted import ScriptedAgent, load_script
from flyball.clock import system_clock
from flyball.config.agents import IMPLEMENTER
from flyball.config.errors import AgentMissing
from flyball.config.settings import Configured
from flyball.core.task import AgentSpec, Task
from flyball.ports import Agent, Confine
from flyball.workspace.sandbox import Confined


def hiding_logins(confine: Confine, environment: Mapping[str, str]) -> Confine:
    """The sandbox of whoever needs no agent's login: gates, set-up, and each known agent but for its own."""
    if not isinstance(confine, Confined):
        return confine
    names = [name for dialect in DIALECTS.values() for name in (*dialect.homes, *dialect.guarded)]
    return msgspec.structs.replace(confine, hidden=(*confine.hidden, *known_paths(names, environment)))


def agents_of(
    task: Task, *, confine: Confine, environment: Mapping[str, str], root: Path, hold_fds: Sequence[int]
) -> dict[str, Agent]:
    """Every agent of a task by its name; scripts are looked for below `root`.

    A command may be a wrapper round a known agent, so it sees every login.
    """
    limits = task.settings.limits
    frame = Frame(
        task=task.id,
        workflow=task.workflow,
        confine=confine,
        sandboxed=isinstance(confine, Confined),
        environment=environment,
        clock=system_clock,
        patience=Patience(limits.turn_timeout_s, limits.idle_timeout_s),
        hold_fds=hold_fds,
    )
    own = msgspec.structs.replace(frame, confine=hiding_logins(confine, environment))
    return {spec.name: _agent(spec, own if _keeps_to_its_own(spec) else frame, root) for spec in task.agents}


def require_installed(configured: Configured, environment: Mapping[str, str]) -> None:
    """Refuse a task that is not opened yet if nobody is there to implement it: neither the agent nor one that stands in for it."""
    specs = {spec.name: spec for spec in configured.agents}
    choice = configured.settings.choice(IMPLEMENTER)
    candidates = [specs[name] for name in (choice.agent, *choice.fallback) if name in specs]
    missing = [_missing(spec, configured, environment) for spec in candidates]
    if missing and all(missing):
        raise AgentMissing(f"{'; '.join(missing)}. See what is there with: flyball agents")


def _missing(spec: AgentSpec, configured: Configured, environment: Mapping[str, str]) -> str:
    """What is not there of an agent's program; nothing is said of one that the tree or its set-up may bring."""
    known = DIALECTS.get(spec.type)
    program = spec.command[0] if spec.command else known.program if known else ""
    folder, _, _ = program.rpartition("/")
    brought = (folder and not folder.startswith("/")) or (known is None and configured.settings.setup)
    if not program or brought or shutil.which(program, path=environment.get("PATH", os.defpath)):
        return ""
    hint = f" ({known.install})" if known and not spec.command else ""
    return f"The agent {spec.name} needs {program}, which is not installed{hint}"


def _keeps_to_its_own(spec: AgentSpec) -> bool:
    """Whether an agent is shown its own login by its dialect, and so needs to see no other's."""
    return spec.type in DIALECTS or (spec.type == "acp" and bool(speaking_acp(spec.command).homes))


def _agent(spec: AgentSpec, frame: Frame, root: Path) -> Agent:
    if spec.type == "scripted":
        return ScriptedAgent(load_script(root / spec.script), frame, name=spec.name)
    if spec.type in DIALECTS or spec.type == "acp":
        return CliAgent(cli_of(spec), frame)
    return CommandAgent(Command(spec.name, spec.command, spec.env, spec.exit_signal), frame)


def cli_of(spec: AgentSpec) -> Cli:
    """A known agent's program as the user set it up, or any that speaks the Agent Client Protocol."""
    if spec.type == "acp":
        return Cli(spec.name, speaking_acp(spec.command), env=spec.env)
    return Cli(spec.name, DIALECTS[spec.type], spec.command, spec.args, spec.env, spec.max_turns, spec.budget_usd)
