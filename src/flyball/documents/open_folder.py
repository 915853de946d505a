"""Files of an open folder, by name: looked at, put aside, put in place in one step. No link is followed, nothing waits for the disk."""

import itertools
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from flyball import faults

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def status_of(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def content(folder: int, name: str) -> bytes | None:
    """What a file holds; None where there is none, or something that is not a file."""
    status = status_of(folder, name)
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def rename_aside(folder: int, name: str) -> str:
    """Keep a file under a name that is free, made from its own; gives back that name."""
    for number in itertools.count(1):
        aside = f"{name}.edited-{number}"
        if status_of(folder, aside) is None:
            os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            return aside
    raise AssertionError("counting never ends")


def write_beside(folder: int, fresh: str, name: str, raw: bytes, *, durable: bool = False) -> None:
    """Write the file `fresh`, with the mode and owner of the file that it is to replace."""
    with os.fdopen(os.open(fresh, _NEW, 0o644, dir_fd=folder), "wb") as file:
        there = status_of(folder, name)
        if there is not None and stat.S_ISREG(there.st_mode):
            with suppress(PermissionError):
                os.fchown(file.fileno(), there.st_uid, there.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
        file.write(raw)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def replace(folder: int, name: str, raw: bytes, is_ours: Callable[[bytes | None], bool]) -> str:
    """Put a file in place in one step, with the mode of the one there; says under which name that is kept if it is not ours."""
    fresh, kept = f".{name}.new", ""
    with suppress(FileNotFoundError):
        os.unlink(fresh, dir_fd=folder)  # left by a kill
    faults.point("loop.write.before")
    write_beside(folder, fresh, name, raw)
    faults.point("loop.write.inside")
    if status_of(folder, name) is not None and not is_ours(content(folder, name)):
        kept = rename_aside(folder, name)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    faults.point("loop.write.after")
    return kept
