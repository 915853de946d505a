"""Makes the agents a task was opened with."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from flyball.agents.dialects.table import DIALECTS, speaking_acp
from flyball.agents.run.cli import Cli, CliAgent
from flyball.agents.run.command import Command, CommandAgent
from flyball.agents.run.frame import Patience, ProgramFrame
from flyball.agents.run.homes import known_paths
from flyball.agents.run.own_path import own_programs
from flyball.agents.scripted.scripted import ScriptedAgent, load_script
from flyball.clock import system_clock
from flyball.core.model.task import AgentSpec, Task
from flyball.core.text.hiding import secrets_of
from flyball.ports import Agent, Confine
from flyball.workspace.sandbox import Confined

_OWN_TOKENS = frozenset({"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"})
MOST_CARRIED = 50
LARGEST_CARRIED = 64 * 1024
"""Bytes of a carried file that may hold secrets; larger ones are data."""


def hiding_logins(confine: Confine, environment: Mapping[str, str]) -> Confine:
    """The sandbox of whoever needs no agent's login: gates, set-up, and each known agent but for its own."""
    if not isinstance(confine, Confined):
        return confine
    names = [name for dialect in DIALECTS.values() for name in (*dialect.homes, *dialect.guarded)]
    return msgspec.structs.replace(confine, hidden=(*confine.hidden, *known_paths(names, environment)))


def known_secrets(task: Task, environment: Mapping[str, str], root: Path) -> tuple[str, ...]:
    """The secret values that flyball hands on in a task: variables agents see, files gates carry, and its own tokens."""
    names = {name for spec in task.agents for name in spec.env} | _OWN_TOKENS
    names |= {name for spec in task.agents if (known := DIALECTS.get(spec.type)) for name in known.variables}
    passed = {name: environment[name] for name in names if name in environment}
    return secrets_of(passed, (text for name in task.settings.carry for text in _small_texts(root / name)))


def _small_texts(place: Path) -> Iterator[str]:
    files = [place] if place.is_file() else sorted(place.glob("*")) if place.is_dir() else []
    for file in files[:MOST_CARRIED]:
        if file.is_file() and file.stat().st_size <= LARGEST_CARRIED:
            yield file.read_text("utf-8", "replace")


def agents_of(
    task: Task,
    *,
    confine: Confine,
    environment: Mapping[str, str],
    root: Path,
    hold_fds: Sequence[int],
    secrets: tuple[str, ...] = (),
) -> dict[str, Agent]:
    """Every agent of a task by its name; scripts are looked for below `root`.

    A command may be a wrapper round a known agent, so it sees every login.
    """
    limits = task.settings.limits
    frame = ProgramFrame(
        task=task.id,
        workflow=task.workflow,
        confine=confine,
        sandboxed=isinstance(confine, Confined),
        environment=environment,
        clock=system_clock,
        patience=Patience(limits.turn_timeout_s, limits.idle_timeout_s),
        hold_fds=hold_fds,
        own=own_programs(root),
        secrets=secrets,
    )
    own = msgspec.structs.replace(frame, confine=hiding_logins(confine, environment))
    return {spec.name: _agent(spec, frame, own, root) for spec in task.agents}


def _agent(spec: AgentSpec, frame: ProgramFrame, own: ProgramFrame, root: Path) -> Agent:
    """An agent; one whose dialect shows it its `own` login needs to see no other's."""
    if spec.type == "scripted":
        return ScriptedAgent(load_script(root / spec.script), frame, name=spec.name)
    if spec.type == "acp":
        spoken = speaking_acp(spec.command)
        return CliAgent(Cli(spec.name, spoken, env=spec.env), own if spoken.homes else frame)
    if spec.type in DIALECTS:
        dialect = DIALECTS[spec.type]
        cli = Cli(spec.name, dialect, spec.command, spec.args, spec.env, spec.max_turns, spec.budget_usd)
        return CliAgent(cli, own)
    return CommandAgent(Command(spec.name, spec.command, spec.env, spec.exit_signal), frame)
