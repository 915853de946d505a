"""Runs short commands that are trusted to end."""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.process.errors import CommandTimedOut, ProgramMissing, why_missing

_running: set[int] = set()
"""The process groups of the commands that have not ended yet."""
_starting = threading.Lock()
"""Held while a command is started, so that whoever ends them all misses none that is not in the set yet."""


class Captured(msgspec.Struct, frozen=True):
    """What a short command said; a negative code is the signal that ended it."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """What it said on standard error, as text."""
        return self.stderr.decode("utf-8", "backslashreplace").strip()


class _Prompt(subprocess.Popen[bytes]):
    """Popen that learns of an end when it comes: with a time limit, Popen itself looks again and again, with pauses."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None and self.returncode is None and sys.platform == "linux":
            with suppress(OSError):
                ended = os.pidfd_open(self.pid)
                try:
                    poll = select.poll()
                    poll.register(ended, select.POLLIN)
                    poll.poll(max(0.0, timeout) * 1000)
                finally:
                    os.close(ended)
        return super().wait(timeout)


def capture(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    input: bytes = b"",
    timeout: float = 60.0,
    most: int | None = None,
) -> Captured:
    """Run a short command that is trusted to end, such as git; raises ProgramMissing or CommandTimedOut.

    Of a command that gets no input at `most` so many bytes are taken; one that says more is ended.
    """
    feed = subprocess.PIPE if input else subprocess.DEVNULL
    pipe = subprocess.PIPE
    try:
        with _starting:
            process = _Prompt(argv, cwd=cwd, env=env, stdin=feed, stdout=pipe, stderr=pipe, start_new_session=True)
            _running.add(process.pid)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC):
            raise
        step = "chdir" if error.filename == cwd else "exec"
        raise ProgramMissing(why_missing(argv[0], cwd, env, step, error.errno)) from None
    with process:
        try:
            stdout, stderr = (
                _read_at_most(process, most, timeout) if most else process.communicate(input or None, timeout)
            )
        except BaseException as error:
            _kill(process.pid)
            if isinstance(error, subprocess.TimeoutExpired):
                command = " ".join(argv)
                raise CommandTimedOut(
                    f"{command!r} did not end within {timeout:g} s in {cwd} and was killed; try again"
                ) from None
            raise
        finally:
            _running.discard(process.pid)
    return Captured(process.returncode, stdout, stderr)


def _read_at_most(process: _Prompt, most: int, timeout: float) -> tuple[bytes, bytes]:
    """Standard error is taken meanwhile, since a full pipe would hold the command up, and the time limit ends it either way."""
    assert process.stdout is not None
    assert process.stderr is not None
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _kill(process.pid)

    limit = threading.Timer(timeout, expire)
    complaints: list[bytes] = []
    taking = threading.Thread(target=lambda pipe: complaints.append(pipe.read()), args=(process.stderr,), daemon=True)
    limit.start()
    taking.start()
    try:
        stdout = process.stdout.read(most)
        if len(stdout) == most:
            _kill(process.pid)
        taking.join()
        process.wait()
    finally:
        limit.cancel()
    if expired.is_set():
        raise subprocess.TimeoutExpired(process.args, timeout)
    return stdout, complaints[0]


def kill_captured() -> None:
    """Kill every command that runs now, for who is about to end without waiting for anybody."""
    with _starting:
        for group in list(_running):
            _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
