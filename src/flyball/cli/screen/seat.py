"""Where a run is watched from: a terminal that may be left while the loop goes on, or none from the start."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.cli.screen.live import Controls, usable
from flyball.cli.support.exits import say
from flyball.cli.support.output import put, put_json
from flyball.clock import system_clock
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.ports import Refusal
from flyball.process import Front, step_behind
from flyball.wiring.site import Site

LOG = "output.log"


class Seat(msgspec.Struct, frozen=True):
    """How a run is shown, and the process in front of it that can be let go."""

    as_json: bool = False
    detach: bool = False
    front: Front | None = None
    lasting: bool = True


def take_seat(*, as_json: bool, detach: bool = False, lasting: bool = True) -> Seat:
    """Step behind a front where keys are read or the run may be left.

    Call it before anything is opened, which no child may inherit. A task that is not `lasting` is gone when its command ends.
    """
    if detach:
        return Seat(as_json, detach, step_behind(lambda _killed: None))
    if as_json or not at_keyboard():
        return Seat(as_json, lasting=lasting)
    return Seat(front=step_behind(_repairing(sys.stdin.fileno())), lasting=lasting)


def at_keyboard() -> bool:
    """Whether keys can be read and a picture drawn."""
    return sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty() and usable()


def _repairing(terminal: int) -> Callable[[bool], None]:
    """What puts the terminal right after a controller that was killed: its modes, and the rest of its picture."""
    modes = termios.tcgetattr(terminal)

    def repair(killed: bool) -> None:
        with suppress(OSError, termios.error):
            if os.tcgetpgrp(terminal) == os.getpgrp():
                termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
                os.write(sys.stdout.fileno(), b"\r\x1b[?7h\x1b[J")
        if killed:
            say("the loop was killed; what is in the journal is safe. Go on with: flyball resume")

    return repair


def controls(site: Site, task: TaskId, seat: Seat, leaving: Leaving) -> Controls:
    """What the keys of this seat can do."""
    if not seat.lasting:
        return Controls()

    def pause(wanted: bool) -> None:
        site.journal.post(task, "pause" if wanted else "resume", at=system_clock.now())

    return Controls(pause, leaving.leave if seat.front is not None else None)


class Leaving:
    """Lets a loop go on without its terminal, once."""

    def __init__(self, site: Site, task: TaskId, seat: Seat) -> None:
        self._task = task
        self._seat = seat
        self._log = site.home.task(task) / LOG
        self.gone = False

    def at_once(self, _event: Event, _state: State) -> None:
        """A listener: the first fact of a session says that the task is held and nothing refuses it."""
        if self.gone:
            return
        try:
            self.leave()
        except OSError as error:
            raise Refusal(f"The log {self._log} cannot be written ({error.strerror}); --detach needs it.") from error

    def leave(self) -> None:
        """Tell how to look and how to stop, and go."""
        assert self._seat.front is not None
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._seat.front.let_go(self._log, self._announce)
        self.gone = True

    def _announce(self) -> None:
        if self._seat.as_json:
            put_json({"task": self._task, "pid": os.getpid(), "log": str(self._log)})
        else:
            put(left_running(self._task, self._log))


def left_running(task: TaskId, log: Path) -> str:
    """What a person must know of a loop that runs without a terminal."""
    return "\n".join(
        (
            f"{task} runs in the background (process {os.getpid()}).",
            f"  follow  flyball logs {task} -f",
            f"  look    flyball status {task}",
            f"  pause   flyball pause {task}  (after this iteration)",
            f"  abort   flyball abort {task}  (for good)",
            f"  log     {log}",
        )
    )
