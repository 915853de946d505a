"""A patch of git's as pages show it: by file, in hunks, each line with its numbers."""

import re
from itertools import groupby, zip_longest
from typing import Literal

import msgspec

from flyball.core.model.naming import LOOP

MANY_LINES = 400
"""A file of which more is changed is folded."""
LONGEST_LINE = 2000
MOST_LINES = 6000
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")


class Line(msgspec.Struct, frozen=True):
    """One line; `old` and `new` are its numbers, where it has one."""

    kind: Literal["+", "-", " "]
    text: str
    old: int | None = None
    new: int | None = None


class Hunk(msgspec.Struct):
    """Lines that stand together, and how many unchanged ones were left out before them."""

    skipped: int
    heading: str
    lines: list[Line]

    @property
    def pairs(self) -> list[tuple[Line | None, Line | None]]:
        """Side by side: what went beside what came in its place."""
        rows: list[tuple[Line | None, Line | None]] = []
        for unchanged, block in groupby(self.lines, key=lambda line: line.kind == " "):
            found = list(block)
            gone = found if unchanged else [line for line in found if line.kind == "-"]
            came = found if unchanged else [line for line in found if line.kind == "+"]
            rows += zip_longest(gone, came)
        return rows


class FileDiff(msgspec.Struct):
    path: str
    was: str = ""
    change: Literal["changed", "new", "deleted", "renamed"] = "changed"
    binary: bool = False
    hunks: list[Hunk] = []
    added: int = 0
    deleted: int = 0
    cut: bool = False

    @property
    def large(self) -> bool:
        return self.added + self.deleted > MANY_LINES


def files_of(patch: str) -> list[FileDiff]:
    """Every file of a patch; a line of any length is cut, and beyond very many lines only counts go on."""
    files: list[FileDiff] = []
    left = MOST_LINES
    old = new = 0
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            files.append(FileDiff(_path(line)))
            continue
        if not files:
            continue
        here = files[-1]
        found = _HUNK.match(line)
        if found:
            start = int(found[1])
            skipped = max(0, start - max(1, old))
            here.hunks = [*here.hunks, Hunk(skipped, found[5].strip(), [])]
            old, new = start, int(found[3])
        elif here.hunks and line[:1] in {"+", "-", " "}:
            old, new, left = _line(here, line, old, new, left)
        elif not here.hunks:
            _header(here, line)
            old = 0
    return files


def theirs_first(files: list[FileDiff]) -> list[FileDiff]:
    """The work first; the files flyball itself keeps beside it last."""
    return sorted(files, key=lambda file: file.path.startswith(f"{LOOP}/"))


def _line(here: FileDiff, line: str, old: int, new: int, left: int) -> tuple[int, int, int]:
    sign, text = line[0], line[1:]
    removed, added = sign in "- ", sign in "+ "
    here.added += sign == "+"
    here.deleted += sign == "-"
    if left > 0:
        kind: Literal["+", "-", " "] = "+" if sign == "+" else "-" if sign == "-" else " "
        here.hunks[-1].lines.append(Line(kind, text[:LONGEST_LINE], old if removed else None, new if added else None))
    else:
        here.cut = True
    return old + removed, new + added, left - 1


def _header(here: FileDiff, line: str) -> None:
    if line.startswith("new file"):
        here.change = "new"
    elif line.startswith("deleted file"):
        here.change = "deleted"
    elif line.startswith("rename from "):
        here.change, here.was = "renamed", line.removeprefix("rename from ")
    elif line.startswith(("Binary files", "GIT binary patch")):
        here.binary = True
    elif line.startswith("+++ ") and not line.startswith("+++ /dev/null"):
        here.path = line[4:].rstrip("\t").strip('"').removeprefix("b/")


def _path(line: str) -> str:
    """The name after `b/`; where a name has blanks, the two halves are alike."""
    rest = line.removeprefix("diff --git ")
    half = (len(rest) - 1) // 2
    if rest[:half].removeprefix("a/") == rest[half + 1 :].removeprefix("b/"):
        return rest[half + 1 :].removeprefix("b/")
    return rest.rpartition(" ")[2].strip('"').removeprefix("b/")


def find_line(files: list[FileDiff], path: str, number: int) -> Line | None:
    """The line of the newer side with this number; of a deletion the older side's."""
    lines = [line for file in files if file.path == path for hunk in file.hunks for line in hunk.lines]
    newer = (line for line in lines if line.new == number)
    older = (line for line in lines if line.new is None and line.old == number)
    return next(newer, None) or next(older, None)
