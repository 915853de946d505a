"""New files with the name of a module of Python's own or of the environment: whoever imports that name may find them first."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from flyball.measures.sources import looks_like_test

_PLACES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages", "Lib/site-packages")
_METADATA = (".dist-info", ".egg-info", ".data")
_STANDARD = frozenset(name.casefold() for name in sys.stdlib_module_names)
_STARTING = frozenset({"sitecustomize", "usercustomize"})
"""What Python imports before anything else, wherever it finds it; no installation has it."""
_MODULES = (".py", ".so", ".pyd")


def is_shadow(path: str, files: frozenset[str], installed: frozenset[str] = frozenset()) -> bool:
    """Whether a new file may be imported in place of another module; `installed` are those of the environment, case-folded."""
    if not path.casefold().endswith(_MODULES):
        return False
    # The folder a module is imported from, and the name of it or of the package it lies in.
    parts = PurePosixPath(path).parts
    top = next(
        (at for at in range(len(parts) - 1) if "/".join((*parts[: at + 1], "__init__.py")) in files), len(parts) - 1
    )
    root, name = "/".join(parts[:top]) or ".", parts[top].split(".")[0]
    return name.casefold() in _STARTING or (root in _roots(files) and name.casefold() in _STANDARD | installed)


@lru_cache(maxsize=2)
def _roots(files: frozenset[str]) -> frozenset[str]:
    """The folders that modules are imported from when tests run, as far as names tell."""
    return frozenset({".", "src", "lib"} | {str(PurePosixPath(f).parent) for f in files if looks_like_test(f)})


def installed_modules(environments: Iterable[Path], commands: str, path: str) -> frozenset[str]:
    """The top names in environment folders and where the programs of commands are installed, case-folded."""
    prefixes = dict.fromkeys((*environments, *_prefixes(commands, path)))
    places = dict.fromkeys(
        place for prefix in prefixes for pattern in _PLACES for place in sorted(prefix.glob(pattern))
    )
    found = {name for place in places for name in _names(place)}
    return frozenset(name.casefold() for name in found)


def _prefixes(commands: str, path: str) -> Iterator[Path]:
    """Where the programs that commands name are installed; a virtual environment cannot see what its base interpreter has."""
    try:
        words = shlex.split(commands, comments=True)
    except ValueError:
        words = commands.split()
    for word in dict.fromkeys(words):
        program = shutil.which(word, path=path) if word and not word.startswith("-") else None
        if program and Path(program).parent.name == "bin":
            yield Path(program).parent.parent


def _names(place: Path) -> set[str]:
    """The modules and packages of one folder of them, without those that the project itself has installed there."""
    with os.scandir(place) as found:
        entries = [entry.name for entry in found]
    own = {name for entry in entries if entry.endswith(".dist-info") for name in _of_project(place / entry)}
    modules = {entry.partition(".")[0] for entry in entries if not entry.endswith((*_METADATA, ".pth"))}
    return {name for name in modules - own if name.isidentifier() and name != "__pycache__"}


def _of_project(metadata: Path) -> set[str]:
    """The top names of a distribution that was installed from a folder; none for one that was downloaded."""
    with suppress(OSError):
        if "dir_info" in (metadata / "direct_url.json").read_text("utf-8", "replace"):
            lines = (metadata / "RECORD").read_text("utf-8", "replace").splitlines()
            return {line.partition(",")[0].partition("/")[0].partition(".")[0] for line in lines}
    return set()
