"""What an index keeps out of git's sight: files it was told to overlook, and those a sparse checkout left out.

In place every file that is there counts like any other, whatever its flag. One that was left out counts as git stores it,
for as long as nobody puts a file there; then that file counts.
"""

import os
from pathlib import Path

import msgspec

from flyball.workspace.files import write_file
from flyball.workspace.git import Git, TreeEntry, join_records, records

_LEFT_OUT = "S"  # how `ls-files -v` marks what a sparse checkout left out; in lower case what is assumed unchanged


class LeftOut(msgspec.Struct, frozen=True):
    """The files that a sparse checkout had left out of a tree when a task began, as git stores them."""

    files: dict[str, TreeEntry] = {}

    @classmethod
    def read(cls, file: Path) -> "LeftOut":
        """What was written down; nothing where nothing was."""
        lines = records(file.read_bytes()) if file.exists() else []
        return cls({entry.path: entry for entry in map(_entry, lines)})

    def write(self, file: Path) -> None:
        write_file(file, join_records(entry.index_line for entry in self.files.values()))

    def settle(self, git: Git) -> None:
        """Let an index see those that are there now, and have the others as they were left out."""
        if not self.files:
            return
        assert git.work_tree is not None, "only a work tree has files"
        known = {entry.path: (mark, entry) for mark, entry in _marked_entries(git)}
        there = [path for path in self.files if os.path.lexists(git.work_tree / path)]
        absent = [entry for path, entry in self.files.items() if path not in set(there)]
        away = [entry for entry in absent if known.get(entry.path) != (_LEFT_OUT, entry)]
        _change(git, "--no-skip-worktree", [path for path in there if known.get(path, ("",))[0] == _LEFT_OUT])
        if away:
            git.out(
                "update-index",
                "--replace",
                "-z",
                "--index-info",
                input=join_records(entry.index_line for entry in away),
            )
            _change(git, "--skip-worktree", [entry.path for entry in away])


def reveal(git: Git) -> LeftOut:
    """Take the flags off all files that are there; gives back those that are not because they were left out."""
    assert git.work_tree is not None, "only a work tree has files"
    marked = _marked_entries(git)
    left_out = [entry for mark, entry in marked if mark.upper() == _LEFT_OUT]
    absent = {entry.path: entry for entry in left_out if not os.path.lexists(git.work_tree / entry.path)}
    _change(git, "--no-assume-unchanged", [entry.path for mark, entry in marked if mark.islower()])
    _change(git, "--no-skip-worktree", [entry.path for entry in left_out if entry.path not in absent])
    return LeftOut(absent)


def _change(git: Git, flag: str, paths: list[str]) -> None:
    if paths:
        git.out("update-index", "-z", flag, "--stdin", input=join_records(paths))


def _marked_entries(git: Git) -> list[tuple[str, TreeEntry]]:
    """All entries of an index with git's mark for each."""
    return [(line[0], _entry(line[2:])) for line in records(git.out("ls-files", "-v", "-s", "-z"))]


def _entry(line: str) -> TreeEntry:
    head, _, path = line.partition("\t")
    mode, blob = head.split()[:2]
    return TreeEntry(mode, blob, path)
