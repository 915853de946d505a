"""Every `.git` below the user's tree: out of an agent's reach while it is at work, and gone after it where the agent made it.

A git folder names programs that git runs: hooks, filters, a file monitor. The user's own git meets those of nested
repositories and submodules outside the sandbox, and that of a submodule even when it is asked about the tree around it.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from flyball.folders import walk
from flyball.workspace.errors import LinkedGitFolder
from flyball.workspace.files import write_file
from flyball.workspace.git import join_records, records

GIT = ".git"
_POINTER = b"gitdir: "
_LONGEST = 8192


class Nested(msgspec.Struct, frozen=True):
    """The git folders below a tree; `record` is a file of flyball's own that lists them while a run may add to them."""

    root: Path
    record: Path
    away: Path

    def guard(self) -> tuple[Path, ...]:
        """Write down which there are, before a run; what it must not write."""
        self.sweep()
        places = list(_places(str(self.root)))
        self.record.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.record, join_records([_identity(place) for place in places]))
        own = [Path(place) for place in places if Path(place).parent != self.root]
        return tuple(dict.fromkeys((*own, *self._stores(places))))

    def sweep(self) -> tuple[str, ...]:
        """After a run, move away those that were not there before it; sentences on them."""
        if not self.record.exists():
            return ()
        known = set(records(self.record.read_bytes()))
        notes = [self._move_away(place) for place in list(_places(str(self.root))) if _identity(place) not in known]
        self.record.unlink()
        return tuple(notes)

    def _move_away(self, place: str) -> str:
        self.away.mkdir(parents=True, exist_ok=True)
        number = len(os.listdir(self.away)) + 1
        shutil.move(place, self.away / str(number))
        return (
            f"{os.path.relpath(place, self.root)} appeared while an agent was at work. What lies in it can make git "
            f"run programs, so it was moved to {self.away / str(number)}; the files beside it stay."
        )

    def _stores(self, places: list[str]) -> Iterator[Path]:
        """Git folders of another name in the tree, that a `.git` points to."""
        root = self.root.resolve()
        for place in places:
            store = _pointed_to(place)
            if store is not None and store.is_dir() and store.is_relative_to(root) and GIT not in store.parts:
                yield store


def refuse_links(root: Path) -> None:
    """Refuse a tree in which a `.git` is a symbolic link, which no mount can hold in its place."""
    linked = next((place for place in _places(str(root)) if os.path.islink(place)), None)
    if linked is not None:
        target = os.path.realpath(linked)
        raise LinkedGitFolder(
            f"{linked} is a symbolic link, which an agent at work in this tree could replace.",
            f"Make it a file that says the same: rm '{linked}' && echo 'gitdir: {target}' > '{linked}'; or run without --in-place.",
        )


def _places(root: str) -> Iterator[str]:
    """Every entry named .git at or below a folder, through no link."""
    for above, folders, files in walk(root):
        found = [name for name in (*folders, *files) if name.lower() == GIT]
        folders[:] = [name for name in folders if name not in found]
        yield from (f"{above}/{name}" for name in found)


def _identity(place: str) -> str:
    """What tells one entry from another that was put in its place; a folder above it may have been renamed."""
    found = os.lstat(place)
    return f"{found.st_dev} {found.st_ino}"


def _pointed_to(place: str) -> Path | None:
    if not os.path.isfile(place) or os.path.islink(place):
        return None
    with open(place, "rb") as file:
        raw = file.read(_LONGEST)
    if not raw.startswith(_POINTER):
        return None
    return Path(os.path.realpath(os.path.join(os.path.dirname(place), os.fsdecode(raw[len(_POINTER) :].strip()))))
