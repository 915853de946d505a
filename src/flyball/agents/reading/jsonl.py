"""Goes through what a program printed, line by line, without holding all of it."""

import json
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from flyball.core.text.scrubbing import decode

LONGEST_LINE = 16 * 1024 * 1024
"""A longer line is passed over: no event of interest is as long."""
OTHER_LINES = 200
OTHER_LENGTH = 4_000
LARGEST_FILE = 4 * 1024 * 1024


class Events:
    """The JSON objects of a file with one on each line; each pass reads the file anew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in lines_of(self._path):
            event = as_event(line)
            if event is not None:
                yield event


def as_event(line: bytes) -> dict[str, Any] | None:
    text = line.strip()
    if not text.startswith(b"{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def other_lines(path: Path) -> tuple[str, ...]:
    kept: deque[str] = deque(maxlen=OTHER_LINES)
    for line in lines_of(path):
        if line.strip() and as_event(line) is None:
            kept.append(decode(line.rstrip(b"\r\n"))[:OTHER_LENGTH])
    return tuple(kept)


def files_in(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Those of the named plain files a program left in a folder it could write to, up to a size; no link is followed."""
    return {name: content for name in names if (content := plain_bytes(folder / name, LARGEST_FILE)) is not None}


def plain_bytes(path: str | Path, most: int) -> bytes | None:
    """The beginning of a plain file, or None; no link is followed, and what was swapped for a pipe is not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(fd)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, but for those that are too long; none of a file that is not there."""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        while line := file.readline(LONGEST_LINE):
            if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
