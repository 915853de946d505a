"""Ends what is left when a warden itself was killed."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO

from flyball import warden


def sweep(session: int, outputs: Sequence[FileIO]) -> int:
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
