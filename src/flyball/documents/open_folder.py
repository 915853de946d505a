"""Files of an open folder, by name: looked at, put aside, put in place in one step. No link is followed, nothing waits for the disk."""

import itertools
import os
import stat
from contextlib import suppress

from flyball import faults
from flyball.swap import swap_in

Stamp = tuple[int, int, int]
"""What tells a file from one written later under its name."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def status_of(folder: int, name: str) -> os.stat_result | None:
    """What the file system knows of an entry; None where there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def stamp(status: os.stat_result | None) -> Stamp | None:
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def content(folder: int, name: str) -> bytes | None:
    """What a file holds; None where there is none, or something that is not a file."""
    status = status_of(folder, name)
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def rename_aside(folder: int, name: str) -> str:
    """Keep a file under a name that is free; gives back that name."""
    for number in itertools.count(1):
        aside = f"{name}.edited-{number}"
        if status_of(folder, aside) is None:
            os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            return aside
    raise AssertionError("counting never ends")


def replace(folder: int, name: str, raw: bytes) -> None:
    """Put a file in place in one step; what a killed attempt left is taken away, not written into."""
    fresh = f".{name}.new"
    with suppress(FileNotFoundError):
        os.unlink(fresh, dir_fd=folder)
    faults.point("loop.write.before")
    with os.fdopen(os.open(fresh, _NEW, 0o644, dir_fd=folder), "wb") as file:
        file.write(raw)
    faults.point("loop.write.inside")
    swap_in(fresh, name, folder=folder)
    faults.point("loop.write.after")
