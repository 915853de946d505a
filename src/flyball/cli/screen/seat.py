"""Where a run is watched from: a terminal that may be left while the loop goes on, none from the start, or another terminal later."""

from __future__ import annotations

import os
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from flyball.cli.screen.live import Controls, screen, usable
from flyball.cli.screen.plain import Screen
from flyball.cli.support.exits import say
from flyball.cli.support.output import put, put_json
from flyball.clock import system_clock
from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Refusal
from flyball.process import Front, step_behind
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.transcripts import kept_files

POLL_S = 0.3


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
            say("the loop was killed; the journal is safe. Continue with: flyball resume")

    return repair


def controls(site: Site, task: TaskId, seat: Seat, leaving: Leaving) -> Controls:
    if not seat.lasting:
        return Controls()
    return Controls(_pausing(site, task), leaving.leave if seat.front is not None else None)


def _pausing(site: Site, task: TaskId) -> Callable[[bool], None]:
    def pause(wanted: bool) -> None:
        site.journal.post(task, "pause" if wanted else "resume", at=system_clock.now())

    return pause


class Leaving:
    """Lets a loop go on without its terminal, once."""

    def __init__(self, site: Site, task: TaskId, seat: Seat) -> None:
        self._task = task
        self._seat = seat
        self._log = site.home.task(task) / "output.log"
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
        task, log = self._task, self._log
        if self._seat.as_json:
            put_json({"task": task, "pid": os.getpid(), "log": str(log)})
            return
        put(
            f"{task} runs in the background (process {os.getpid()}).\n"
            f"  follow  flyball logs {task} -f\n"
            f"  look    flyball status {task}\n"
            f"  pause   flyball pause {task}  (after this iteration)\n"
            f"  abort   flyball abort {task}  (for good)\n"
            f"  log     {log}"
        )


def attach(site: Site, task: TaskId) -> State:
    """Show a task as `run` shows it, until it stops, its controller is gone, or the person has seen enough."""
    view = site.view(task)
    left: list[bool] = []
    keys = Controls(_pausing(site, task), lambda: left.append(True), stops=False)
    with screen(view.history, as_json=False, terminal=sys.stdout.isatty(), controls=keys) as shown:
        state = _follow(site, task, shown, left)
        if not left:
            shown.closing(state)
    if not left and state.stopped is None:
        put(f"{task}: LOST CONTACT. The journal is safe; continue with: flyball resume {task}")
    return state


def _follow(site: Site, task: TaskId, shown: Screen, left: list[bool]) -> State:
    view = site.view(task)
    state = view.state
    for event in site.journal.read(task, max(0, state.seq - 1)):
        shown.listener(event, state)
    while not left:
        held = controller_of(site, task) is not None
        for event in site.journal.read(task, state.seq):
            state = evolve(state, event)
            view.take_in(event, state)
            shown.listener(event, state)
        if not held:
            break
        _say_last(site, state, shown)
        time.sleep(POLL_S)
    return state


def _say_last(site: Site, state: State, shown: Screen) -> None:
    """What the agent says now, from its transcript: it is no fact, so no journal has it."""
    turn = next((effect.turn for effect in state.open.values() if isinstance(effect, RunAgent)), 0)
    path = kept_files(site, state.task.id, turn).get("stdout") if turn else None
    if path is None:
        return
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2048))
        lines = scrub(decode(file.read())).strip().splitlines()
    if lines and not lines[-1].lstrip().startswith("{"):
        shown.notify("output", lines[-1][:400])
