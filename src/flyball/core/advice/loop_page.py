"""Reads a `loop-state.md` that flyball did not write: the history table of an older monitor, row by row (M34)."""

import re
from collections import defaultdict
from collections.abc import Iterator

import msgspec

from flyball.core.advice.batch import BatchResult, Failure, Review, of_batch
from flyball.core.advice.batch_text import read_entries, read_names
from flyball.core.health.observation import Observation
from flyball.core.text.quantities import plural

LONGEST_SPAN = 10_000
_TITLE = re.compile(r"#\s*Loop State\s*", re.IGNORECASE)
_HEADER = re.compile(r"\|?\s*Iter\w*\s*\|\s*Attempted\s*\|\s*Passed\s*\|\s*Failed\s*\|\s*Notes\s*\|?\s*", re.IGNORECASE)
_HISTORY = re.compile(r"#+\s*(?:Batch |Iteration )?History\s*", re.IGNORECASE)
_HEADING = re.compile(r"#+\s")
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"(?<!\\)\|")
_SPAN = re.compile(r"(\d{1,9})\s*[–-]\s*(\d{1,9})")
_MORE = re.compile(r"\s+and \d+ more$")
_KEY = re.compile(r"[-*\s]*(Iteration|Attempted|Passed|Failed|Same-error streak)\W*?:[\s*]*(.*)", re.IGNORECASE)
_STREAK = re.compile(r"(\d{1,9})(?:\s*[—–-]+\s*(.*))?")
_CELLS = 5


class PastRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row of the table; a rollback has no observation."""

    iteration: int
    note: str = ""
    observation: Observation | None = None


class PageUnreadable(ValueError):
    """The page has a row that cannot be read; the message names its line."""


def read_page(text: str) -> tuple[PastRow, ...] | None:
    """The history that a page tells of; None for a text that is no such page."""
    lines = text.split("\n")
    if not any(_TITLE.fullmatch(line) or _is_header(line) for line in lines):
        return None
    told = _fields(lines)
    results = [*_table(lines)]
    last = max((row.iteration for row, _ in results), default=0)
    now = int(told["iteration"][1]) if told["iteration"][1].isdigit() else 0
    cells = [told[key] for key in ("attempted", "passed", "failed")]
    if now > last and any(text for _, text in cells):
        results.append((PastRow(now), _result(cells)))
    return tuple(_observations(_with_streak(results, told)))


def _fields(lines: list[str]) -> defaultdict[str, tuple[int, str]]:
    """What the page says outside its table, by key, with the line; an empty text for what it does not say."""
    found = ((number, _KEY.fullmatch(line.strip())) for number, line in enumerate(lines, 1))
    said = {key[1].lower(): (number, key[2].strip()) for number, key in found if key}
    return defaultdict(lambda: (0, ""), said)


def _table(lines: list[str]) -> Iterator[tuple[PastRow, BatchResult | None]]:
    """The rows of the section History; a line of it that is none is refused, never passed over."""
    for number, line in _section(lines):
        if _is_header(line) or _RULE.fullmatch(line):
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().removeprefix("|"))]
        if len(cells) < _CELLS:
            raise PageUnreadable(
                f"line {number}: {line.strip()[:80]!r} has {plural(len(cells), 'cell')}; expected Iter, Attempted, Passed, Failed, Notes"
            )
        yield from _rows(number, cells[0], cells[1:4], " | ".join(cells[4:]).strip(" |"))


def _section(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines under the heading History, or from the table's header on, up to the next heading, with their numbers."""
    begin = next((n for n, line in enumerate(lines) if _HISTORY.fullmatch(line) or _is_header(line)), len(lines))
    for number, line in enumerate(lines[begin:], begin + 1):
        if _HEADING.match(line) and number > begin + 1:
            return
        if line.strip() and not _HEADING.match(line):
            yield number, line


def _is_header(line: str) -> bool:
    return _HEADER.fullmatch(line.strip()) is not None


def _rows(number: int, place: str, cells: list[str], note: str) -> Iterator[tuple[PastRow, BatchResult | None]]:
    """A row; one that folds several says only that there were so many."""
    if span := _SPAN.fullmatch(place):
        first, last = int(span[1]), int(span[2])
        if not 0 <= last - first < LONGEST_SPAN:
            raise PageUnreadable(f"line {number}: {place!r} is not a range of iterations")
        yield from ((PastRow(each, note), BatchResult()) for each in range(first, last + 1))
    elif not place.isdigit():
        raise PageUnreadable(f"line {number}: {place[:40]!r} is not an iteration; expected a number")
    elif cells[0].upper() == "ROLLBACK":
        yield PastRow(int(place), note), None
    else:
        yield PastRow(int(place), note), _result([(number, cell) for cell in cells])


def _result(cells: list[tuple[int, str]]) -> BatchResult:
    try:
        attempted, passed = (read_names(line, _MORE.sub("", cell)) for line, cell in cells[:2])
        failed = read_entries(*cells[2], {*attempted, *passed})
    except ValueError as error:
        raise PageUnreadable(str(error)) from error
    failures = tuple(Failure(name, "" if _MORE.fullmatch(f" {said}") else said) for name, said in failed)
    return BatchResult(attempted, Review("APPROVED", passed), passed, failures)


def _with_streak(
    rows: list[tuple[PastRow, BatchResult | None]], told: dict[str, tuple[int, str]]
) -> list[tuple[PastRow, BatchResult | None]]:
    """The rows, the last failing ones with the error that the page says was the same in all of them."""
    streak = _STREAK.fullmatch(told["same-error streak"][1])
    left, error = (int(streak[1]), (streak[2] or "").strip()) if streak else (0, "")
    named: list[tuple[PastRow, BatchResult | None]] = []
    for row, result in reversed(rows):
        if result and result.failed and left and error:
            failed = tuple(Failure(one.id, one.error or error) for one in result.failed)
            named.append((row, msgspec.structs.replace(result, failed=failed)))
            left -= 1
        else:
            named.append((row, result))
    return named[::-1]


def _observations(rows: list[tuple[PastRow, BatchResult | None]]) -> Iterator[PastRow]:
    """Each row as the monitor sees it; after a rollback the comparison starts anew."""
    restored = False
    for row, result in rows:
        if result is None:
            yield row
        else:
            seen = of_batch(msgspec.structs.replace(result, restored=restored), row.iteration)
            yield msgspec.structs.replace(row, observation=msgspec.structs.replace(seen, reviewed=True))
        restored = result is None
