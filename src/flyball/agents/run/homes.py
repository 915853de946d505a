"""Where a program keeps its settings, logins and conversations, so that a sandbox can show them to it."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_STANDARD = {
    ".config": "XDG_CONFIG_HOME",
    ".local/share": "XDG_DATA_HOME",
    ".local/state": "XDG_STATE_HOME",
    ".cache": "XDG_CACHE_HOME",
}


def below(folders: Iterable[str], *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for folder in folders for name in names)


def home_paths(names: Sequence[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders, made where they are missing, and the files that are there."""
    found = []
    for path in _locate_all(names, environment):
        if not path.exists() and not path.suffix:
            with suppress(OSError):
                path.mkdir(mode=0o700, parents=True)
        if path.exists():
            found.append(path.resolve())
    return tuple(found)


def known_paths(names: Sequence[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Those of the paths that are there, without what lies in another of them."""
    there = {path.resolve() for path in _locate_all(names, environment) if path.exists()}
    return tuple(sorted(path for path in there if not any(above in there for above in path.parents)))


def guarded_paths(names: Sequence[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Those of the paths that are there; a missing TOML file is made empty, so that its program does not make it in the sandbox."""
    for path in _locate_all(names, environment):
        if path.suffix == ".toml" and not os.path.lexists(path):
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.touch(mode=0o600)
    return tuple(path for path in _locate_all(names, environment) if path.exists())


def set_aside(
    names: Sequence[str], environment: Mapping[str, str], before: Sequence[Path], into: Path
) -> tuple[str, ...]:
    """Move away what was put where nothing was before and programs outside the sandbox would obey it; a sentence for each."""
    told = []
    for path in (path for path in _locate_all(names, environment) if path not in before and _says_something(path)):
        target = into / "planted" / path.name
        try:
            target.parent.mkdir(exist_ok=True)
            shutil.move(path, target)
            told.append(f"{path} was made by the agent and would be obeyed outside the sandbox; it is now {target}")
        except OSError as error:
            told.append(f"{path} was made by the agent and would be obeyed outside the sandbox; remove it ({error})")
    return tuple(told)


def _says_something(path: Path) -> bool:
    """Whether there is more than an empty folder, which programs make for themselves."""
    if path.is_dir() and not path.is_symlink():
        return any(path.iterdir())
    return os.path.lexists(path)


def locate(name: str, environment: Mapping[str, str]) -> Path | None:
    """Where a name below HOME, or "$NAME/…" below a variable's folder, lies; None if the variable is not set."""
    if name.startswith("$"):
        variable, _, rest = name[1:].partition("/")
        folder = environment.get(variable, "")
        return Path(folder) / rest if folder.startswith("/") else None
    for standard, variable in _STANDARD.items():
        folder = environment.get(variable, "")
        if folder.startswith("/") and (name == standard or name.startswith(f"{standard}/")):
            return Path(folder) / name[len(standard) :].lstrip("/")
    home = environment.get("HOME", "")
    return Path(home) / name if home.startswith("/") else None


def _locate_all(names: Sequence[str], environment: Mapping[str, str]) -> list[Path]:
    return [path for name in names if (path := locate(name, environment)) is not None]
