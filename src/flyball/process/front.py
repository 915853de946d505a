"""A process in front: what a shell waits for, so that the work behind it can be left running.

The work goes on in a child of the same process group, which the terminal's signals reach as ever. When the child lets go of its
front, it has a session and streams of its own, the front ends, and nothing of the work was interrupted.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_HEARD = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGUSR1}
)  # fmt: skip
_FORWARDED = frozenset({signal.SIGINT, signal.SIGTERM})


class Front:
    """Held by the work: the process that waits in front of it."""

    def __init__(self, pid: int, life: int) -> None:
        self._pid = pid
        self._life = life
        self._free = False
        # Not PDEATHSIG: only the thread that asked for it could take it back.
        threading.Thread(target=self._end_with_front, name="front", daemon=True).start()

    def _end_with_front(self) -> None:
        """A front that was killed ends the work behind it, which saves."""
        os.read(self._life, 1)
        if not self._free:
            os.kill(os.getpid(), signal.SIGTERM)

    def let_go(self, log: Path, announce: Callable[[], None]) -> None:
        """Go on in a session of one's own, with streams that end in `log`, and let the front end with success.

        `announce` has the old streams once more. Raises, with nothing changed, where the log cannot be written.
        """
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.setsid()
        self._free = True
        with suppress(OSError):
            announce()
            sys.stdout.flush()
            sys.stderr.flush()
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for own, number in ((nothing, 0), (written, 1), (written, 2)):
            os.dup2(own, number)
        os.close(nothing)
        os.close(written)
        if os.getppid() == self._pid:
            os.kill(self._pid, signal.SIGUSR1)


def step_behind(repair: Callable[[bool], None]) -> Front:
    """Go on in a child; the process that was started stays in front of it and never returns from here.

    It ends as the child does, after `repair`, which is told whether a signal ended the child: who ends at once leaves the terminal as it is.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    front, (life, held) = os.getpid(), os.pipe()
    child = os.fork()
    if child:
        os.close(life)
        sys.exit(_wait_in_front(child, repair))
    os.close(held)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return Front(front, life)


def _wait_in_front(child: int, repair: Callable[[bool], None]) -> int:
    """Wait until the child has ended or let go; the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    while True:
        heard = signal.sigwaitinfo(_HEARD)
        if heard.si_signo == signal.SIGUSR1 and heard.si_pid == child:
            return 0
        if heard.si_signo in _FORWARDED and heard.si_code <= 0:
            # Sent by a process, to this one. What the terminal sends has reached the child as well.
            os.kill(child, heard.si_signo)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            repair(code < 0)
            return code if code >= 0 else 128 - code
