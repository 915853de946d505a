"""Looks whether a text an agent printed merely stands in its tree."""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from flyball.agents.reading.jsonl import plain_bytes

SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__"})
LARGEST_FILE = 2 * 1024 * 1024
"""Of a longer file only this much is looked at."""
LARGEST_TREE = 512 * 1024 * 1024


class Echo:
    """Whether a text stands in a tree that no longer changes, however its white space is laid out."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree

    def __call__(self, text: str) -> bool:
        words = text.encode("utf-8", "backslashreplace").split()
        if not words:
            return False
        rarest, wanted, left = max(words, key=len), b" ".join(words), LARGEST_TREE
        for path, size in self._files:
            left -= min(size, LARGEST_FILE)
            if left < 0:
                break
            content = plain_bytes(path, LARGEST_FILE) if size >= len(rarest) else None
            # Laying out the white space anew costs more than looking for one word.
            if content and rarest in content and wanted in b" ".join(content.split()):
                return True
        return False

    @cached_property
    def _files(self) -> list[tuple[str, int]]:
        return list(_plain_files(str(self._tree)))


def _plain_files(folder: str) -> Iterator[tuple[str, int]]:
    pending = [folder]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.name in SKIPPED:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry.path, entry.stat(follow_symlinks=False).st_size
