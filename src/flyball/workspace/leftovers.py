"""What the set-up command left in a tree: in the folder as it left it, in no checkpoint and on no branch.

A file it created stays out whatever becomes of it. A tracked file it changed or removed is saved as it was before, until
somebody else changes it: that is work, and is saved as it is.
"""

import re

import msgspec

from flyball.workspace.files import folders_above
from flyball.workspace.ignored import Ignored
from flyball.workspace.trees import changed_files, entries, overlay_tree
from flyball.workspace.vault import Vault

# Folders that tools fill: one that set-up made stays out as a whole, and so does what is added to it later.
_FILLED = re.compile(
    r".*\.(egg|dist)-info|\.?eggs|build|dist|target|node_modules|bower_components|vendor|\.?venv|__pycache__|.*_cache|\.tox|\.nox"
)


class Leftovers(msgspec.Struct, frozen=True):
    """Paths that set-up created, files or whole folders, and tracked ones it changed between two trees."""

    before: str = ""
    after: str = ""
    created: Ignored = Ignored()
    changed: frozenset[str] = frozenset()

    @classmethod
    def between(cls, vault: Vault, before: str, after: str) -> "Leftovers":
        found = changed_files(vault, before, after)
        files = (entry.path for entry in entries(vault, before))
        there = {step for path in files for step in (path, *folders_above(path))}
        created = (_whole(each.path, there) for each in found if each.status == "A")
        return cls(before, after, Ignored.of(created), frozenset(each.path for each in found if each.status != "A"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted((*self.created.paths, *self.changed)))

    def take_out(self, vault: Vault, tree: str) -> str:
        """A folder's tree without what is not work in it."""
        if not self.names:
            return tree
        gone = dict.fromkeys(self._created_in(vault, tree))
        now, left = _at(vault, tree, self.changed), _at(vault, self.after, self.changed)
        return overlay_tree(vault, tree, gone | {p: self.before for p in self.changed if now.get(p) == left.get(p)})

    def laid_otherwise(self, vault: Vault, tree: str, now: str) -> dict[str, str | None]:
        """Which paths of a tree are laid out otherwise: as they are `now` in the folder, or as set-up left them."""
        if not self.names:
            return {}
        wanted, before = _at(vault, tree, self.changed), _at(vault, self.before, self.changed)
        kept: dict[str, str | None] = dict.fromkeys(
            (*self._created_in(vault, tree), *self._created_in(vault, now)), now
        )
        return kept | {path: self.after for path in self.changed if wanted.get(path) == before.get(path)}

    def _created_in(self, vault: Vault, tree: str) -> list[str]:
        files = entries(vault, tree) if self.created.paths else ()
        return [entry.path for entry in files if self.created.holding(entry.path) in self.created.paths]


def _at(vault: Vault, tree: str, paths: frozenset[str]) -> dict[str, tuple[str, str]]:
    found = entries(vault, tree, sorted(paths)) if paths else []
    return {entry.path: (entry.mode, entry.blob) for entry in found if entry.path in paths}


def _whole(path: str, there: set[str]) -> str:
    """The outermost new folder around a path that tools fill, or the path itself."""
    new = (step for step in reversed(list(folders_above(path))) if step not in there)
    return next((step for step in new if _FILLED.fullmatch(step.rpartition("/")[2])), path)
