"""`flyball run`: open a task and drive it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli import flags
from flyball.cli.exits import told


def run(
    request: Annotated[str, typer.Argument(help="What is to be done, in your words.")] = "",
    from_: Annotated[
        Path | None, typer.Option("--from", help="A PRP, PRD or plan to work from, or a .work folder.")
    ] = None,
    workflow: Annotated[str | None, typer.Option(help="How the task is worked.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="The agent to drive: named in flyball.toml, or one of `flyball agents`.")
    ] = None,
    agent_command: Annotated[str | None, typer.Option(help="Any program as the agent: 'PROG ARG …'.")] = None,
    model: Annotated[str | None, typer.Option(help="The model the agent is to use.")] = None,
    gate: Annotated[
        list[str] | None, typer.Option(help='NAME="COMMAND", repeatable; {junit} in it is the report\'s path.')
    ] = None,
    setup: Annotated[str | None, typer.Option(help="Run once in the task's own checkout.")] = None,
    attended: flags.Attended = None,
    sandbox: Annotated[str | None, typer.Option(help="auto, bwrap or none.")] = None,
    in_place: Annotated[
        bool | None, typer.Option("--in-place", help="Work in this tree, not in an isolated checkout.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="A new task even if the same request or document is being worked on.")
    ] = False,
    parallel: Annotated[int | None, typer.Option(help="At most so many turns at once.", min=1)] = None,
    max_iterations: flags.MaxIterations = None,
    max_cycles: flags.MaxCycles = None,
    max_turns: flags.MaxTurns = None,
    max_hours: flags.MaxHours = None,
    budget_usd: flags.BudgetUsd = None,
    budget_tokens: flags.BudgetTokens = None,
    turn_timeout: flags.TurnTimeout = None,
    idle_timeout: flags.IdleTimeout = None,
    approve_plan: Annotated[
        bool | None, typer.Option("--approve-plan", help="Ask before working to the acceptance criteria.")
    ] = None,
    as_json: flags.JsonEvents = False,
) -> None:
    """Start a task and go on until it is DONE, BLOCKED or at a limit."""
    from flyball.cli.driving import Start, start
    from flyball.config.settings import RunFlags

    typed = RunFlags(
        workflow=workflow,
        agent=agent,
        agent_command=agent_command,
        model=model,
        gates=tuple(gate or ()),
        setup=setup,
        attended=attended,
        sandbox=sandbox,
        in_place=in_place,
        parallel=parallel,
        max_iterations=max_iterations,
        max_cycles=max_cycles,
        max_turns=max_turns,
        max_hours=max_hours,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        turn_timeout=turn_timeout,
        idle_timeout=idle_timeout,
        approve_plan=approve_plan,
    )
    with told():
        sys.exit(start(Path.cwd(), Start(request, from_, new=new, as_json=as_json), typed))
