"""Environments that a run makes in the user's own tree: gates would use what is installed there, so they do not stay.

Those of the user are known by what they are on the disk and not by their paths: a folder above one may have been renamed, and
another put in its place.
"""

import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from urllib.parse import quote

import msgspec

from flyball.folders import all_environments, users_environments
from flyball.workspace.files import remove, write_file
from flyball.workspace.git import join_records, records


class MadeEnvironments(msgspec.Struct, frozen=True):
    """The environments in a tree by their `names`; `record` is a file of flyball's own that lists them while a run may add to them.

    `saved` gives the files of the newest checkpoint.
    """

    root: Path
    names: tuple[str, ...]
    record: Path
    away: Path
    saved: Callable[[], Collection[str]]

    def guard(self) -> None:
        """Write down which there are, before a run."""
        self.sweep()
        self.record.parent.mkdir(parents=True, exist_ok=True)
        found = users_environments(self.root, self.names)
        write_file(self.record, join_records([f"{_identity(self.root / name)} {name}" for name in found]))

    def sweep(self) -> tuple[str, ...]:
        """After a run, move away those that were not there before it; sentences on them."""
        if not self.record.exists():
            return ()
        known = {identity: name for identity, _, name in (r.partition(" ") for r in records(self.record.read_bytes()))}
        # What is an environment now, and what is where a link led before: where a new link leads is none.
        before = (name for name in known.values() if (self.root / name).is_dir())
        found = sorted({*all_environments(self.root, self.names), *before})
        new = [name for name in found if _identity(self.root / name) not in known]
        held = self.saved() if new else ()
        # What is saved with the tree is no environment, whatever it is called, and no gate is lent it.
        made = [name for name in new if not any(path.startswith(f"{name}/") for path in held)]
        notes = tuple(self._move_away(name) for name in made)
        self.record.unlink()
        return notes

    def _move_away(self, name: str) -> str:
        # The newest is enough: it may be the user's own, made while the agent was at work, but nobody needs one for each turn.
        place = self.away / quote(name, safe="")
        remove(place)
        self.away.mkdir(parents=True, exist_ok=True)
        shutil.move(self.root / name, place)
        return (
            f"{name} appeared while an agent was at work. Gates would use what is installed in it, so it was moved to {place}; "
            "to have it installed for gates, name a setup command."
        )


def _identity(place: Path) -> str:
    """What tells one entry from another that was put in its place; a link that was made anew may have the old one's number."""
    own, real = os.lstat(place), os.stat(place)
    facts = [own.st_dev, own.st_ino, real.st_dev, real.st_ino]
    if place.is_symlink():
        facts.append(own.st_ctime_ns)
    return "-".join(map(str, facts))
