"""The names of modules that environments hold: a new module of the tree that is called so would be found first."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_PLACES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages", "Lib/site-packages")
_METADATA = (".dist-info", ".egg-info", ".data")


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
