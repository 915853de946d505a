"""`flyball resume`: go on where a task stopped."""

from __future__ import annotations

import sys
from pathlib import Path

from flyball.cli import arguments, flags
from flyball.cli.exits import told


def resume(
    task: arguments.MaybeTask = "",
    attended: flags.Attended = None,
    max_iterations: flags.MaxIterations = None,
    max_cycles: flags.MaxCycles = None,
    max_turns: flags.MaxTurns = None,
    max_hours: flags.MaxHours = None,
    budget_usd: flags.BudgetUsd = None,
    budget_tokens: flags.BudgetTokens = None,
    turn_timeout: flags.TurnTimeout = None,
    idle_timeout: flags.IdleTimeout = None,
    as_json: flags.JsonEvents = False,
) -> None:
    """Go on where a task stopped: after a pause, a limit, an answer, a crash."""
    from flyball.cli.driving import take_up
    from flyball.config.settings import RunFlags

    typed = RunFlags(
        attended=attended,
        max_iterations=max_iterations,
        max_cycles=max_cycles,
        max_turns=max_turns,
        max_hours=max_hours,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        turn_timeout=turn_timeout,
        idle_timeout=idle_timeout,
    )
    with told():
        sys.exit(take_up(Path.cwd(), task, typed, as_json=as_json))
