"""A stage for hostile programs, and proof that none of them is left."""

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from flyball.process import Exit, StopFlag, run
from flyball.warden import processes

MARK = "FLYBALL_TEST_MARK"


class Scene:
    """A folder for hostile programs, and a mark in their environment by which each of them can be found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = itertools.count()
        self.mark = f"{MARK}={folder}"
        self.env = {"PATH": os.defpath, MARK: str(folder)}

    def program(self, source: str) -> list[str]:
        path = self.folder / f"program-{next(self.numbers)}.py"
        path.write_text("import os, signal, sys, time\n" + source)
        return [sys.executable, "-S", str(path)]

    def run(self, source: str | Sequence[str], **options: Any) -> Exit:
        argv = self.program(source) if isinstance(source, str) else source
        return run(argv, cwd=self.folder, env=self.env, **options)

    def alive(self) -> list[int]:
        found = []
        for process in processes():
            try:
                environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if process.state not in "ZX" and self.mark.encode() in environment:
                found.append(process.pid)
        return found

    def appears(self, name: str) -> str:
        return str(self.eventually(lambda: (path := self.folder / name).exists() and path.read_text()))

    def stop_when(self, condition: Callable[[], Any]) -> StopFlag:
        """A stop that is given as soon as the condition holds."""
        stop = StopFlag()
        threading.Thread(target=lambda: stop.set(str(self.eventually(condition)))).start()
        return stop

    def becomes_empty(self) -> bool:
        return bool(self.eventually(lambda: not self.alive()))

    @staticmethod
    def eventually(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
        deadline = time.monotonic() + seconds
        while not (value := condition()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return value

    @staticmethod
    def daemon(work: str) -> str:
        """A source that leaves `work`, an expression, running in a session of its own with no parent."""
        return f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: {work}
    os._exit(0)
os.wait()
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    left = scene.alive()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "the test left processes behind"
