"""Looks whether a text an agent printed merely stands in its tree."""

from pathlib import Path

from flyball.agents.reading.jsonl import plain_bytes
from flyball.folders import walk

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
        for above, folders, names in walk(self._tree):
            folders[:] = [name for name in folders if name not in SKIPPED]
            for name in names:
                content = plain_bytes(f"{above}/{name}", LARGEST_FILE) or b""
                left -= len(content)
                if left < 0:
                    return False
                # Laying out the white space anew costs more than looking for one word.
                if rarest in content and wanted in b" ".join(content.split()):
                    return True
        return False
