"""`flyball resume`: go on where a task stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
