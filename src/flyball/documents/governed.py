"""Which unfinished tasks work in a tree, as small files in flyball's own folder.

A hook reads them in a few milliseconds, so this module needs no more than the standard library. They are rendered from the
journal; losing them loses nothing.
"""

import json
import os
from contextlib import suppress
from typing import Any

from flyball.documents.own_files import key_of

FOLDER = "trees"


def govern(home: str, tree: str, task: str, *, verdict: str, lock: str) -> None:
    """Write down the verdict on the task that works in a tree; `lock` is the file its controller holds."""
    folder = _folder(home, tree)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    fresh = os.path.join(folder, f".{task}.new")
    with open(fresh, "w", encoding="utf-8") as file:
        file.write(f'{{"lock": {json.dumps(lock)}, "verdict": {verdict.strip()}}}\n')
    os.rename(fresh, os.path.join(folder, f"{task}.json"))


def release(home: str, tree: str, task: str) -> None:
    """The task is over: it governs nothing any more."""
    folder = _folder(home, tree)
    with suppress(OSError):
        os.unlink(os.path.join(folder, f"{task}.json"))
        os.rmdir(folder)


def governing(home: str, start: str) -> list[dict[str, Any]]:
    """What was written down of the innermost tree around `start` that a task works in, the last written first."""
    path = os.path.realpath(start)
    while True:
        found = _read(_folder(home, path))
        above = os.path.dirname(path)
        if found or above == path:
            return found
        path = above


def _folder(home: str, tree: str) -> str:
    return os.path.join(home, FOLDER, key_of(os.path.realpath(tree)))


def _read(folder: str) -> list[dict[str, Any]]:
    try:
        paths = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".json")]
    except OSError:
        return []
    found = []
    for path in sorted(paths, key=_written_at, reverse=True):
        with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            content = json.load(file)
            if isinstance(content, dict) and isinstance(content.get("verdict"), dict):
                found.append(content)
    return found


def _written_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
