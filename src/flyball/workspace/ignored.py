"""What was ignored when a task began: the user's own, never saved, restored over or removed, whatever is ignored later.

An agent that changes a .gitignore, for good reasons or bad, must not make the user's secrets part of a commit: what is in
checkpoints reaches a branch, and what is in the newest of them is removed by going back to an older one.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from flyball.core.model.naming import LOOP
from flyball.core.text.quantities import first_few
from flyball.workspace.files import folders_above, write_file
from flyball.workspace.git import LONG, Git, join_records, records

_STATUS = ("status", "-z", "--porcelain", "--ignored=matching", "--untracked-files=all", "--ignore-submodules=all")
_CODE = 3  # characters before the path
_MOST_NAMED = 5


class Ignored(msgspec.Struct, frozen=True):
    """Paths of files and of whole folders, and the folders above them."""

    paths: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()

    @classmethod
    def of(cls, paths: Iterable[str]) -> "Ignored":
        known = frozenset(path.rstrip("/") for path in paths)
        return cls(known, frozenset(step for path in known for step in folders_above(path)))

    @classmethod
    def read(cls, file: Path) -> "Ignored":
        """What was written down; nothing where nothing was."""
        return cls.of(records(file.read_bytes())) if file.exists() else cls()

    def write(self, file: Path) -> None:
        write_file(file, join_records(sorted(self.paths)))

    def holding(self, path: str) -> str | None:
        """The ignored file or folder that a path is or lies in, or the path itself if it is a file in place of their folder."""
        if not self.paths:
            return None
        found = next((step for step in (path, *folders_above(path)) if step in self.paths), None)
        return path if found is None and path in self.above else found

    def split(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """The paths that are free to be saved, and what of the ignored the others belong to."""
        free: list[str] = []
        held: dict[str, None] = {}
        for path in paths:
            holding = self.holding(path.rstrip("/")) if self.paths else None
            if holding is None or (path.endswith("/") and holding in self.above):
                free.append(path)
            else:
                held[holding] = None
        return free, list(held)


def left_out(held: Iterable[str]) -> Iterator[str]:
    """A sentence on what is no longer ignored, and stays out all the same."""
    names = sorted(set(held))
    if names:
        yield (
            f"{first_few(names, _MOST_NAMED)}: ignored or unreadable when the task began, "
            "and therefore left out of every checkpoint and commit."
        )


def ignored_now(git: Git, prefix: str = "") -> Iterator[str]:
    """What git ignores in a working tree, folders that a rule names as a whole, and the files that cannot be read.

    A folder is not taken as a whole because all that it holds at present is ignored: new work may come to lie there.
    """
    tree = git.work_tree
    assert tree is not None, "only a work tree has ignored files"
    for line in records(git.out(*_STATUS, timeout=LONG)):
        code, path = line[:_CODE], line[_CODE:]
        if path.split("/")[0] == LOOP and not prefix:
            continue
        if code == "!! ":
            yield prefix + path
        elif code == "?? " and path.endswith("/"):
            inner = Git(git.git_dir, work_tree=tree / path, index=git.git_dir / "no-index", excludes=git.excludes)
            yield from ignored_now(inner, prefix + path)
        elif code == "?? " and not (tree / path).is_symlink() and not os.access(tree / path, os.R_OK):
            yield prefix + path
