"""`flyball run`: open a task and drive it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support import flags
from flyball.cli.support.exits import exit_on_refusal

if TYPE_CHECKING:
    from flyball.config.settings import RunFlags


@flags.takes(*flags.SETTINGS)
def run(
    request: Annotated[str, typer.Argument(help="What is to be done, in your words.")] = "",
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="PATH", help="Document to work from (PRP, PRD, plan), a .work folder, or a .prp-session."
        ),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Open a new task even if the same request or document is being worked on.")
    ] = False,
    *,
    typed: RunFlags,
    detach: flags.Detach = False,
    as_json: flags.JsonEvents = False,
) -> None:
    """Start a task and go on until it is DONE, BLOCKED or at a limit.

    Options win over flyball.toml, which wins over the defaults named here.
    """
    from flyball.cli.screen.seat import take_seat
    from flyball.cli.sessions import Start, start

    with exit_on_refusal():
        seat = take_seat(as_json=as_json, detach=detach)
        sys.exit(start(Path.cwd(), Start(request, from_, new=new, seat=seat), typed))
