"""Finds the checkboxes of a markdown file line by line, on bytes, so that the one byte of a mark has a known place.

Fences follow CommonMark's closing rule. What stands in a fence or in a comment is an example, not an entry.
"""

import re

import msgspec

from flyball.core.text.scrubbing import one_line, storable
from flyball.core.workflows.plan.sources.values import MAX_DETAILS, MAX_TEXT, PlanDefect

BOM = b"\xef\xbb\xbf"
TICKED = frozenset("xX")
_BULLET = rb"(?:[-*+]|\d{1,9}[.)])[ \t]+"
_BOX = re.compile(rb"([ \t]*)" + _BULLET + rb"\[([ xX~\-!?>/<=+.*#@$%&])\](\\?\*)?(?![(\[:])(.*)", re.DOTALL)
_LIKE_BOX = re.compile(
    rb"[ \t]*" + _BULLET + rb"(\[(?:[ \t]*|[ \t]+[xX][ \t]*|[xX][ \t]+|[ \t]*(?:\xe2\x9c\x93|\xe2\x9c\x94|\xe2\x9c\x85)[^\]]?[ \t]*)\])"
    rb"(?![(\[:])"
)  # fmt: skip
_LIST = re.compile(rb"[ \t]*" + _BULLET + rb"(.*)", re.DOTALL)
_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*", re.DOTALL)
_FENCE = re.compile(rb"[ \t]*(?:" + _BULLET + rb")?(`{3,}(?=[^`]*$)|~{3,})", re.DOTALL)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_CODE_SPAN = re.compile(rb"`[^`]*`")
_TAB = 4


class HeadedSection(msgspec.Struct):
    """A heading with the lines below it that belong to no box; `above` are the headings it stands under."""

    level: int = 0
    title: str = ""
    line: int = 0
    above: tuple[str, ...] = ()
    lines: list[str] = []
    fenced: list[str] = []


class Box(msgspec.Struct):
    """A box: the place of its mark in the file, the text after it, and what is indented below it."""

    line: int
    place: int
    mark: str
    indent: int
    text: str
    section: HeadedSection
    optional: bool = False
    parent: int = -1
    details: list[str] = []


class Scan(msgspec.Struct):
    """All boxes of a file in their order, and all headings; `hidden` are the lines of boxes in fences and comments."""

    boxes: list[Box] = []
    sections: list[HeadedSection] = []
    defects: list[PlanDefect] = []
    hidden: list[int] = []


def scan(raw: bytes) -> Scan:
    """Read a file in one pass. Only a newline ends a line: `splitlines` would also split at form feeds."""
    scanner = _Scanner()
    place = 0
    for number, line in enumerate(raw.split(b"\n"), start=1):
        mark = len(BOM) if number == 1 and line.startswith(BOM) else 0
        scanner.take(number, place + mark, line[mark:].removesuffix(b"\r"))
        place += len(line) + 1
    return scanner.finish()


def plain(text: str | bytes) -> str:
    """Text as it may be stored: one line, no control characters."""
    return one_line(storable(text if isinstance(text, str) else text.decode("utf-8", "replace")))[:MAX_TEXT]


class _Scanner:
    def __init__(self) -> None:
        self._scan = Scan(sections=[HeadedSection()])
        self._open: list[int] = []
        self._fence: tuple[bytes, int] | None = None
        self._comment = 0
        self._gap = True

    def take(self, number: int, place: int, line: bytes) -> None:
        if self._fence or self._comment:
            self._hide(number, line)
        elif fence := _FENCE.match(line):
            self._fence = (fence[1], number)
        elif heading := _HEADING.fullmatch(line):
            self._head(number, heading)
        elif box := _BOX.fullmatch(line):
            self._box(number, place, box)
        elif not _COMMENT.sub(b"", line).strip():
            self._gap = True
        elif self._opens_comment(line):
            self._comment = number
        else:
            self._text(number, line)

    def finish(self) -> Scan:
        opened = self._fence[1] if self._fence else self._comment
        lost = [line for line in self._scan.hidden if opened and line > opened]
        if lost:
            what = "fence" if self._fence else "comment"
            self._scan.defects.append(
                PlanDefect(opened, f"this {what} is not closed, and hides the box in line {lost[0]}; expected its end", fatal=True)
            )  # fmt: skip
        return self._scan

    def _hide(self, number: int, line: bytes) -> None:
        if _BOX.fullmatch(line):
            self._scan.hidden.append(number)
        if self._comment:
            self._comment = 0 if b"-->" in line else self._comment
            return
        assert self._fence is not None
        bare, mark = line.strip(), self._fence[0]
        if len(bare) >= len(mark) and not bare.strip(mark[:1]):
            self._fence = None
        else:
            self._scan.sections[-1].fenced.append(plain(line))

    @staticmethod
    def _opens_comment(line: bytes) -> bool:
        bare = _CODE_SPAN.sub(b"", line)
        begun = bare.rfind(b"<!--")
        return begun >= 0 and b"-->" not in bare[begun + 2 :]

    def _head(self, number: int, heading: re.Match[bytes]) -> None:
        level, sections = len(heading[1]), self._scan.sections
        above = [each for each in sections[1:] if each.level < level]
        chain: list[HeadedSection] = []
        for each in reversed(above):
            if not chain or each.level < chain[-1].level:
                chain.append(each)
        titles = tuple(each.title for each in reversed(chain))
        sections.append(HeadedSection(level, plain(heading[2] or b"").strip("*_ "), number, titles))
        self._open.clear()
        self._gap = True

    def _box(self, number: int, place: int, found: re.Match[bytes]) -> None:
        indent = _width(found[1])
        self._close(indent)
        parent = self._open[-1] if self._open else -1
        text = plain(found[4])
        box = Box(
            number, place + found.start(2), found[2].decode(), indent, text, self._scan.sections[-1],
            found[3] is not None, parent,
        )  # fmt: skip
        self._open.append(len(self._scan.boxes))
        self._scan.boxes.append(box)
        self._gap = False
        self._comment = number if self._opens_comment(found[4]) else 0

    def _text(self, number: int, line: bytes) -> None:
        if like := _LIKE_BOX.match(line):
            message = f"{like[1].decode('utf-8', 'replace')} is not read as a box; expected [ ] or [x]"
            self._scan.defects.append(PlanDefect(number, message, fatal=True))
        item = _LIST.fullmatch(line)
        if item or self._gap:
            self._close(_width(line[: len(line) - len(line.lstrip(b" \t"))]))
        text = plain(item[1] if item else line)
        if not self._open:
            self._scan.sections[-1].lines.append(text)
        else:
            self._describe(self._scan.boxes[self._open[-1]], text, anew=bool(item) or self._gap)
        self._gap = False

    @staticmethod
    def _describe(box: Box, text: str, *, anew: bool) -> None:
        """Add a line below a box: a point of its own, or the rest of the one before."""
        if anew and len(box.details) < MAX_DETAILS:
            box.details.append(text)
        elif not anew and box.details:
            box.details[-1] = f"{box.details[-1]} {text}"[:MAX_TEXT]
        elif not anew:
            box.text = f"{box.text} {text}".strip()[:MAX_TEXT]

    def _close(self, indent: int) -> None:
        """A line as far left as a box, or further, is not part of it."""
        while self._open and self._scan.boxes[self._open[-1]].indent >= indent:
            self._open.pop()


def _width(blanks: bytes) -> int:
    width = 0
    for byte in blanks:
        width = width + 1 if byte == 0x20 else (width // _TAB + 1) * _TAB
    return width
