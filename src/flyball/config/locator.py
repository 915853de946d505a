"""Finds the line on which each key of a TOML text stands; the text must be one that `tomllib` has accepted."""

import tomllib
from collections.abc import Iterator
from typing import Any

Key = str | int
"""A name, or the place in a list, counted from 0."""
Path = tuple[Key, ...]

_LONGEST = 1000
"""Lines of one statement; what follows a longer one is out of reach, because each of its lines is tried as its end."""
_DEEPEST = 64
"""Names of a path that are kept: each is kept with all before it."""


def line_of(text: str, path: Path) -> int:
    """The line of a key; of the nearest table around it where it is not in the text; 1 where there is none."""
    known = lines(text)
    return next((known[path[:length]] for length in range(len(path), 0, -1) if path[:length] in known), 1)


def lines(text: str) -> dict[Path, int]:
    """The line, counted from 1, on which the statement begins that has a table, a key or a list's entry."""
    found: dict[Path, int] = {}
    lengths: dict[Path, int] = {}
    table: Path = ()
    for line, chunk, statement in _statements(text):
        if not chunk.lstrip().startswith("["):
            for path in _paths(statement, table):
                found.setdefault(path, line)
            continue
        table, named = (), statement
        while named and len(table) < _DEEPEST:
            if isinstance(named, list):
                lengths[table] = lengths.get(table, 0) + 1
                table, named = (*table, lengths[table] - 1), None
            else:
                # Of a list of tables, a header means the last.
                [(name, named)] = named.items()
                table = (*table, lengths[table] - 1, name) if table in lengths else (*table, name)
            found.setdefault(table, line)
    return found


def _statements(text: str) -> Iterator[tuple[int, str, Any]]:
    """Each header and each pair alone: its first line, its text and what that means."""
    chunk, first = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        chunk += f"{line}\n"
        try:
            statement = tomllib.loads(chunk)
        except tomllib.TOMLDecodeError:
            if number - first == _LONGEST:
                return
            continue
        if statement:
            yield first, chunk, statement
        chunk, first = "", number + 1


def _paths(value: Any, above: Path) -> Iterator[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner if len(above) < _DEEPEST else ():
        yield (*above, key)
        yield from _paths(below, (*above, key))
