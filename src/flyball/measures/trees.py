"""What a measurement asks of a workspace, each fact once: commits do not change while one of them is measured."""

from functools import cache

from flyball.ports import Trees


class RememberedTrees:
    """Trees whose answers are kept, for every question to git costs a process."""

    def __init__(self, workspace: Trees) -> None:
        self.changed_files = cache(lambda old, new: workspace.changed_files(old, new) if old != new else ())
        self.list_files = cache(workspace.list_files)
        self.links = cache(workspace.links)
        paths = cache(lambda commit: frozenset(self.list_files(commit)))
        self.read_file = cache(
            lambda commit, path: workspace.read_file(commit, path) if path in paths(commit) else None
        )
        self.overlay = workspace.overlay
        self.added_lines = workspace.added_lines
        self.tree_of = workspace.tree_of
        self.export = workspace.export
        self.lend = workspace.lend
