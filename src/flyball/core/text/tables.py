"""Tables in a markdown page that belongs to somebody: found by their heads, and given one more row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from flyball.core.text.fences import split_fences
from flyball.core.text.lines import line_end, split_lines
from flyball.core.text.scrubbing import one_line

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>.*?)[ \t#]*$")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*")


class Table(msgspec.Struct, frozen=True):
    """A table: the heading above it and its columns, both in lower case, and the lines of its rows, from 0, the last left out."""

    title: str
    head: tuple[str, ...]
    first: int
    last: int

    def column(self, names: Collection[str]) -> int | None:
        """The place of the first column that has one of these names."""
        return next((place for place, name in enumerate(self.head) if name in names), None)


def tables(text: str) -> tuple[Table, ...]:
    """The tables of a page in their order; what looks like one in a code block is none."""
    lines = split_fences(text.removeprefix("\ufeff")).prose.split("\n")
    found: list[Table] = []
    title = ""
    for place, line in enumerate(lines):
        if heading := _HEADING.match(line):
            title = heading["title"].lower()
        elif cells(line) and place + 1 < len(lines) and cells(lines[place + 1]) and _RULE.fullmatch(lines[place + 1]):
            last = next((end for end in range(place + 2, len(lines)) if not cells(lines[end])), len(lines))
            found.append(Table(title, tuple(cell.lower().strip("*_` ") for cell in cells(line)), place + 2, last))
    return tuple(found)


def cells(line: str) -> list[str]:
    stripped = line.strip()
    return [cell.strip() for cell in stripped.strip("|").split("|")] if stripped.startswith("|") else []


def row(values: Iterable[str], end: str) -> str:
    return f"| {' | '.join(one_line(value).replace('|', '/') for value in values)} |{end}"


def in_column_order(
    head: Sequence[str], columns: Mapping[str, Collection[str]], values: Mapping[str, str]
) -> list[str]:
    """Values in the order of a table's columns, each known by several names; by place where the head has none of them."""
    meant = [next((key for key, names in columns.items() if name in names), "") for name in head]
    return [values.get(key, "") for key in meant] if any(meant) else list(values.values())


def with_row(text: str, table: Table, values: Iterable[str]) -> str:
    """The page with one more row at a table's end."""
    end, lines = line_end(text), split_lines(text)
    before = "".join(lines[: table.last])
    before += "" if before.endswith(("\n", "\r")) else end
    return f"{before}{row(values, end)}{''.join(lines[table.last :])}"
