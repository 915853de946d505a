"""Who may read, write and run each file of the user's: git remembers one bit of it, so the rest is written down in place."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.core.model.naming import LOOP
from flyball.workspace.files import write_file
from flyball.workspace.git import join_records, records
from flyball.workspace.ignored import Ignored

_RUN = 0o111
_READ = 0o444
_EXECUTABLE = "100755"


class Modes(msgspec.Struct, frozen=True):
    """The modes of files and folders as they were when the task began, by path."""

    known: dict[str, int] = {}

    @classmethod
    def of(cls, root: Path, ignored: Ignored) -> "Modes":
        return cls(dict(_modes_below(str(root), "", ignored)))

    @classmethod
    def read(cls, file: Path) -> "Modes":
        """What was written down; nothing where nothing was."""
        lines = (line.partition(" ") for line in (records(file.read_bytes()) if file.exists() else ()))
        return cls({path: int(mode, 8) for mode, _, path in lines})

    def write(self, file: Path) -> None:
        write_file(file, join_records([f"{mode:o} {path}" for path, mode in self.known.items()]))

    def apply(self, fresh: Path, place: Path, path: str, git_mode: str) -> None:
        """Give a new file the mode, owner and attributes of the one whose place it takes; to run it is for git to say."""
        old: os.stat_result | None = None
        new = fresh.lstat()
        with suppress(OSError):
            found = place.lstat()
            old = found if stat.S_ISREG(found.st_mode) else None
        if old is not None:
            _lend(fresh, place, old, new)
        mode = self.known.get(path, stat.S_IMODE((old or new).st_mode))
        if (git_mode == _EXECUTABLE) != bool(mode & stat.S_IXUSR):
            mode = mode & ~_RUN if mode & stat.S_IXUSR else mode | (mode & _READ) >> 2
        fresh.chmod(mode)


def _lend(fresh: Path, place: Path, old: os.stat_result, new: os.stat_result) -> None:
    # Who may not give a file away, or lies where none of this is kept, has it as it is made.
    with suppress(OSError):
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.chown(fresh, old.st_uid, old.st_gid)
        for name in os.listxattr(place, follow_symlinks=False) if hasattr(os, "listxattr") else ():
            os.setxattr(fresh, name, os.getxattr(place, name, follow_symlinks=False))


def _modes_below(root: str, below: str, ignored: Ignored) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(f"{root}/{below}") as listing:
            there = list(listing)
    except OSError:
        return
    for entry in there:
        path = f"{below}{entry.name}"
        if path == LOOP or entry.name == ".git" or path in ignored.paths or entry.is_symlink():
            continue
        yield path, stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
        if entry.is_dir(follow_symlinks=False):
            yield from _modes_below(root, f"{path}/", ignored)
