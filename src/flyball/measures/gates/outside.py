"""Environments outside of the tree that commands use: those of PATH and of the session, and those that commands name."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_SESSION = ("VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH")
_MARKS = ("pyvenv.cfg", "conda-meta")
_PLACE = re.compile(r"(?:~|\$HOME|\$\{HOME\})?/[^\s;&|()\"'`=<>,:]+")
LONGEST = 4096


def outside_environments(texts: Iterable[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The environments that texts of commands and scripts name by whole paths, that PATH leads to, or that the session is in."""
    found = dict.fromkeys(
        place
        for path in (*_named(texts, environment.get("HOME", "/")), *_of_session(environment))
        if (place := _environment_of(path)) is not None
    )
    return tuple(found)


def _named(texts: Iterable[str], home: str) -> Iterator[Path]:
    for text in texts:
        for word in dict.fromkeys(_PLACE.findall(text)):
            if len(word) < LONGEST:
                yield Path(re.sub(r"^(?:~|\$HOME|\$\{HOME\})", lambda _: home, word))


def _of_session(environment: Mapping[str, str]) -> Iterator[Path]:
    names = ("PATH", *_SESSION)
    folders = (folder for name in names for folder in environment.get(name, "").split(os.pathsep))
    yield from (Path(folder) for folder in folders if folder.startswith("/"))


def _environment_of(path: Path) -> Path | None:
    """The environment that a path is in or is itself."""
    for place in (path, *path.parents):
        if place.name == "node_modules" or any((place / mark).exists() for mark in _MARKS):
            return place if place.is_dir() else None
    return None
