"""`flyball run` opens a task and drives it; `resume` goes on where it stopped, `reopen` with feedback where it was finished."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support import arguments, flags
from flyball.cli.support.exits import exit_on_refusal

if TYPE_CHECKING:
    from flyball.config.settings import RunFlags


@flags.takes(*flags.SETTINGS)
def run(
    request: Annotated[str, typer.Argument(help="The work to do, in your words.")] = "",
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="PATH",
            help="Document to work from (PRP, PRD), a plan of another tool (tasks.md, tasks.json, prd.json, a Backlog.md folder, beads, github), a .work folder, a track's folder, or a .prp-session. Default: none.",
        ),
    ] = None,
    new: Annotated[
        bool,
        typer.Option(
            "--new", help="Open a new task even if the same request or document has an unfinished one. Default: no."
        ),
    ] = False,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Print what finished tasks of this workflow took in this repository, and start nothing. Default: no.",
        ),
    ] = False,
    *,
    typed: RunFlags,
    detach: flags.Detach = False,
    as_json: flags.JsonEvents = False,
) -> None:
    """Start a task and work on it until it is DONE, BLOCKED or at a limit.

    Options override flyball.toml, which overrides the defaults named here.
    """
    from flyball.cli.ordering import Start
    from flyball.cli.screen.seat import take_seat
    from flyball.cli.sessions import start

    with exit_on_refusal():
        seat = take_seat(as_json=as_json, detach=detach)
        sys.exit(start(Path.cwd(), Start(request, from_, new=new, estimate=estimate, seat=seat), typed))


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
    from flyball.cli.sessions import reopen as reopen_task

    with exit_on_refusal():
        seat = take_seat(as_json=as_json, detach=detach)
        sys.exit(reopen_task(Path.cwd(), task, " ".join(feedback), typed, seat))
