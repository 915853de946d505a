"""How installed dependencies are shown to a command: pristine, as a copy that may be written, or to be installed."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import msgspec

from flyball.folders import CACHES, environment_folders
from flyball.ports import EnvironmentUse
from flyball.workspace.environment_copy import renew
from flyball.workspace.mounts import Mount

_MOST_MOUNTS = 40
"""Entries of a folder that are mounted one by one: each costs bubblewrap a look at all before it."""


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
        own = environment_folders(tree, self.names) if use == "pristine" and tree != self.root else ()
        filled = [name for name in own if any((tree / name).iterdir())]
        mounts = [mount for name in filled for mount in pristine(self.root / name, tree / name)]
        for name in self.lent:
            if name not in filled and self._is_lent(tree, name):
                mounts += self._shown(tree, name, use)
        return mounts

    def _is_lent(self, tree: Path, name: str) -> bool:
        """Whether the user's are to be seen in the tree; a folder is made there for them, in which nothing else may lie."""
        source, own = self.root / name, tree / name
        if not source.is_dir() or tree == self.root:
            return source.is_dir()
        if own.is_symlink() or (own.exists() and (not own.is_dir() or any(own.iterdir()))):
            return False
        # An agent may have put a link there, through which the mount's folder would be made outside the tree.
        if not own.parent.is_dir() or not own.parent.resolve().is_relative_to(tree.resolve()):
            return False
        own.mkdir(exist_ok=True)
        return True

    def _shown(self, tree: Path, name: str, use: EnvironmentUse) -> list[Mount]:
        source = self.root / name
        # In the user's own tree it may be a link, over which nothing can be mounted.
        target = Path(os.path.realpath(source)) if tree == self.root else source
        if use == "pristine" or self.copies is None:
            return pristine(target, source)
        copy = self.copies(tree) / quote(name, safe="")
        renew(source, copy)
        return [Mount("writable", target, copy)]
