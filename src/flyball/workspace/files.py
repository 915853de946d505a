"""Small durable file writing, and removal that never follows a symbolic link."""

import errno
import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flyball import faults, process
from flyball.folders import sync_directory, walk

_NUMBERS = itertools.count(1)
REMOVAL_S = 600.0


def write_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step that survives a power cut; nothing is touched if it is there already."""
    try:
        if path.read_bytes() == data:
            return
    except FileNotFoundError:
        pass
    faults.point("file.write.before")
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    faults.point("file.write.inside")
    fresh.replace(path)
    sync_directory(path.parent)
    faults.point("file.write.after")


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path of a tree lies in, from the inmost."""
    while path := path.rpartition("/")[0]:
        yield path


def remove(path: Path) -> None:
    """Remove whatever is at `path`, folders that forbid it included."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(mode):
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except (RecursionError, OSError):
        # Folders that forbid it, or are nested deeper than Python's own removal can follow, are left to the system's.
        program = ["/bin/sh", "-c", 'chmod -R u+rwX -- "$0"; exec rm -rf -- "$0"', str(path)]
        done = process.capture(program, cwd=path.parent, env={"PATH": os.defpath}, timeout=REMOVAL_S)
        if done.code != 0:
            raise OSError(errno.EIO, done.complaint[:300], str(path)) from None


def space_of(path: Path) -> int:
    """How many bytes of the disk something takes up; a file of several names counts once, a link for itself."""
    folders = walk(path) if path.is_dir() and not path.is_symlink() else ()
    inside = (Path(above, name) for above, below, files in folders for name in (*below, *files))
    taken: dict[tuple[int, int], int] = {}
    for each in itertools.chain([path], inside):
        with suppress(FileNotFoundError):
            facts = each.lstat()
            taken[facts.st_dev, facts.st_ino] = facts.st_blocks * 512
    return sum(taken.values())


@contextmanager
def scratch_copy(index: Path) -> Iterator[Path]:
    """A copy of an index to work on, put in its place only if all went well.

    Git locks an index by a file beside it and a killed git leaves that lock behind; a copy of its own for each
    operation makes such leftovers harmless. Times are kept, since git compares them to find files changed within a tick.
    """
    scratch = index.with_name(f"scratch-{os.getpid()}-{next(_NUMBERS)}")
    try:
        if index.exists():
            shutil.copy2(index, scratch)
        yield scratch
        if scratch.exists():
            faults.point("index.replace.before")
            scratch.replace(index)
            faults.point("index.replace.after")
    finally:
        for left in (scratch, scratch.with_name(f"{scratch.name}.lock")):
            left.unlink(missing_ok=True)
