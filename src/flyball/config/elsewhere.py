"""Projects below the repository's root that no gate of the root covers: a second stack in a monorepo."""

import re
from collections.abc import Iterator

from flyball.config.finding import Installed, Reader, StackFound
from flyball.config.stacks import stacks

_MANIFESTS = frozenset(
    {
        "pyproject.toml",
        "setup.py",
        "package.json",
        "go.mod",
        "Cargo.toml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
    }
    | {"composer.json", "Gemfile"}
)
_OTHERS = re.compile(
    r"\..*|node_modules|vendor|third_party|examples?|fixtures?|testdata|tests?|docs?|templates?|site-packages"
)
_DEEPEST = 3


def projects_elsewhere(
    files: frozenset[str], read: Reader, installed: Installed, covered: frozenset[str]
) -> Iterator[tuple[str, StackFound]]:
    """Each folder with a manifest of a stack that is not among the covered ones, and what is found there."""
    folders = sorted(
        {above for above, _, name in (path.rpartition("/") for path in files) if name in _MANIFESTS and above}
    )
    taken: list[str] = []
    for folder in folders:
        parts = folder.split("/")
        inside = any(folder.startswith(f"{other}/") for other in taken)
        if inside or len(parts) > _DEEPEST or any(map(_OTHERS.fullmatch, parts)):
            continue
        below = frozenset(path.removeprefix(f"{folder}/") for path in files if path.startswith(f"{folder}/"))
        found = [f for f in stacks(below, _reader(read, folder), installed) if f.stack not in covered]
        if found:
            taken.append(folder)
            yield folder, found[0]


def _reader(read: Reader, folder: str) -> Reader:
    return lambda name: read(f"{folder}/{name}")
