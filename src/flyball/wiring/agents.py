"""Makes the agents a task was opened with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from flyball.agents.cli import Cli, CliAgent
from flyball.agents.command import Command, CommandAgent, Patience
from flyball.agents.dialects import DIALECTS, speaking_acp
from flyball.agents.scripted import ScriptedAgent, load_script
from flyball.clock import system_clock
from flyball.core.task import AgentSpec, Task
from flyball.ports import Agent, Confine


def agents_of(
    task: Task, *, confine: Confine, environment: Mapping[str, str], root: Path, hold_fds: Sequence[int]
) -> dict[str, Agent]:
    """Every agent of a task by its name; scripts are looked for below `root`."""
    limits = task.settings.limits
    patience = Patience(limits.turn_timeout_s, limits.idle_timeout_s)
    return {
        spec.name: _maker(spec, root)(
            task=task.id,
            workflow=task.workflow,
            confine=confine,
            environment=environment,
            clock=system_clock,
            patience=patience,
            hold_fds=hold_fds,
        )
        for spec in task.agents
    }


def _maker(spec: AgentSpec, root: Path) -> Callable[..., Agent]:
    if spec.type == "scripted":
        return partial(ScriptedAgent, load_script(root / spec.script), name=spec.name)
    if spec.type in DIALECTS or spec.type == "acp":
        return partial(CliAgent, cli_of(spec))
    return partial(CommandAgent, Command(spec.name, spec.command, spec.env, spec.exit_signal))


def cli_of(spec: AgentSpec) -> Cli:
    """A known agent's program as the user set it up, or any that speaks the Agent Client Protocol."""
    if spec.type == "acp":
        return Cli(spec.name, speaking_acp(spec.command), env=spec.env)
    return Cli(spec.name, DIALECTS[spec.type], spec.command, spec.args, spec.env, spec.max_turns, spec.budget_usd)
