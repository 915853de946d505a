"""The controller's side of a run: moves bytes, keeps the limits, hears the warden, and ends what a killed warden left."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import FileIO
from typing import TYPE_CHECKING, Literal

import msgspec

from flyball import warden
from flyball.process.errors import WardenFailed
from flyball.process.output import Sink
from flyball.process.stop import StopFlag, stop_words
from flyball.process.warden_channel import WardenLine

if TYPE_CHECKING:
    from flyball import ports

CHUNK = 64 * 1024
LAST_READ = 16 * 1024 * 1024
"""Bytes still read when everything has ended: more than any pipe holds, unless someone outside the tree writes on."""
NOTICED_AFTER = 0.1
"""Seconds until a stop is noticed that cannot wake us."""

EndedBy = Literal["exit", "wall", "idle", "stop", "missing"]


class Exit(msgspec.Struct, frozen=True):
    """How a run ended. `strays` are processes that outlived the program and were ended."""

    code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    stdout_tail: bytes = b""
    stderr_tail: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    strays: int = 0
    detail: str = ""


class RunLimits(msgspec.Struct, frozen=True):
    begun: float
    wall: float | None
    idle: float | None
    patience: float


class RunWatch:
    def __init__(self, line: WardenLine, sinks: Sequence[Sink], limits: RunLimits, stop: ports.Stop | None) -> None:
        self._line, self._sinks, self._limits, self._stop = line, sinks, limits, stop
        self._selector = selectors.DefaultSelector()
        self._unwritten = memoryview(b"")
        self._unheard = b""
        self._said: dict[str, list[str]] = {}
        self._told = False
        self._ended_by: EndedBy = "exit"
        self._detail = ""
        self._last_output = limits.begun
        self._give_up_at: float | None = None

    def until_ended(self, stdin: bytes) -> None:
        self._unwritten = memoryview(stdin)
        with self._selector as selector:
            selector.register(self._line.control, selectors.EVENT_READ, self._hear)
            selector.register(self._line.stdin, selectors.EVENT_WRITE, self._feed)
            for source, sink in zip(self._line.outputs, self._sinks, strict=True):
                selector.register(source, selectors.EVENT_READ, partial(self._read, source, sink))
            if isinstance(self._stop, StopFlag):
                selector.register(self._stop, selectors.EVENT_READ, partial(selector.unregister, self._stop))
            while not {"ended", "missing", "lost"} & self._said.keys():
                for key, _ in selector.select(self._seconds_to_next_limit()):
                    key.data()
                self._keep_limits()
        for source, sink in zip(self._line.outputs, self._sinks, strict=True):
            left = LAST_READ
            while left > 0 and (chunk := source.read(CHUNK)):
                sink.take(chunk)
                left -= len(chunk)

    def _hear(self) -> None:
        """Take the warden's lines: a word and what belongs to it; `lost` when the line is cut."""
        try:
            data = self._line.control.recv(4096)
        except ConnectionResetError:
            data = b""
        *lines, self._unheard = (self._unheard + (data or b"lost\n")).split(b"\n")
        for word, *rest in (line.decode().split() for line in lines):
            self._said[word] = rest
        if "exited" in self._said:
            self._give_up_at = self._give_up_at or time.monotonic() + self._limits.patience

    def _feed(self) -> None:
        try:
            written = self._line.stdin.write(self._unwritten[:CHUNK]) or 0
        except BrokenPipeError:
            written = len(self._unwritten)
        self._unwritten = self._unwritten[written:]
        if not self._unwritten:
            self._selector.unregister(self._line.stdin)
            self._line.stdin.close()

    def _read(self, source: FileIO, sink: Sink) -> None:
        chunk = source.read(CHUNK)
        if chunk:
            self._last_output = time.monotonic()
            sink.take(chunk)
        elif chunk is not None:
            self._selector.unregister(source)

    def _due(self) -> list[tuple[float, EndedBy, str]]:
        limits, due = self._limits, list[tuple[float, EndedBy, str]]()
        if "exited" in self._said or self._told:
            return due
        if limits.wall is not None:
            due.append((limits.begun + limits.wall, "wall", f"ended at its time limit of {limits.wall:g} s"))
        if limits.idle is not None:
            due.append((self._last_output + limits.idle, "idle", f"ended after {limits.idle:g} s without output"))
        return due

    def _seconds_to_next_limit(self) -> float | None:
        times = [at for at, _, _ in self._due()] + ([self._give_up_at] if self._give_up_at else [])
        left = max(0.0, min(times) - time.monotonic()) if times else None
        if self._stop is None or isinstance(self._stop, StopFlag):
            return left
        return NOTICED_AFTER if left is None else min(left, NOTICED_AFTER)

    def _keep_limits(self) -> None:
        now = time.monotonic()
        if self._stop is not None and self._stop.is_set():
            self._end("stop", stop_words(self._stop))
        for at, ended_by, detail in self._due():
            if at <= now:
                self._end(ended_by, detail)
        if self._give_up_at is not None and self._give_up_at <= now:
            self._line.warden.kill()

    def _end(self, ended_by: EndedBy, detail: str) -> None:
        if self._told:
            return
        self._told = True
        if "exited" not in self._said:
            self._ended_by, self._detail = ended_by, detail
        with suppress(OSError):
            self._line.control.send(b"!")
        self._give_up_at = time.monotonic() + self._limits.patience

    def result(self, why_missing: Callable[[str, int], str]) -> Exit:
        said = self._said
        if "missing" in said:
            step, error = said["missing"]
            return self._exit(None, None, "missing", 0, why_missing(step, int(error)))
        strays, details = 0, [self._detail] if self._detail else []
        if "ended" not in said:
            strays = end_orphans(int(said["started"][0]), self._line.outputs) if "started" in said else 0
            if "started" not in said or "broken" in said:
                raise WardenFailed(self._why_warden_failed())
            details.append("its warden was killed, and the processes it watched were killed with it")
        else:
            strays = int(said["ended"][0])
            if said["ended"][1] != "0":
                details.append("some of its processes could not be ended; look for them with ps")
        if strays:
            details.append(f"left running by it and ended: {strays}")
        status = os.waitstatus_to_exitcode(int(said["exited"][0])) if "exited" in said else -signal.SIGKILL
        code, number = (status, None) if status >= 0 else (None, -status)
        return self._exit(code, number, self._ended_by, strays, "; ".join(details))

    def _exit(self, code: int | None, number: int | None, ended_by: EndedBy, strays: int, detail: str) -> Exit:
        out, err = self._sinks
        seconds = time.monotonic() - self._limits.begun
        return Exit(code, number, ended_by, seconds, out.tail, err.tail, out.count, err.count, strays, detail)

    def _why_warden_failed(self) -> str:
        said = " ".join(self._said.get("broken", [])) or self._sinks[1].tail.decode("utf-8", "backslashreplace").strip()
        return f"the process that keeps a run's programs together failed ({said or 'killed'}); try again, and run flyball doctor"


def end_orphans(session: int, outputs: Sequence[FileIO]) -> int:
    """End what a killed warden left: the program's session, whoever holds its output open, and all below those.

    A daemon that left the session and closed its output is not found: only the warden, or a sandbox, holds that one.
    """
    pipes = {_identity(os.fstat(output.fileno())) for output in outputs}
    ended: set[int] = set()
    deadline = time.monotonic() + warden.PATIENCE
    while time.monotonic() < deadline:
        table = [process for process in warden.processes() if process.state not in "ZX"]
        roots = {each.pid for each in table if each.session == session or _writes_to(each.pid, pipes)}
        found = (roots | {each.pid for each in warden.descendants(roots, table)}) - {os.getpid()}
        if not found:
            break
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        ended |= found
        time.sleep(0.005)
    return len(ended - {session})


def _writes_to(pid: int, pipes: set[tuple[int, int]]) -> bool:
    """Whether a process has the writing end of one of these pipes open."""
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                if _identity(entry.stat()) in pipes and entry.stat(follow_symlinks=False).st_mode & 0o200:
                    return True
    return False


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
