"""Walks folders of any depth, makes names in them durable, and finds installed dependencies in a tree."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

CACHES = frozenset(
    "__pycache__ .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .vite .vite-temp .vitest".split()
)
"""Folders that tools write in a tree or among installed dependencies and can do without.

Among dependencies a run begins without, and what it leaves is discarded; in a tree no set-up depends on what they hold, and they are
part of no candidate and no branch, and neither is byte code anywhere.
"""
BYTE_CODE = ("*.pyc", "*.pyo")


def walk(top: str | os.PathLike[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """What `os.walk` gives, from the top down, for folders nested as deep as a path can be: that one calls itself for each level.

    A folder that is taken out of the list is not entered; one that cannot be read is passed over.
    """
    waiting = [os.fspath(top)]
    while waiting:
        above = waiting.pop()
        folders: list[str] = []
        names: list[str] = []
        links: set[str] = set()
        with suppress(OSError), os.scandir(above) as found:
            for entry in found:
                is_folder = False
                with suppress(OSError):
                    is_folder = entry.is_dir()
                (folders if is_folder else names).append(entry.name)
                if entry.is_symlink():
                    links.add(entry.name)
        yield above, folders, names
        waiting += [f"{above}/{name}" for name in reversed(folders) if name not in links]


def environment_folders(root: Path, names: Collection[str]) -> tuple[str, ...]:
    """The folders of these names in a tree, at any depth; in one of them no other is looked for."""
    found = all_environments(root, names)
    return tuple(name for name in found if Path(name).name in names and not (root / name).is_symlink())


def users_environments(root: Path, names: Collection[str]) -> tuple[str, ...]:
    """The environments in a tree that nobody but its user has written: of any name, also links, and where in the tree they lead."""
    found = all_environments(root, names)
    top = root.resolve()
    real = (Path(root, name).resolve() for name in found)
    led_to = (str(place.relative_to(top)) for place in real if place != top and place.is_relative_to(top))
    return tuple(sorted({*found, *led_to}))


def all_environments(root: Path, names: Collection[str]) -> tuple[str, ...]:
    """Folders of these names and links to some, and virtual environments of any name, at any depth but in another one."""
    found = []
    for above, folders, files in walk(root):
        at = Path(above).relative_to(root)
        if "pyvenv.cfg" in files and "bin" in folders and at.parts:
            found.append(str(at))
            folders.clear()
        found += [str(at / name) for name in folders if name in names]
        folders[:] = [name for name in folders if name not in names and name != ".git"]
    return tuple(sorted(found))


def sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def make_directory(path: Path) -> None:
    """Make a folder only its owner can read, with its parents, and make their names durable."""
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync_directory(path.parent)
