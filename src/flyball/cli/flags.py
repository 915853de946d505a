"""Options that `run` and `resume` share, as typer knows them."""

from __future__ import annotations

from typing import Annotated

import typer

MaxIterations = Annotated[int | None, typer.Option(help="Stop after so many iterations.", min=1)]
MaxCycles = Annotated[int | None, typer.Option(help="Stop after so many issues taken up (backlog).", min=1)]
MaxTurns = Annotated[int | None, typer.Option(help="Stop after so many turns.", min=1)]
MaxHours = Annotated[float | None, typer.Option(help="Stop after so many hours.")]
BudgetUsd = Annotated[float | None, typer.Option(help="Stop before the turn that would spend more.")]
BudgetTokens = Annotated[int | None, typer.Option(help="Stop before the turn that would use more.")]
TurnTimeout = Annotated[str | None, typer.Option(help="End a turn after so long: seconds, or 30m.")]
IdleTimeout = Annotated[str | None, typer.Option(help="End a turn that was silent for so long.")]
Attended = Annotated[
    bool | None, typer.Option("--attended/--unattended", help="Whether a person can be asked. Default: on a terminal.")
]
JsonEvents = Annotated[bool, typer.Option("--json", help="One JSON event a line, and the status as the last line.")]
