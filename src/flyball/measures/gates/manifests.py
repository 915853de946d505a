"""What an environment was installed from: the set-up command and the files that say what is to be installed."""

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

from flyball.core.model.task import Settings
from flyball.core.text.manifests import is_manifest

_CACHES = frozenset({"__pycache__", ".cache", ".vite", ".vitest", ".pytest_cache", ".bin-cache"})


def installed_from(folder: Path, settings: Settings) -> str:
    """A hash of the set-up command and of every manifest and lock file in a tree; another one wants another environment."""
    digest = hashlib.sha256(settings.setup.encode())
    for path in sorted(files_in(folder, settings.environment_folders)):
        if is_manifest(path.name) and path.is_file() and not path.is_symlink():
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def files_in(folder: Path, without: Collection[str] = ()) -> list[Path]:
    """All files below a folder but those in caches and in folders of these names."""
    found = []
    for above, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in _CACHES and f not in without]
        found += [Path(above, name) for name in names]
    return found
