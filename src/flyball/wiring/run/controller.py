"""One controller for one task: leases, adapters, driver, signals."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

from flyball import __version__, process
from flyball.clock import system_clock
from flyball.core.model.events import Fact, SessionStarted, WorkspaceRemoved
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.engine.driver import Driver, Listener
from flyball.ports import People, Watch
from flyball.wiring.run.adapters import Adapters
from flyball.wiring.run.agents import known_secrets
from flyball.wiring.run.holding import Holding, holding
from flyball.wiring.run.rendering import Rendering
from flyball.wiring.site import Site
from flyball.workspace.workspace import GitWorkspace

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WORD_S = 0.3
"""Signals that come within this time are one: who signals a process group reaches the controller twice, through its front too."""


class Controller:
    """Holds a task's leases while it runs it; a second one is told who holds them."""

    def __init__(
        self,
        site: Site,
        task: TaskId,
        *,
        environment: Mapping[str, str],
        people: People,
        notify: Watch,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._site = site
        self._task = task
        self._environment = environment
        self._people = people
        self._notify = notify
        self._listeners = listeners

    def run(self, *said: Fact) -> State:
        """Take the task up, with what was said on the command line, and drive it until it stops."""
        task = self._site.state(self._task).task
        with holding(self._site, task) as held:
            self._site.journal.hide(known_secrets(task, self._environment, self._site.repository.root))
            view = self._site.view(self._task)
            workspace = self._site.workspace(task, self._environment)
            if view.state.prepared is not None:
                self._note_if_gone(workspace, held)
                workspace.prepare()
                view = self._site.view(self._task)
            rendering = Rendering(self._site, self._task, workspace.root)
            driver = Driver(
                self._task,
                epoch=held.lease.epoch,
                journal=self._site.journal,
                inbox=self._site.journal,
                clock=system_clock,
                perform=Adapters(self._site, task, workspace, self._environment, self._notify, held.locks).performer(
                    self._people
                ),
                make_stop=process.StopFlag,
                known=view.state,
                listeners=(view.take_in, rendering, *self._listeners),
                settled=rendering.settle,
                check=held.lease.check,
            )
            return asyncio.run(_drive(driver, self._task, said, self._notify))

    def _note_if_gone(self, workspace: GitWorkspace, held: Holding) -> None:
        """Put it down before the checkout is made again that what set-up installed there is gone with it."""
        if not workspace.is_made:
            gone = WorkspaceRemoved("found")
            self._site.journal.append(self._task, [gone], epoch=held.lease.epoch, at=system_clock.now())


async def _drive(driver: Driver, task: TaskId, said: Sequence[Fact], notify: Watch) -> State:
    """Run with signals turned into an interrupt; the second one ends the process at once, still resumable."""
    loop = asyncio.get_running_loop()
    seen: list[float] = []

    def on_signal(number: int) -> None:
        if seen and system_clock.monotonic() - seen[0] < ONE_WORD_S:
            return
        if seen:
            process.kill_captured()
            with suppress(OSError):
                os.write(2, f"ended at once; go on with: flyball resume {task}\n".encode())
            os._exit(130)
        seen.append(system_clock.monotonic())
        again = "press Ctrl-C again" if number == signal.SIGINT else "a second signal is needed"
        notify("stopping", f"stopping: what is under way is ended and saved; {again} to end at once")
        driver.interrupt(f"interrupted by {signal.Signals(number).name}")

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    started = SessionStarted(os.getpid(), os.uname().nodename, __version__)
    try:
        return await driver.run(started, *said)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
