"""Starts wardens and holds the line to them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path

import msgspec

from flyball import warden

_BOOT = "import sys; sys.path.append(sys.argv[1]); import warden; warden.main(int(sys.argv[2]), int(sys.argv[3]))"


class WardenLine(msgspec.Struct, frozen=True):
    warden: subprocess.Popen[bytes]
    control: socket.socket
    stdin: FileIO
    outputs: tuple[FileIO, FileIO]


@contextmanager
def start_warden(payload: bytes, fds: Sequence[int], patience: float) -> Iterator[WardenLine]:
    """Start a warden; however this is left, its control line is cut, which makes it end the tree, and it is waited for."""
    with ExitStack() as ours, ExitStack() as theirs:
        control, far = socket.socketpair()
        ours.enter_context(control)
        theirs.enter_context(far)
        stdin_far, stdin = _pipe(theirs, ours)
        stdout, stdout_far = _pipe(ours, theirs)
        stderr, stderr_far = _pipe(ours, theirs)
        for end in (stdin, stdout, stderr):
            os.set_blocking(end.fileno(), False)
        where = [str(Path(warden.__file__).parent), str(far.fileno()), str(len(payload))]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, *where],
            stdin=stdin_far,
            stdout=stdout_far,
            stderr=stderr_far,
            pass_fds=(far.fileno(), *fds),
            cwd="/",
            # A Python with a shared library may need this one to start; nothing else is the warden's business.
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            start_new_session=True,
        )
        try:
            theirs.close()
            with suppress(BrokenPipeError, ConnectionResetError):
                control.sendall(payload)
            yield WardenLine(process, control, stdin, (stdout, stderr))
        finally:
            control.close()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[FileIO, FileIO]:
    reader, writer = os.pipe()
    return reading.enter_context(FileIO(reader, "rb")), writing.enter_context(FileIO(writer, "wb"))
