"""`flyball watch`: a running task from any terminal, or all of them."""

import sys
from typing import Annotated

import typer

from flyball.cli.support.arguments import task_ids
from flyball.cli.support.exits import exit_code, exit_on_refusal
from flyball.cli.support.output import put


def watch(
    task: Annotated[
        str,
        typer.Argument(
            help="Task: its id, number, part of its id, or words of its request."
            " Default: all tasks of this machine; with --exit-status, the unfinished one, else the last one.",
            autocompletion=task_ids,
        ),
    ] = "",
    exit_status: Annotated[
        bool,
        typer.Option("--exit-status", help="Exit with the code that `run` gives for the task. Default: exit with 0."),
    ] = False,
) -> None:
    """Watch a running task from any terminal; without TASK, list all tasks of this machine, those that need you first."""
    from flyball.cli.screen.seat import attach
    from flyball.cli.support.choosing import task_here

    with exit_on_refusal():
        if not task and not exit_status:
            _all()
            return
        state = attach(*task_here(task))
        sys.exit(exit_code(state) if exit_status else 0)


def _all() -> None:
    """All tasks of this home, with keys where there is a keyboard, once where there is none."""
    from flyball.cli.screen.board import Board, order_tasks
    from flyball.cli.screen.seat import at_keyboard
    from flyball.clock import system_clock
    from flyball.config.home import home_folder
    from flyball.web.sites import Sites

    sites = Sites(home_folder().resolve())
    if at_keyboard():
        Board(sites).run()
        return
    page, rows = order_tasks(list(sites.summaries()), system_clock.now())
    put(page.heading)
    for row in rows:
        told = row.headline if row.group == "needs" else row.line
        put(f"{row.word:<13} {row.task}  {row.place.name}: {told}")
