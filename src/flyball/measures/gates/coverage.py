"""Reads what a gate's run says of line coverage, Cobertura XML or lcov, and holds it against what the task changed."""

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from flyball.core.model.measurement import Coverage
from flyball.core.model.task import Commit
from flyball.folders import walk
from flyball.measures.gates.junit import ReportUnreadable, TreeIndex, check_shape
from flyball.measures.sources import looks_like_test
from flyball.ports import Trees

PLACEHOLDER = "{coverage}"
LARGEST = 64 * 1024 * 1024
"""Bytes of coverage files that are still read."""
MOST = 1_000
"""Files of a report that is a folder, and changed files whose lines are compared."""
_HIT = re.compile(rb"DA:(\d{1,9}),(-?\d{1,18})(?:,.*)?")
_NUMBER = re.compile(r"-?\d{1,18}")

Lines = dict[int, bool]
"""Which lines can be run, and whether each was."""
Covered = dict[str, Lines]


class CoverageUnreadable(Exception):
    """A coverage file is there but says nothing that can be used."""


def read_coverage(path: Path, index: TreeIndex) -> Covered:
    """The lines of the tree's files that could run, and those that did; files that are not of the tree do not count."""
    found: Covered = {}
    place: dict[tuple[str, ...], str] = {}
    for file in _files(path):
        data = file.read_bytes()
        read = _cobertura(data) if data.lstrip()[:1] == b"<" else _lcov(data)
        for names, line, hit in read:
            if names not in place:
                place[names] = next((known for name in names if (known := index.path(name))), "")
            if place[names]:
                lines = found.setdefault(place[names], {})
                lines[line] = lines.get(line, False) or hit
    if not found:
        raise CoverageUnreadable("it tells of no line of any file of the tree")
    return found


def _files(path: Path) -> list[Path]:
    """The file itself, or every coverage file below it where the command made it a folder."""
    files = [path]
    if path.is_dir() and not path.is_symlink():
        every = (Path(above, name) for above, _, names in walk(path) for name in names)
        files = sorted(file for file in every if file.name.endswith((".xml", ".info", ".lcov")))
        # Runners that write a folder put the same numbers into several files; Clover's XML is not Cobertura's.
        plain = [file for file in files if file.suffix != ".xml"]
        files = plain or [file for file in files if file.name != "clover.xml"]
    if not files or len(files) > MOST or not all(stat.S_ISREG(file.lstat().st_mode) for file in files):
        raise CoverageUnreadable(f"it is not a regular file, or a folder without one or with more than {MOST}")
    if sum(file.lstat().st_size for file in files) > LARGEST:
        raise CoverageUnreadable(f"it is larger than {LARGEST // 1024 // 1024} MiB")
    return files


def _lcov(data: bytes) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    names: tuple[str, ...] = ()
    for line in data.splitlines():
        if line.startswith(b"SF:"):
            names = (os.fsdecode(line[3:].strip()).removeprefix("./"),)
        elif line.startswith(b"end_of_record"):
            names = ()
        elif names and (hit := _HIT.fullmatch(line.strip())):
            yield names, int(hit[1]), int(hit[2]) > 0


def _cobertura(data: bytes) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    try:
        check_shape(data)
    except ReportUnreadable as error:
        raise CoverageUnreadable(str(error)) from error
    report = ET.fromstring(data)  # noqa: S314 - entities were refused
    if report.tag != "coverage" or "line-rate" not in report.attrib:
        raise CoverageUnreadable("it is XML, but not Cobertura's")
    sources = [(each.text or "").strip() for each in report.iter("source")]
    for each in report.iter("class"):
        names = _places(each.get("filename", ""), sources)
        for line in each.iter("line") if names else ():
            number, hits = line.get("number", ""), line.get("hits", "")
            if _NUMBER.fullmatch(number) and _NUMBER.fullmatch(hits):
                yield names, int(number), int(hits) > 0


def _places(filename: str, sources: list[str]) -> tuple[str, ...]:
    """Where a class may lie: below one of the sources, or as it is named."""
    if not filename or filename.startswith("/"):
        return (filename,) if filename else ()
    return (*(f"{source.rstrip('/')}/{filename}" for source in sources[:100] if source), filename)


def merge_coverage(parts: Iterable[Covered | None]) -> Covered:
    found: Covered = {}
    for part in parts:
        for path, lines in (part or {}).items():
            known = found.setdefault(path, {})
            for line, hit in lines.items():
                known[line] = known.get(line, False) or hit
    return found


def measure_coverage(covered: Covered, workspace: Trees, base: Commit, tree: Commit) -> Coverage | None:
    """How much of the tree's lines ran, and of those product lines the task added or changed; None without any number."""
    if not covered:
        return None
    changed = {path for _, path in workspace.changed_files(base, tree)}
    ours = [path for path in sorted(covered) if path in changed and not looks_like_test(path)][:MOST]
    new = [hit for path in ours for hit in _hits_within(covered[path], workspace.added_lines(base, tree, path))]
    every = [hit for lines in covered.values() for hit in lines.values()]
    return Coverage(len(every), sum(every), len(new), sum(new))


def _hits_within(lines: Mapping[int, bool], added: Iterable[tuple[int, int]]) -> Iterator[bool]:
    """The runnable lines within spans, each given by its first line and its length."""
    spans = sorted(added)
    for line, hit in lines.items():
        first, length = spans[at] if (at := bisect_right(spans, (line, LARGEST)) - 1) >= 0 else (0, 0)
        if first <= line < first + length:
            yield hit
