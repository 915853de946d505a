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
from flyball.folders import walk
from flyball.swap import swap_in

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
    faults.point("file.write.after")


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
    except PermissionError:
        _open_up(path)
        _remove_by_program(path)
    except (RecursionError, OSError):
        _remove_by_program(path)


def _remove_by_program(path: Path) -> None:
    """Folders nested deeper than Python's own removal can follow, or than any path can be long, are left to the system's."""
    done = process.capture(["rm", "-rf", "--", str(path)], cwd=path.parent, env={"PATH": os.defpath}, timeout=REMOVAL_S)
    if done.code != 0:
        raise OSError(errno.EIO, done.stderr.decode("utf-8", "backslashreplace").strip()[:300], str(path))


def space_of(path: Path) -> int:
    """How many bytes of the disk something takes up; a file of several names counts once, a link for itself."""
    try:
        taken = {(facts.st_dev, facts.st_ino): facts.st_blocks * 512 for facts in _all(path)}
    except FileNotFoundError:
        return 0
    return sum(taken.values())


def _all(path: Path) -> Iterator[os.stat_result]:
    yield path.lstat()
    if path.is_symlink() or not path.is_dir():
        return
    for above, folders, names in walk(path):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                yield Path(above, name).lstat()


def _open_up(folder: Path) -> None:
    folder.chmod(0o700)
    for above, names, _ in walk(folder):
        for name in names:
            below = Path(above, name)
            if not below.is_symlink():
                below.chmod(0o700)


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
            swap_in(str(scratch), str(index))
            faults.point("index.replace.after")
    finally:
        for left in (scratch, scratch.with_name(f"{scratch.name}.lock")):
            left.unlink(missing_ok=True)
