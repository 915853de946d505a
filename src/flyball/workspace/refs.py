"""The refs of flyball's own git dir, read and moved in git's files: a git started for each would cost more than the work.

Whatever is not plain here (a lock in the way, a ref that is not where it was said to be, a file that holds no id) is left to
git, which knows what to do or says what is wrong.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from flyball import faults

_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\n")
_PACKED = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (\S+)")


class RefUpdate(msgspec.Struct, frozen=True):
    """Move `ref` to `new` if it stands at `old`; None as `old` means it must not exist yet."""

    ref: str
    new: str
    old: str | None


class NotPlain(Exception):
    """Git has to be asked."""


def read(git_dir: Path, prefix: str) -> dict[str, str]:
    """All refs below `prefix`, which ends with a slash, by their full name."""
    found = {}
    for name in _loose(git_dir, prefix.rstrip("/")):
        commit = _commit(git_dir / name)
        if commit is not None:
            found[name] = commit
    # Read last: packing takes a ref's own file away only when it stands among the packed ones.
    return {name: commit for name, commit in _packed(git_dir) if name.startswith(prefix)} | found


def _loose(git_dir: Path, below: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(git_dir / below))
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotPlain from error
    for entry in entries:
        name = f"{below}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _loose(git_dir, name)
        elif not name.endswith(".lock"):
            yield name


def _commit(path: Path) -> str | None:
    """The id a ref's own file holds; None where it was packed a moment ago."""
    try:
        text = path.read_text("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise NotPlain from error
    if not _ID.fullmatch(text):
        raise NotPlain
    return text.rstrip("\n")


def _packed(git_dir: Path) -> Iterator[tuple[str, str]]:
    try:
        text = (git_dir / "packed-refs").read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise NotPlain from error
    for line in text.splitlines():
        told = _PACKED.fullmatch(line)
        if told:
            yield told[2], told[1]


def move(git_dir: Path, updates: Sequence[RefUpdate]) -> bool:
    """Move refs as git does: lock all, see that each is where it should be, write, put in place; False: nothing was moved.

    A kill may come between two of them, in their order: whoever moves several, and is killed, must be able to do it again.
    """
    locked: list[Path] = []
    try:
        for each in updates:
            _lock(git_dir, each, locked)
    except (NotPlain, OSError):
        for lock in locked:
            lock.unlink(missing_ok=True)
        return False
    for place, lock in enumerate(locked):
        if place > 0:
            faults.point("vault.refs.inside")
        lock.replace(lock.with_name(lock.name.removesuffix(".lock")))
    return True


def _lock(git_dir: Path, update: RefUpdate, locked: list[Path]) -> None:
    path = git_dir / update.ref
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f"{path.name}.lock")
    with lock.open("xb") as file:
        locked.append(lock)
        if _current(git_dir, update.ref) != update.old:
            raise NotPlain
        file.write(f"{update.new}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _current(git_dir: Path, ref: str) -> str | None:
    own = _commit(git_dir / ref)
    return own if own is not None else dict(_packed(git_dir)).get(ref)
