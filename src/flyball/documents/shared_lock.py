"""Locks that other programs make, too: a file or folder of an agreed name, which only one program can make.

A holder that is flyball says so in a lock that is a folder, so one that was killed is known at once. Of any other holder only the age of
the lock tells.
"""

import fcntl
import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flyball.clock import system_clock
from flyball.documents.errors import DocumentError

HOLDER = "flyball"
POLL_S = 0.1
TOLD_AT = 20
"""The attempt at which somebody is told: after two seconds."""
Tell = Callable[[str], None]


def tell_nobody(_sentence: str) -> None:
    """What is done with a sentence nobody is there to read."""


@contextmanager
def hold_lock(
    lock: Path,
    make: Callable[[Path], None],
    *,
    stale_s: float,
    tell: Tell = tell_nobody,
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold a lock that `make` makes; somebody is told when another program makes this one wait.

    A lock of another program counts for nothing once it is `stale_s` old. Once `is_over` says so, nothing is waited for any more.
    """
    _take(lock, make, stale_s, tell, is_over)
    try:
        if lock.is_dir():
            (lock / HOLDER).write_text(f"{os.getpid()} {os.uname().nodename}")
        yield
    finally:
        with suppress(OSError):
            _remove(lock)


def _take(lock: Path, make: Callable[[Path], None], stale_s: float, tell: Tell, is_over: Callable[[], bool]) -> None:
    for attempt in itertools.count(1):
        try:
            make(lock)
        except FileExistsError:
            if _clear_stale(lock, stale_s):
                continue
            if is_over():
                raise DocumentError(
                    f"{lock} is held by another program; end that, or delete the lock, and try again."
                ) from None
            if attempt == TOLD_AT:
                tell(f"waiting for {lock}, which another program holds; remove it if none does")
            time.sleep(POLL_S)
        except OSError as error:
            raise DocumentError(
                f"{lock.parent} cannot be written ({error.strerror}); expected a folder you may write."
            ) from error
        else:
            return


def _clear_stale(lock: Path, stale_s: float) -> bool:
    """Take away a lock that nobody holds any more, and say whether it is gone. One at a time looks: what it finds stale is what it takes away."""
    with suppress(OSError):
        folder = os.open(lock.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if _is_stale(lock, stale_s):
                _remove(lock)
                return True
        finally:
            os.close(folder)
    return False


def _is_stale(lock: Path, stale_s: float) -> bool:
    try:
        process, host = (lock / HOLDER).read_text().split()
        if host == os.uname().nodename:
            os.kill(int(process), 0)
            return False
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        pass
    return system_clock.now().timestamp() - lock.lstat().st_mtime > stale_s


def _remove(lock: Path) -> None:
    if lock.is_dir() and not lock.is_symlink():
        shutil.rmtree(lock)
    else:
        lock.unlink()
