"""Runs programs that are not trusted to end, under a warden."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flyball import warden
from flyball.process.errors import why_missing
from flyball.process.output import OnOutput, open_sink
from flyball.process.stop import stop_words
from flyball.process.warden_channel import start_warden
from flyball.process.watch import Exit, RunLimits, RunWatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flyball import ports


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    stdout: Path | None = None,
    stderr: Path | None = None,
    wall: float | None = None,
    idle: float | None = None,
    grace: float = 2.0,
    linger: float = 1.0,
    stop: ports.Stop | None = None,
    on_output: OnOutput | None = None,
    max_bytes: int = 2 * 1024**3,
    hold_fds: Sequence[int] = (),
) -> Exit:
    """Run a program under a warden until it and all it started have ended.

    All output is appended to `stdout` and `stderr` (`max_bytes` each at most) with constant memory. Ended is: by itself
    (what it left running gets `linger` seconds), after `wall` seconds, after `idle` seconds without output, or by `stop`;
    SIGTERM first, SIGKILL after `grace`. `hold_fds` stay open in the warden alone, until the last descendant is gone: a
    lock on one of them outlives a killed controller for as long.
    """
    begun = time.monotonic()
    if stop is not None and stop.is_set():
        return Exit(None, None, "stop", 0.0, detail="not started: " + stop_words(stop))
    payload = _payload(argv, cwd, env, (grace, linger), hold_fds)
    with ExitStack() as cleanup:
        sinks = [
            cleanup.enter_context(open_sink(name, path, max_bytes, on_output))
            for name, path in (("stdout", stdout), ("stderr", stderr))
        ]
        patience = grace + linger + warden.PATIENCE + 5
        line = cleanup.enter_context(start_warden(payload, hold_fds, patience))
        watch = RunWatch(line, sinks, RunLimits(begun, wall, idle, patience), stop)
        watch.until_ended(stdin)
        return watch.result(partial(why_missing, argv[0], cwd, env))


def _payload(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], times: Sequence[float], fds: Sequence[int]
) -> bytes:
    if not argv:
        raise ValueError("cannot run an empty command: name a program")
    for name in env:
        if not name or "=" in name:
            raise ValueError(f"{name!r} cannot be the name of an environment variable: it is empty or holds '='")
    head = [*map(str, times), " ".join(map(str, fds))]
    fields = [*head, str(cwd.absolute()), str(len(argv)), *argv, *(f"{name}={value}" for name, value in env.items())]
    for field in fields:
        if "\0" in field:
            raise ValueError(f"a command, its folder and its environment cannot hold a NUL character: {field!r}")
    return b"\0".join(os.fsencode(field) for field in fields)
