"""`flyball resume` goes on where a task stopped; with `flyball reopen`, feedback makes a finished one go on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support import arguments, flags
from flyball.cli.support.exits import exit_on_refusal

if TYPE_CHECKING:
    from flyball.config.settings import RunFlags


@flags.takes(*flags.AT_RESUME, default="as before")
def resume(
    task: arguments.MaybeTask = "",
    *,
    typed: RunFlags,
    detach: flags.Detach = False,
    as_json: flags.JsonEvents = False,
) -> None:
    """Continue a task where it stopped: after a pause, a limit, an answer or a crash."""
    from flyball.cli.screen.seat import take_seat
    from flyball.cli.sessions import take_up

    with exit_on_refusal():
        sys.exit(take_up(Path.cwd(), task, typed, take_seat(as_json=as_json, detach=detach)))


@flags.takes(*flags.AT_RESUME, default="as before")
def reopen(
    task: arguments.Task,
    feedback: Annotated[
        list[str], typer.Argument(help="Work still to do; each item of a list becomes one criterion, subtask or issue.")
    ],
    *,
    typed: RunFlags,
    detach: flags.Detach = False,
    as_json: flags.JsonEvents = False,
) -> None:
    """Continue a task that is DONE: your feedback becomes new criteria, subtasks or issues."""
    from flyball.cli.screen.seat import take_seat
    from flyball.cli.sessions import reopen as take_up

    with exit_on_refusal():
        seat = take_seat(as_json=as_json, detach=detach)
        sys.exit(take_up(Path.cwd(), task, " ".join(feedback), typed, seat))
