"""Keeps one program and all it starts, and ends the whole tree when told to or when its controller dies.

Started once per run as a process of its own (see `process.run`), so parallel runs cannot end each other's children. It
adopts every orphan of its program (Linux's child subreaper), which makes "no children left" mean "no descendants left".
Its start-up is paid for by every run: standard library only, nothing imported that is not needed, never flyball.
"""

from __future__ import annotations

# The public module wraps each number in an enum, which alone costs a third of the warden's start-up.
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import select
import sys
import time

TYPE_CHECKING = False  # as typing has it, whose import takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"

ORPHAN_GRACE = 0.5
"""Seconds a tree may tidy up when its controller has died: whoever resumes the task must not meet it at work."""
PATIENCE = 10.0
"""Seconds in which SIGKILL ends nobody, until the rest (uninterruptible, or another user's) is reported as left alive."""
STORM = 100
"""Processes ended with SIGKILL after which whatever is still there is taken to fork faster than it is killed."""


def prctl(option: int, value: int) -> bool:
    """Set a property of this process; False where the platform has no such thing."""
    return LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


class Process:
    __slots__ = ("group", "parent", "pid", "session", "state")

    def __init__(self, pid: int, stat: bytes) -> None:
        # The program's name stands in parentheses and may itself hold parentheses and blanks.
        state, parent, group, session = stat[stat.rindex(b")") + 2 :].split(b" ", 4)[:4]
        self.pid, self.state = pid, state.decode()
        self.parent, self.group, self.session = int(parent), int(group), int(session)


def read(path: str) -> bytes:
    """What the kernel says of a process; nothing where it is gone, or the kernel keeps no such list."""
    try:
        fd = os.open(path, os.O_RDONLY)
        try:
            return os.read(fd, 65536)
        finally:
            os.close(fd)
    except OSError:
        return b""


def processes() -> list[Process]:
    """Every process there is; none where there is no /proc."""
    try:
        pids = [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return []
    stats = ((pid, read(f"/proc/{pid}/stat")) for pid in pids)
    return [Process(pid, stat) for pid, stat in stats if stat]


def descendants(roots: set[int], table: list[Process]) -> list[Process]:
    """All live processes below `roots`, however deep."""
    children: dict[int, list[Process]] = {}
    for process in table:
        children.setdefault(process.parent, []).append(process)
    found, open_roots = [], list(roots)
    while open_roots:
        below = children.pop(open_roots.pop(), [])
        open_roots += [process.pid for process in below]
        found += [process for process in below if process.state not in "ZX"]
    return found


def attempt(call: Callable[..., object], *args: object) -> OSError | None:
    """Do something to processes, if they are there and ours; gives back why not."""
    try:
        call(*args)
    except OSError as error:
        return error
    return None


class Job:
    """What to run, as the controller sent it: fields separated by NUL, which no argument or variable can hold."""

    def __init__(self, payload: bytes) -> None:
        grace, linger, held, cwd, count, *rest = payload.split(b"\0")
        self.grace, self.linger, self.cwd = float(grace), float(linger), cwd
        self.held = [int(fd) for fd in held.split()]
        self.argv = rest[: int(count)]
        self.env = dict(pair.split(b"=", 1) for pair in rest[int(count) :])


def start(job: Job, tell: Callable[[bytes], None]) -> tuple[int, bytes]:
    """Start the program; gives its pid, and why it could not be started (or nothing).

    The pid is told before the program may run: one that kills its warden at once is known, and ended, all the same.
    """
    warden = os.getpid()
    failed, failure = os.pipe()
    held, release = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(release)
        become(job, warden, held, failure)
    os.close(failure)
    os.close(held)
    tell(b"started %d" % pid)
    attempt(os.write, release, b"!")
    os.close(release)
    reason = os.read(failed, 64)
    os.close(failed)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    return pid, reason


def become(job: Job, warden: int, held: int, failure: int) -> None:
    """Turn this fresh child into the program, once it is let go; never returns."""
    step = b"start"
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != warden or not os.read(held, 1):
            os._exit(127)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        step = b"chdir"
        os.chdir(job.cwd)
        step = b"exec"
        os.execvpe(job.argv[0], job.argv, job.env)
    except OSError as error:
        os.write(failure, b"%s %d" % (step, error.errno or 0))
    finally:
        os._exit(127)


class Warden:
    """The watch over one program, from its start until nothing of it is left."""

    def __init__(self, control: int, wake: int, job: Job) -> None:
        self.control, self.wake, self.job = control, wake, job
        self.sources = [control, wake]
        self.pid = 0
        self.exited = self.told = self.orphaned = False
        self.alive = True
        self.ended = 0
        """How many were reaped since SIGKILL began."""
        self.strays: set[int] = set()
        self.chased: set[int] = set()

    def watch(self) -> None:
        self.pid, failure = start(self.job, self.tell)
        if failure:
            os.waitpid(self.pid, 0)
            self.tell(b"missing " + failure)
            return
        while not (self.exited or self.told):
            self.pause(None)
        self.wait(self.job.linger, unless_told=True)
        if self.alive:
            self.end()
        self.tell(b"ended %d %d" % (len(self.strays), self.alive))

    def end(self) -> None:
        """SIGTERM, grace, then SIGKILL until the kernel says that there is no child left."""
        self.signal_all(signal.SIGTERM)
        self.signal_all(signal.SIGCONT)
        self.wait(min(self.job.grace, ORPHAN_GRACE) if self.orphaned else self.job.grace)
        self.ended, seen, deadline = 0, 0, time.monotonic() + PATIENCE
        while self.alive and time.monotonic() < deadline:
            self.signal_all(signal.SIGKILL)
            self.chase()
            self.pause(0.01)
            if self.ended > seen:
                seen, deadline = self.ended, time.monotonic() + PATIENCE

    def chase(self) -> None:
        """Kill what was orphaned to us in the last instant, and its children.

        A program that forks and exits for ever, each time in a new session, is gone from every full list of processes by the
        time it is read; the list of our own children is short enough to overtake it. Only we reap them, and who has been
        sent SIGKILL reaps nobody: no pid is reused.
        """
        for _ in range(100):
            pids = [int(pid) for pid in read("/proc/thread-self/children").split()]
            for pid in pids:
                attempt(os.kill, pid, signal.SIGKILL)
                below = [int(child) for child in read(f"/proc/{pid}/task/{pid}/children").split()]
                for each in below:
                    attempt(os.kill, each, signal.SIGKILL)
                if self.exited:
                    self.chased.update((pid, *below))
            self.alive = self.reap()
            if not (self.alive and pids):
                return

    def signal_all(self, number: int) -> None:
        tree = descendants({os.getpid()}, processes())
        if self.exited:
            self.strays.update(process.pid for process in tree)
        # Without /proc (macOS) the program's own group is all that can be found.
        groups = {process.group for process in tree} or {self.pid}
        if self.ended > STORM:
            # The weakest claim on the processor; children inherit it, so who forks to get away falls behind.
            for group in groups:
                attempt(os.setpriority, os.PRIO_PGRP, group, 19)
        # The kernel signals a whole group in one stroke: no member can fork its way out meanwhile.
        for group in groups - {0, 1, os.getpgrp()}:
            attempt(os.killpg, group, number)

    def wait(self, seconds: float, *, unless_told: bool = False) -> None:
        deadline = time.monotonic() + seconds
        while self.alive and not (unless_told and self.told) and (left := deadline - time.monotonic()) > 0:
            self.pause(left)

    def pause(self, seconds: float | None) -> None:
        """Sleep until something happens, and take it in."""
        ready = select.select(self.sources, [], [], seconds)[0]
        if self.wake in ready:
            self.told |= any(number != signal.SIGCHLD for number in os.read(self.wake, 4096))
        if self.control in ready:
            self.told = True
            if not hear(self.control, 64):
                self.orphaned = True
                self.sources.remove(self.control)
        self.alive = self.reap()

    def reap(self) -> bool:
        """Collect the dead; False once nothing is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return not LINUX and not isinstance(attempt(os.killpg, self.pid, 0), ProcessLookupError)
            if pid == 0:
                return True
            self.ended += 1
            if pid in self.chased and os.WIFSIGNALED(status):
                self.strays.add(pid)
            if pid == self.pid:
                self.exited = True
                self.tell(b"exited %d" % status)

    def tell(self, line: bytes) -> None:
        try:
            os.write(self.control, line + b"\n")
        except OSError:
            self.orphaned = True


def hear(control: int, size: int) -> bytes:
    """What the controller says; nothing if it is gone."""
    try:
        return os.read(control, size)
    except OSError:
        return b""


def catch_signals() -> int:
    """Make children's ends and requests to stop readable on a pipe, whatever the controller had blocked or ignored."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return reader


def main(control: int, size: int) -> None:
    os.set_inheritable(control, False)
    payload = b""
    while len(payload) < size:
        piece = hear(control, size - len(payload))
        if not piece:
            return
        payload += piece
    job = Job(payload)
    for fd in job.held:
        os.set_inheritable(fd, False)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    warden = Warden(control, catch_signals(), job)
    try:
        warden.watch()
    except Exception as error:
        warden.tell(b"broken " + repr(error).encode("utf-8", "replace").replace(b"\n", b" "))
        raise
    # Nothing is left to tidy up, and the interpreter's own farewell takes milliseconds.
    os._exit(0)
