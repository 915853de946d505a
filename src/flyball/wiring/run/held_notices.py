"""Notices of the quiet hours: kept in a file until these are over, then told by a process that waits for that, unless settled."""

import fcntl
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from flyball import process
from flyball.clock import system_clock
from flyball.config.home import RepositoryHome, environment
from flyball.core.model.task import TaskId
from flyball.ports import Refusal
from flyball.projections.pages.notices import Notice, still_matters
from flyball.wiring.run.notifying import is_quiet, note, sends_of, settings_of, try_send
from flyball.wiring.site import Site

LOOK_S, START_S = 30.0, 30.0


class HeldNotices:
    """The file of a repository; a notice in it is taken by one process, once."""

    def __init__(self, home: RepositoryHome) -> None:
        self._path = home.folder / "notices-held.jsonl"
        self._lock = home.locks / "notices-held.lock"

    def __bool__(self) -> bool:
        return self._path.exists()

    def add(self, notice: Notice) -> None:
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(notice) + b"\n")

    def take(self) -> list[Notice]:
        """All of them; nobody else gets them again."""
        own = self._path.with_suffix(f".{os.getpid()}")
        try:
            self._path.rename(own)
        except FileNotFoundError:
            return []
        lines = own.read_bytes().splitlines()
        own.unlink()
        return [msgspec.json.decode(line, type=Notice) for line in lines if line]

    @contextmanager
    def waiting(self) -> Iterator[bool]:
        """Whether this process is the one that waits; it is until it leaves."""
        with self._lock.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True


def hold(root: Path, home: RepositoryHome) -> Callable[[Notice], None]:
    """Keeps a notice, and sees to it that somebody waits for the end of the quiet hours."""

    def keep(notice: Notice) -> None:
        HeldNotices(home).add(notice)
        # The process that waits runs apart from this one; where there is one already it ends at once.
        argv = [sys.executable, "-m", "flyball", "notify", "--held"]
        with suppress(Refusal, OSError):
            process.capture(argv, cwd=root, env=environment(), timeout=START_S)

    return keep


def tell_held(site: Site) -> None:
    """Wait until the quiet hours are over, then tell what is not settled; again while there is more."""
    held = HeldNotices(site.home)
    with held.waiting() as ours:
        while ours and held:
            settings = settings_of(site.repository.root, site.home)
            if is_quiet(settings.quiet_hours, system_clock.now().astimezone()):
                threading.Event().wait(LOOK_S)
                continue
            sends = sends_of(settings, site.home.home)
            for notice in held.take():
                log = site.home.task(TaskId(notice.task)) / "notify.log"
                matters = False
                with suppress(Refusal):
                    matters = still_matters(notice, site.view(TaskId(notice.task)).state, system_clock.now())
                if not matters:
                    note(log, f"{notice.key} not told: settled before the quiet hours ended")
                    continue
                for send in sends:
                    problem = try_send(send, notice)
                    note(log, f"{notice.key} {f'not told: {problem}' if problem else 'told after the quiet hours'}")
