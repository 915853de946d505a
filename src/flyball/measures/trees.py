"""What a measurement asks of a workspace, each fact once: commits do not change while one of them is measured."""

from functools import cache

from flyball.core.model.task import Commit
from flyball.ports import Trees


class RememberedTrees:
    """Trees whose answers are kept, for every question to git costs a process."""

    def __init__(self, workspace: Trees) -> None:
        self._workspace = workspace
        self._changed: dict[tuple[Commit, Commit], tuple[tuple[str, str], ...]] = {}
        self._files: dict[Commit, tuple[str, ...]] = {}
        self._read: dict[tuple[Commit, str], bytes | None] = {}
        self.links = cache(workspace.links)
        self.overlay = workspace.overlay
        self.added_lines = workspace.added_lines
        self.tree_of = workspace.tree_of
        self.export = workspace.export
        self.lend = workspace.lend

    def changed_files(self, old: Commit, new: Commit) -> tuple[tuple[str, str], ...]:
        if (old, new) not in self._changed:
            self._changed[old, new] = self._workspace.changed_files(old, new) if old != new else ()
        return self._changed[old, new]

    def read_file(self, commit: Commit, path: str) -> bytes | None:
        if (commit, path) not in self._read:
            absent = commit in self._files and path not in self._files[commit]
            self._read[commit, path] = None if absent else self._workspace.read_file(commit, path)
        return self._read[commit, path]

    def list_files(self, commit: Commit) -> tuple[str, ...]:
        if commit not in self._files:
            self._files[commit] = self._workspace.list_files(commit)
        return self._files[commit]
