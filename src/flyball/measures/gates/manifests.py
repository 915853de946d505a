"""What an environment was installed from: the set-up command and the files that say what is to be installed."""

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from flyball.core.model.task import Settings
from flyball.core.text.manifests import is_manifest
from flyball.folders import walk

_CACHES = frozenset({"__pycache__", ".cache", ".vite", ".vitest", ".pytest_cache", ".bin-cache"})
LARGEST = 4 * 1024 * 1024
"""Bytes of a manifest that is still read."""
LONGEST = 400
_BETWEEN = re.compile(r"[\s;&|()\"'`=<>,{}\[\]$]+")


def installed_from(folder: Path, settings: Settings) -> str:
    """A hash of the set-up command, of every manifest and lock file in a tree, and of what those include or the command names.

    Another one wants another environment.
    """
    digest = hashlib.sha256(settings.setup.encode())
    files = {str(path.relative_to(folder)) for path in files_in(folder, (*settings.environment_folders, ".git"))}
    for name in sorted(_wanted(folder, files, settings.setup)):
        digest.update(os.fsencode(name) + b"\0" + (folder / name).read_bytes())
    return digest.hexdigest()


def _wanted(folder: Path, files: set[str], command: str) -> set[str]:
    """Manifests, and transitively each file of the tree that one of them or the set-up command names."""
    waiting = {name for name in files if is_manifest(name)} | _named(command, "", files)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        path = folder / name
        if name in found or path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        found.add(name)
        # A lock file includes nothing, and what a manifest of code names is code.
        if path.suffix in {".txt", ".in", ".sh", ".toml", ".cfg", ""}:
            waiting |= _named(path.read_text("utf-8", "replace"), str(PurePosixPath(name).parent), files) - found
    return {name for name in found if not name.endswith((".py", ".md", ".rst")) or is_manifest(name)}


def _named(text: str, beside: str, files: set[str]) -> set[str]:
    plain = (re.sub(r"^-[rc](?=[\w./])", "", word) for word in _BETWEEN.split(text) if word and len(word) < LONGEST)
    words = {os.path.normpath(word) for word in plain}
    return files & (words | {os.path.normpath(f"{beside}/{word}") for word in words if beside})


def files_in(folder: Path, without: Collection[str] = ()) -> list[Path]:
    """All files below a folder but those in caches and in folders of these names."""
    found = []
    for above, folders, names in walk(folder):
        folders[:] = [f for f in folders if f not in _CACHES and f not in without]
        found += [Path(above, name) for name in names]
    return found
