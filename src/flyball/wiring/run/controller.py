"""One controller for one task: leases, adapters, driver, signals."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from flyball import __version__, process
from flyball.clock import system_clock
from flyball.core.model.events import Fact, SessionStarted, SettingsChanged, WorkspaceRemoved
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.engine.driver import Driver, Listener
from flyball.ports import People, Watch
from flyball.wiring.run.adapters import Adapters
from flyball.wiring.run.agents import known_secrets
from flyball.wiring.run.holding import hold_task
from flyball.wiring.run.rendering import Rendering
from flyball.wiring.site import Site

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WORD_S = 0.3
"""Signals that come within this time are one: who signals a process group reaches the controller twice, through its front too."""


class Controller(msgspec.Struct, frozen=True):
    """Holds a task's leases while it runs it; a second one is told who holds them."""

    site: Site
    task: TaskId
    environment: Mapping[str, str]
    people: People
    notify: Watch
    listeners: Sequence[Listener] = ()

    def run(self, *said: Fact) -> State:
        """Take the task up, with what was said on the command line, and drive it until it stops."""
        task = self.site.state(self.task).task
        for fact in said:
            if isinstance(fact, SettingsChanged):
                task = msgspec.structs.replace(task, settings=fact.change(task.settings))
        with hold_task(self.site, task) as held:
            self.site.journal.hide(known_secrets(task, self.environment, self.site.repository.root))
            view = self.site.view(self.task)
            workspace = self.site.workspace(task, self.environment)
            if view.state.prepared is not None:
                if not workspace.is_made:
                    # What set-up installed there is gone with the checkout: put down before it is made again.
                    gone = WorkspaceRemoved("found")
                    self.site.journal.append(self.task, [gone], epoch=held.lease.epoch, at=system_clock.now())
                workspace.prepare()
                view = self.site.view(self.task)
            adapters = Adapters(self.site, task, workspace, self.environment, self.notify, held.locks)
            rendering = Rendering(self.site, self.task, workspace.root)
            driver = Driver(
                self.task,
                epoch=held.lease.epoch,
                journal=self.site.journal,
                inbox=self.site.journal,
                clock=system_clock,
                perform=adapters.performer(self.people),
                make_stop=process.StopFlag,
                known=view.state,
                listeners=(view.take_in, rendering, *self.listeners),
                settled=rendering.settle,
            )
            return asyncio.run(_drive(driver, self.task, said, self.notify))


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
                os.write(2, f"ended at once; continue with: flyball resume {task}\n".encode())
            os._exit(130)
        seen.append(system_clock.monotonic())
        again = "press Ctrl-C again" if number == signal.SIGINT else "a second signal is needed"
        notify("stopping", f"stopping: the work under way is ended and saved; {again} to end at once")
        driver.interrupt(f"interrupted by {signal.Signals(number).name}")

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    started = SessionStarted(os.getpid(), os.uname().nodename, __version__)
    try:
        return await driver.run(started, *said)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
