"""The lock of a track's metadata: a folder that only one program can make, as its other writers make it.

A holder that is flyball leaves a file in it that is locked for as long as its process lives, so one that was killed is known at
once. Of any other holder only the age of the folder tells.
"""

import errno
import fcntl
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flyball.documents.errors import DocumentError

LOCK = ".metadata.lock"
HOLDER = "flyball"
POLL_S = 0.1
STALE_S = 600.0
"""A lock that old was left by a program that is gone: those who hold it change one file."""
TOLD_AT = 20
"""The attempt at which somebody is told: after two seconds."""
Tell = Callable[[str], None]


def tell_nobody(_sentence: str) -> None:
    """What is done with a sentence nobody is there to read."""


@contextmanager
def hold_lock(folder: Path, *, tell: Tell = tell_nobody, is_over: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Hold the lock of a track's folder; somebody is told when another program makes this one wait.

    Once `is_over` says so, nothing is waited for any more.
    """
    lock = folder / LOCK
    _take(lock, tell, is_over)
    holder = _sign(lock)
    try:
        yield
    finally:
        with suppress(OSError):
            (lock / HOLDER).unlink(missing_ok=True)
            lock.rmdir()
        if holder is not None:
            os.close(holder)


def _take(lock: Path, tell: Tell, is_over: Callable[[], bool]) -> None:
    for attempt in itertools.count(1):
        try:
            lock.mkdir()
        except FileExistsError:
            if _clear_stale(lock):
                continue
            if is_over():
                raise DocumentError(f"{lock} is held by another program.") from None
            if attempt == TOLD_AT:
                tell(f"waiting for {lock}, which another program holds; remove it if none does")
            time.sleep(POLL_S)
        except OSError as error:
            raise DocumentError(
                f"{lock.parent} cannot be written ({error.strerror}); expected a folder you may write."
            ) from error
        else:
            return


def _sign(lock: Path) -> int | None:
    """Put the holder's file into the lock, locked before anybody can see it; None where the disk has no such locks."""
    descriptor, made = tempfile.mkstemp(prefix=f"{LOCK}.", dir=lock.parent)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        Path(made).rename(lock / HOLDER)
    except OSError:
        Path(made).unlink(missing_ok=True)
        os.close(descriptor)
        return None
    return descriptor


def _clear_stale(lock: Path) -> bool:
    """Take away a lock that nobody holds any more, and say whether it is gone. One at a time looks: what it finds stale is what it takes away."""
    try:
        folder = os.open(lock.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        return _is_stale(lock) and _remove(lock)
    finally:
        os.close(folder)


def _is_stale(lock: Path) -> bool:
    try:
        holder = os.open(lock / HOLDER, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return _age(lock) >= STALE_S
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # One that gave the lock back in this instant has taken its file out of it.
        return os.path.samestat(os.fstat(holder), (lock / HOLDER).stat())
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.ENOENT) and _age(lock) >= STALE_S
    finally:
        os.close(holder)


def _age(lock: Path) -> float:
    """How old the lock is, by two times of the same clock, the disk's; nothing where it is gone."""
    try:
        with tempfile.TemporaryDirectory(prefix=f"{LOCK}.", dir=lock.parent) as probe:
            return Path(probe).stat().st_mtime - lock.lstat().st_mtime
    except OSError:
        return 0.0


def _remove(lock: Path) -> bool:
    try:
        if lock.is_symlink() or not lock.is_dir():
            lock.unlink()
        else:
            shutil.rmtree(lock)
    except OSError:
        return False
    return True
