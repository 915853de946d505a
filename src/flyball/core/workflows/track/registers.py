"""The pages beside a track: the list of tracks, the index, the log of decisions, known errors and the retrospective.

They belong to the user. A row is added or taken out, a box ticked, an entry appended; everything else stays as it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flyball.core.text.lines import line_end
from flyball.core.text.scrubbing import one_line

DECISION_COLUMNS = ("Date", "Decision", "Source", "Documents Updated", "Commit")
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>.*?)[ \t#]*$")
_NESTED = re.compile(r"[+*}]\)?[+*{]|\([^)]*[+*][^)]*\)[+*{]|\\[1-9]")
"""A quantifier of a quantifier, or a back reference: such a pattern may take for ever."""
LONGEST_PATTERN = 300
LONGEST_TEXT = 4000


def with_completed(text: str, track: str, name: str, date: str, summary: str) -> str:
    """The list of tracks with one taken from the active ones and added to the completed ones; unchanged where it has no such tables."""
    end = line_end(text)
    rows = re.split(r"(?<=\n)", text)
    completed = _table(rows, "complete")
    if completed is None:
        return text
    listed = [place for place in range(*completed) if _cells(rows[place]) and track in _cells(rows[place])[0]]
    new = "" if listed else _row((track, name, date, summary), end)
    active = _table(rows, "active")
    gone = {p for p in range(*active) if _cells(rows[p]) and _is_named(_cells(rows[p])[0], track)} if active else set()
    kept = [row for place, row in enumerate(rows[: completed[1]]) if place not in gone]
    rest = [row for place, row in enumerate(rows[completed[1] :], completed[1]) if place not in gone]
    if new and kept and not kept[-1].endswith("\n"):
        kept[-1] += end
    return "".join((*kept, new, *rest))


def with_ticked(text: str, track: str) -> str:
    """An index with the box of a track ticked."""
    rows = re.split(r"(?<=\n)", text)
    ticked = (
        re.sub(r"^([ \t]*[-*+][ \t]+\[)[ ~](\])", r"\1x\2", row) if _is_named(row, track) else row for row in rows
    )
    return "".join(ticked)


def with_decision(text: str, date: str, decision: str, source: str, documents: Sequence[str], commit: str) -> str:
    """The log of decisions with one more row; a log without a table, or none, gets one."""
    end = line_end(text)
    row = _row((date, decision, source, ", ".join(documents), commit), end)
    rows = re.split(r"(?<=\n)", text)
    if row.strip() in {each.strip() for each in rows}:
        return text
    places = [place for place, each in enumerate(rows) if _cells(each)]
    if not places:
        head = f"{_row(DECISION_COLUMNS, end)}{_row(['---'] * len(DECISION_COLUMNS), end)}"
        before = text if text.strip() else f"# Decision log{end}"
        return f"{before.rstrip()}{end}{end}{head}{row}"
    last = places[-1] + 1
    before = "".join(rows[:last])
    return f"{before if before.endswith(chr(10)) else before + end}{row}{''.join(rows[last:])}"


def _table(rows: Sequence[str], title: str) -> tuple[int, int] | None:
    """The rows of the table below the heading that names it, its head and rule left out."""
    inside = False
    start = 0
    for place, row in enumerate(rows):
        heading = _HEADING.match(row.rstrip("\r\n"))
        if heading:
            if start:
                return start, _last(rows, start, place)
            inside = title in heading["title"].lower()
        elif inside and not start and re.fullmatch(r"[ \t]*\|?[ \t:|-]+\|[ \t:|-]*", row.rstrip("\r\n")) and "-" in row:
            start = place + 1
    return (start, _last(rows, start, len(rows))) if start else None


def _last(rows: Sequence[str], start: int, end: int) -> int:
    return next((place for place in range(start, end) if not _cells(rows[place])), end)


def _cells(row: str) -> list[str]:
    stripped = row.strip()
    return [cell.strip() for cell in stripped.strip("|").split("|")] if stripped.startswith("|") else []


def _row(cells: Iterable[str], end: str) -> str:
    return f"| {' | '.join(one_line(cell).replace('|', '/') for cell in cells)} |{end}"


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
    known: Any = json.loads(text) if text.strip() else {}
    if not isinstance(known, dict) or not isinstance(known.get("errors", []), list):
        return text
    listed: list[Any] = [dict(each) if isinstance(each, dict) else each for each in known.get("errors", [])]
    for entry in entries:
        same = next((e for e in listed if isinstance(e, dict) and e.get("pattern") == entry["pattern"]), None)
        if same is None:
            number = 1 + max((int(n[1]) for e in listed if (n := re.fullmatch(r"err-(\d+)", str(_id(e))))), default=0)
            listed.append({"id": f"err-{number:03d}", **entry, "occurrences": 1, "last_seen": on})
        elif same.get("last_seen") != on or same.get("discovered_in") != entry.get("discovered_in"):
            count = same.get("occurrences")
            same["occurrences"] = (count if isinstance(count, int) else 0) + 1
            same["last_seen"] = on
    if listed == known.get("errors"):
        return text
    return json.dumps({**known, "errors": listed}, indent=2, ensure_ascii=False) + "\n"


def _id(entry: object) -> object:
    return entry.get("id", "") if isinstance(entry, dict) else ""


def as_pattern(text: str) -> str:
    """A text as the pattern that finds it again: its words, with whatever number stood there."""
    words = re.sub(r"\d+", "0", one_line(text))[: LONGEST_PATTERN // 2]
    return re.sub(r"0+", r"[0-9]+", re.escape(words))
