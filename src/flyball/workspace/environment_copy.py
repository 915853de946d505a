"""A copy of installed dependencies that an agent may write: before each turn it is made what its source is, at the cost of what differs."""

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.folders import walk
from flyball.workspace.files import remove

Stamp = tuple[int, int, int, int]
"""Mode, size, time of the last change and inode: nobody can write a file and leave all four as they were."""
Stamps = dict[str, tuple[Stamp, Stamp]]
"""Of each file the source's and the copy's, as they were when they were the same."""

_MOST_AT_ONCE = 1 << 30
_UNABLE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def renew(source: Path, copy: Path) -> None:
    """Make `copy` what `source` is; what anybody has written into it is gone."""
    record = copy.with_name(f"{copy.name}.stamps")
    known = _read(record)
    # Without a record everything is copied: a kill on the way leaves nothing that is taken for the same.
    record.unlink(missing_ok=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    stamps: Stamps = {}
    top = os.path.realpath(source)
    for above, folders, names in walk(top):
        below = os.path.relpath(above, top)
        place = copy / below
        _make_folder(place, os.stat(above).st_mode)
        wanted = {*folders, *names}
        for extra in set(os.listdir(place)) - wanted:
            remove(place / extra)
        for name in wanted:
            # The user may be at work there: what is gone by now is not there to be copied.
            with suppress(FileNotFoundError, PermissionError):
                key = os.fsencode(f"{below}/{name}").decode("latin-1")
                if stamp := _renewed(f"{above}/{name}", f"{place}/{name}", known.get(key)):
                    stamps[key] = stamp
    record.write_bytes(msgspec.json.encode(stamps))


def _make_folder(place: Path, mode: int) -> None:
    """A folder there, whatever was put in its place."""
    if place.is_symlink() or not place.is_dir():
        remove(place)
        place.mkdir()
    place.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


def _renewed(source: str, copy: str, known: tuple[Stamp, Stamp] | None) -> tuple[Stamp, Stamp] | None:
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
        os.symlink(os.readlink(source), copy)
        return stamp, _stamp(os.lstat(copy))
    return (stamp, _stamp(_copied(source, copy, facts))) if stat.S_ISREG(facts.st_mode) else None


def _copied(source: str, copy: str, facts: os.stat_result) -> os.stat_result:
    """Copy a file with its mode and times; where the file system can, both share their blocks until one is written."""
    with open(source, "rb", buffering=0) as old, open(copy, "xb", buffering=0) as new:
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), _MOST_AT_ONCE):
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


def _read(record: Path) -> Stamps:
    try:
        return msgspec.json.decode(record.read_bytes(), type=Stamps)
    except (FileNotFoundError, msgspec.DecodeError):
        return {}
