"""What the sandbox shows where; installed dependencies pristine, as a copy that may be written, or to be installed.

A copy is made what its source is before each turn, at the cost of what differs.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from flyball.folders import CACHES, environment_folders, walk
from flyball.ports import EnvironmentUse
from flyball.workspace.files import remove

_MOST_MOUNTS = 40
"""Entries of a folder that are mounted one by one: each costs bubblewrap a look at all before it."""
_COPIED_AT_ONCE = 1 << 30
_UNABLE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)

Stamp = tuple[int, int, int, int]
"""Mode, size, time of the last change and inode: nobody can write a file and leave all four as they were."""
Stamps = dict[str, tuple[Stamp, Stamp]]
"""Of each file the source's and the copy's, as they were when they were the same."""


class Mount(msgspec.Struct, frozen=True):
    """What is seen at `target`: `source` read-only or writable, an empty folder, a link to `source`, or nothing readable."""

    kind: Literal["read-only", "writable", "empty", "link", "nothing"]
    target: Path
    source: Path | None = None

    def options(self) -> list[str]:
        match self.kind:
            case "empty":
                return ["--tmpfs", str(self.target)]
            case "link":
                return ["--symlink", str(self.source), str(self.target)]
            case "nothing":
                return ["--ro-bind", "/dev/null", str(self.target)]
            case "read-only":
                return ["--ro-bind", str(self.source or self.target), str(self.target)]
            case "writable":
                return ["--bind", str(self.source or self.target), str(self.target)]


class EnvironmentMounts(msgspec.Struct, frozen=True):
    """The environments of one task: `lent` are the user's below `root`, `names` what those of a tree of its own are called.

    A tree has its own where set-up installed them. Where it has none it is lent the user's, which nobody can write: gates see
    them read-only, agents a copy in the folder that `copies` gives for their tree. Set-up begins with nothing.
    """

    root: Path
    lent: tuple[str, ...]
    names: tuple[str, ...]
    copies: Callable[[Path], Path] | None = None

    def of(self, tree: Path, use: EnvironmentUse) -> list[Mount]:
        """What is mounted so that a command in `tree` can do to them what it may, and no more."""
        if use == "writable":
            return []
        own = environment_folders(tree, self.names) if use == "pristine" else ()
        filled = [name for name in own if any((tree / name).iterdir())]
        mounts = [mount for name in filled for mount in pristine(self.root / name, tree / name)]
        for name in self.lent:
            if name not in filled and self._is_lent(tree, name):
                mounts += self._lend(tree, name, use)
        return mounts

    def _is_lent(self, tree: Path, name: str) -> bool:
        """Whether the user's are to be seen in the tree; a folder is made there for them, in which nothing else may lie."""
        source, own = self.root / name, tree / name
        if not source.is_dir() or own.is_symlink() or (own.exists() and (not own.is_dir() or any(own.iterdir()))):
            return False
        # An agent may have put a link there, through which the mount's folder would be made outside the tree.
        if not own.parent.is_dir() or not own.parent.resolve().is_relative_to(tree.resolve()):
            return False
        own.mkdir(exist_ok=True)
        return True

    def _lend(self, tree: Path, name: str, use: EnvironmentUse) -> list[Mount]:
        source = self.root / name
        if use == "pristine" or self.copies is None:
            return pristine(source, source)
        copy = self.copies(tree) / quote(name, safe="")
        renew(source, copy)
        return [Mount("writable", source, copy)]


def pristine(target: Path, source: Path) -> list[Mount]:
    """An environment as it is, read-only, with room for a run's caches; what is written there ends with it.

    A small one stands in an empty folder of the run's own. A large one is mounted as a whole; the empty folders that tools want for their
    caches are made in it, for nothing can be mounted where there is nothing.
    """
    with os.scandir(source) as found:
        inside = sorted((entry for entry in found if entry.name not in CACHES), key=lambda entry: entry.name)
    if len(inside) > _MOST_MOUNTS:
        caches = [source / name for name in sorted(CACHES) if name.startswith(".") and not (source / name).is_symlink()]
        for cache in caches:
            with suppress(OSError):
                cache.mkdir(exist_ok=True)
        emptied = (Mount("empty", target / cache.name) for cache in caches if cache.is_dir())
        return [Mount("read-only", target, source), *emptied]
    # A link is made again: followed here it would lead to the user's own files and not to the candidate's.
    return [
        Mount("empty", target),
        *(
            Mount("link", target / entry.name, Path(os.readlink(entry.path)))
            if entry.is_symlink()
            else Mount("read-only", target / entry.name, source / entry.name)
            for entry in inside
        ),
    ]


def renew(source: Path, copy: Path, record: Path | None = None, *, root: Path | None = None) -> None:
    """Make `copy` what `source` is; what anybody has written into it is gone. `record` is where the stamps of both are kept.

    Where the copy is not shown in the source's place, a relative link that leads out of the tree `root` becomes an absolute one.
    """
    record = record or copy.with_name(f"{copy.name}.stamps")
    known: Stamps = {}
    with suppress(FileNotFoundError, msgspec.DecodeError):
        known = msgspec.json.decode(record.read_bytes(), type=Stamps)
    # Without a record everything is copied: a kill on the way leaves nothing that is taken for the same.
    record.unlink(missing_ok=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    stamps: Stamps = {}
    top = os.path.realpath(source)
    for above, folders, names in walk(top):
        below = os.path.relpath(above, top)
        place = copy / below
        if place.is_symlink() or not place.is_dir():
            # Somebody put something else in its place.
            remove(place)
            place.mkdir()
        place.chmod(stat.S_IMODE(os.stat(above).st_mode) | stat.S_IRWXU)
        wanted = {*folders, *names}
        for extra in set(os.listdir(place)) - wanted:
            remove(place / extra)
        for name in wanted:
            # The user may be at work there: what is gone by now is not there to be copied.
            with suppress(FileNotFoundError, PermissionError):
                key = os.fsencode(f"{below}/{name}").decode("latin-1")
                if stamp := _renew_file(f"{above}/{name}", f"{place}/{name}", known.get(key), root):
                    stamps[key] = stamp
    record.write_bytes(msgspec.json.encode(stamps))


def _renew_file(
    source: str, copy: str, known: tuple[Stamp, Stamp] | None, root: Path | None
) -> tuple[Stamp, Stamp] | None:
    """The stamps of a file and its copy, which is made where it is not known to be the same; None for a folder."""
    facts = os.lstat(source)
    if stat.S_ISDIR(facts.st_mode):
        return None
    stamp = _stamp(facts)
    with suppress(FileNotFoundError):
        if known == (stamp, _stamp(os.lstat(copy))):
            return known
        remove(Path(copy))
    if stat.S_ISLNK(facts.st_mode):
        target = os.readlink(source)
        place = os.path.normpath(f"{os.path.dirname(source)}/{target}")
        os.symlink(place if root and not Path(place).is_relative_to(root) else target, copy)
        return stamp, _stamp(os.lstat(copy))
    return (stamp, _stamp(_copy_file(source, copy, facts))) if stat.S_ISREG(facts.st_mode) else None


def _copy_file(source: str, copy: str, facts: os.stat_result) -> os.stat_result:
    """Copy a file with its mode and times; where the file system can, both share their blocks until one is written."""
    with open(source, "rb", buffering=0) as old, open(copy, "xb", buffering=0) as new:
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), _COPIED_AT_ONCE):
                pass
        except OSError as error:
            if error.errno not in _UNABLE:
                raise
            shutil.copyfileobj(old, new)
        os.fchmod(new.fileno(), stat.S_IMODE(facts.st_mode))
        os.utime(new.fileno(), ns=(facts.st_atime_ns, facts.st_mtime_ns))
        return os.fstat(new.fileno())


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_mode, facts.st_size, facts.st_ctime_ns, facts.st_ino
