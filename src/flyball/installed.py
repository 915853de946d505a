"""Where installed dependencies lie in a tree."""

import os
from collections.abc import Collection
from pathlib import Path

CACHES = frozenset({"__pycache__", ".cache", ".vite", ".vite-temp", ".vitest"})
"""What tools write among installed dependencies and can do without: a run begins without, and what it leaves is discarded."""


def environment_folders(root: Path, names: Collection[str]) -> tuple[str, ...]:
    """The folders of these names in a tree, at any depth; in one of them no other is looked for."""
    found = []
    for above, folders, _ in os.walk(root):
        at = Path(above).relative_to(root)
        found += [str(at / name) for name in folders if name in names and not Path(above, name).is_symlink()]
        folders[:] = [name for name in folders if name not in names and name != ".git"]
    return tuple(sorted(found))
