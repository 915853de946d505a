"""One process at a time for a task or a tree: a lock that dies with its holder, and an epoch that fences what it left.

The lock keeps a second process out; the epoch in the journal refuses a first one that was paused, lost its lock file or
lives on another machine. Lock files stay when released: deleting one would let a second holder in.
"""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import quote

import msgspec

from flyball import faults
from flyball.folders import make_directory
from flyball.journal.errors import JournalError, JournalUnwritable, LeaseHeld
from flyball.journal.records import Holder

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class Epochs(Protocol):
    def next_epoch(self, scope: str, holder: Holder) -> int: ...


def this_process(at: datetime) -> Holder:
    return Holder(os.getpid(), os.uname().nodename, at)


def tree_scope(tree: Path) -> str:
    """The scope of a working tree, whatever name it is reached by."""
    return f"tree:{hashlib.sha256(os.fsencode(tree.resolve())).hexdigest()[:32]}"


class Lease:
    """The right to work on a scope; held until released or until this process ends, however it ends."""

    def __init__(self, epoch: int, lock: int) -> None:
        self.epoch = epoch
        self._lock: int | None = lock

    @classmethod
    def take(cls, journal: Epochs, lock_dir: Path, scope: str, holder: Holder) -> Self:
        kind, _, name = scope.partition(":")
        path = lock_dir / f"{kind}-{quote(name, safe='')}.lock"
        lock = _lock(scope, path)
        try:
            with _explain_unwritable(path):
                # Whoever asks next is told who holds it.
                os.ftruncate(lock, 0)
                os.pwrite(lock, msgspec.json.encode(holder), 0)
            faults.point("lease.locked")
            return cls(journal.next_epoch(scope, holder), lock)
        except BaseException:
            os.close(lock)
            raise

    def fileno(self) -> int:
        """The lock's descriptor: whoever else holds it open keeps others out for as long."""
        assert self._lock is not None, "a released lease has no lock"
        return self._lock

    def release(self) -> None:
        """Let others in; a second call does nothing."""
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _lock(scope: str, path: Path) -> int:
    """A descriptor that holds the lock; programs we start do not inherit it."""
    with _explain_unwritable(path):
        make_directory(path.parent)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(lock)
        os.close(lock)
        raise LeaseHeld(scope, holder) from None
    except OSError as error:
        os.close(lock)
        if error.errno in _NO_LOCKS:
            raise JournalError(
                f"{path} cannot be locked ({error.strerror}): the file system has no flock. "
                "Set FLYBALL_HOME to a folder on a local disk and try again."
            ) from error
        raise
    return lock


@contextmanager
def _explain_unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalUnwritable(
            f"The lock file {path} cannot be written ({error.strerror}). Free some space, or make its folder writable, and try again."
        ) from error


def _holder(lock: int) -> Holder | None:
    """Who holds the lock; a holder signs right after locking, so an empty file is asked again a few times."""
    for _ in range(10):
        try:
            return msgspec.json.decode(os.pread(lock, 4096, 0), type=Holder)
        except msgspec.MsgspecError:
            time.sleep(0.01)
    return None
