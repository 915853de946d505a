"""Environments outside of the tree that commands use: those of PATH and of the session, and those that commands name."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_PLACE = re.compile(r"(?:~|\$HOME|\$\{HOME\})?/[^\s;&|()\"'`=<>,:]+")
LONGEST = 4096


def outside_environments(texts: Iterable[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The environments that texts of commands and scripts name by whole paths, that PATH leads to, or that the session is in."""
    home = environment.get("HOME", "/")
    named = dict.fromkeys(word for text in texts for word in _PLACE.findall(text) if len(word) < LONGEST)
    paths = [re.sub(r"^(?:~|\$HOME|\$\{HOME\})", lambda _: home, word) for word in named]
    for name in ("PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH"):
        paths += [folder for folder in environment.get(name, "").split(os.pathsep) if folder.startswith("/")]
    return tuple(dict.fromkeys(place for path in paths if (place := _environment_of(Path(path))) is not None))


def _environment_of(path: Path) -> Path | None:
    """The environment that a path is in or is itself."""
    for place in (path, *path.parents):
        if place.name == "node_modules" or any((place / mark).exists() for mark in ("pyvenv.cfg", "conda-meta")):
            return place if place.is_dir() else None
    return None
