"""The pages beside a track: the list of tracks, the index, the log of decisions, known errors and the retrospective.

They belong to the user. A row is added or taken out, a box ticked, an entry appended; everything else stays as it was written.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from flyball.core.text.fences import split_fences
from flyball.core.text.json_edits import with_value_at, with_values
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
    end, lines = line_end(text), split_lines(text)
    before = "".join(lines[: table.last])
    before += "" if before.endswith(("\n", "\r")) else end
    return f"{before}{row(values, end)}{''.join(lines[table.last :])}"


DECISION_COLUMNS = ("Date", "Decision", "Source", "Documents Updated", "Commit")
_DECISION_COLUMNS = {
    "date": ("date",),
    "decision": ("decision",),
    "source": ("source", "track"),
    "documents": ("documents updated", "documents", "docs updated"),
    "commit": ("commit", "sha"),
}
_TRACK_COLUMNS = {
    "track": ("track id", "id", "track"),
    "name": ("name", "title"),
    "date": ("completed", "date", "completed at"),
    "summary": ("summary", "result"),
}
_NESTED = re.compile(r"[+*}]\)?[+*{]|\([^)]*[+*][^)]*\)[+*{]|\\[1-9]")
"""A quantifier of a quantifier, or a back reference: such a pattern may take for ever."""
LONGEST_PATTERN = 300
LONGEST_TEXT = 4000


def with_completed(text: str, track: str, name: str, date: str, summary: str) -> str:
    """The list of tracks with one taken from the active ones and added to the completed ones; unchanged where it has no such tables."""
    completed = _table(text, "complete")
    if completed is None:
        return text
    if not _places(text, completed, track):
        values = {"track": track, "name": name, "date": date, "summary": summary}
        text = with_row(text, completed, in_column_order(completed.head, _TRACK_COLUMNS, values))
    active = _table(text, "active")
    gone = _places(text, active, track) if active is not None else []
    return "".join(line for place, line in enumerate(split_lines(text)) if place not in gone)


def _table(text: str, word: str) -> Table | None:
    return next((table for table in tables(text) if word in table.title), None)


def _places(text: str, table: Table, track: str) -> list[int]:
    """The lines of a table that are about a track, by the column of its ids."""
    lines, column = split_lines(text), table.column(_TRACK_COLUMNS["track"]) or 0
    rows = ((place, cells(lines[place])) for place in range(table.first, min(table.last, len(lines))))
    return [place for place, cells in rows if len(cells) > column and _is_named(cells[column], track)]


def with_ticked(text: str, track: str) -> str:
    return "".join(
        re.sub(r"^(\ufeff?[ \t]*[-*+][ \t]+\[)[ ~](\])", r"\1x\2", row) if _is_named(row, track) else row
        for row in split_lines(text)
    )


def with_decision(text: str, date: str, decision: str, source: str, documents: Sequence[str], commit: str) -> str:
    """The log of decisions with one more row; a log without such a table, or none, gets one."""
    told = ", ".join(documents)
    values = {"date": date, "decision": decision, "source": source, "documents": told, "commit": commit}
    log = next((table for table in tables(text) if "decision" in table.head), None)
    if log is not None:
        wanted = in_column_order(log.head, _DECISION_COLUMNS, values)
        there = (line.strip() for line in split_lines(text)[log.first : log.last])
        return text if row(wanted, "") in there else with_row(text, log, wanted)
    end = line_end(text)
    rows = (DECISION_COLUMNS, ["---"] * len(DECISION_COLUMNS), values.values())
    before = text if text.removeprefix("\ufeff").strip() else f"{text.strip()}# Decision log{end}"
    return f"{before.rstrip()}{end}{end}{''.join(row(cells, end) for cells in rows)}"


def _is_named(text: str, track: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(track)}(?![\w-])", text) is not None


def matching_errors(entries: Iterable[Mapping[str, str]], failure: str) -> tuple[Mapping[str, str], ...]:
    """Known errors whose pattern is found in a failure, in any case; a pattern that could take for ever is taken by its words."""
    text = failure[:LONGEST_TEXT]
    return tuple(entry for entry in entries if _matches(str(entry.get("pattern", "")), text))


def _matches(pattern: str, text: str) -> bool:
    if not pattern or len(pattern) > LONGEST_PATTERN:
        return False
    if _NESTED.search(pattern):
        return pattern.casefold() in text.casefold()
    try:
        return re.search(pattern, text, re.IGNORECASE) is not None
    except re.error:
        return pattern.casefold() in text.casefold()


def with_errors(text: str, entries: Sequence[Mapping[str, str]], on: str) -> str:
    """knowledge/errors.json with new mistakes added, and those it knows counted once more."""
    text = text if text.removeprefix("\ufeff").strip() else '{\n  "errors": []\n}\n'
    for entry in entries:
        known: Any = json.loads(text.removeprefix("\ufeff"))
        if not isinstance(known, dict) or not isinstance(known.get("errors", []), list):
            return text
        text = _with_error(with_values(text, {} if "errors" in known else {"errors": []}), entry, on)
    return text


def _with_error(text: str, entry: Mapping[str, str], on: str) -> str:
    listed = json.loads(text.removeprefix("\ufeff"))["errors"]
    places = (place for place, e in enumerate(listed) if isinstance(e, dict) and e.get("pattern") == entry["pattern"])
    place = next(places, None)
    if place is None:
        ids = (str(e.get("id", "")) for e in listed if isinstance(e, dict))
        number = 1 + max((int(n[1]) for id in ids if (n := re.fullmatch(r"err-(\d+)", id))), default=0)
        new = {"id": f"err-{number:03d}", **entry, "occurrences": 1, "last_seen": on}
        return with_value_at(text, ("errors", len(listed)), new)
    same = listed[place]
    if same.get("last_seen") == on and same.get("discovered_in") == entry.get("discovered_in"):
        return text
    count = same.get("occurrences")
    text = with_value_at(text, ("errors", place, "occurrences"), (count if isinstance(count, int) else 0) + 1)
    return with_value_at(text, ("errors", place, "last_seen"), on)


def as_pattern(text: str) -> str:
    """A text as the pattern that finds it again: its words, with whatever number stood there."""
    words = re.sub(r"\d+", "0", one_line(text))[: LONGEST_PATTERN // 2]
    return re.sub(r"0+", r"[0-9]+", re.escape(words))
