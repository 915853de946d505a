"""Finds the issue blocks of a file, however carelessly they are fenced, with the exact place of each.

A block is a header of YAML lines, fenced by `---`, and the body up to the next block. Either fence may be missing: a
header without an opening begins at its `id:`, one without a closing ends where its lines stop looking like YAML. A block
never swallows another: when in doubt a header is a block. What names an issue and is no block is found by `unread`.
Every place is an offset into the text as given, so that an edit can leave all other characters alone.
"""

import re
from collections.abc import Iterator

import msgspec
from msgspec import structs

from flyball.core.text.lines import LINE
from flyball.core.workflows.backlog.values import Deviation

# A Stop hook waits for this module: a pattern that few files need is a text, which `re` compiles when it is first used.
_KEY = re.compile(r"[\"']?([A-Za-z_][\w-]*)[\"']?[ \t]*:(?:[ \t]|$)", re.ASCII)
_LATER_KEY = r"[\"']?[a-z_][a-z0-9_-]*[\"']?:(?:[ \t]|$)"
_ID = r"(?a)['\"]?(?:[A-Za-z][\w-]*@[\w-]+|[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)['\"]?[ \t]*(?:#.*)?"
_TWO_IDS = "it has more than one id; give each issue a header of its own"
_CODE = r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*(.*)"
_HEADING = r"#{1,2}[ \t]+(.*?)[ \t#]*"
SECTIONS = frozenset(
    "acceptance criteria|affected files|context|description|evidence|importance|notes|problem|proposed solution"
    "|references|solution|steps to reproduce|summary|validation plan".split("|")
)
_LONGEST_EXAMPLE = 200


class Block(msgspec.Struct, frozen=True):
    """Where a block is: `start` to `end` with all that belongs to it, its header's text, its body's; `line` is 1-based.

    `fault` says why no issue can be read from its header, if that is known before it is read.
    """

    start: int
    end: int
    header_start: int
    header_end: int
    body_start: int
    line: int
    opened: bool
    closed: bool
    fault: str = ""

    def header(self, text: str) -> str:
        return text[self.header_start : self.header_end]

    def body(self, text: str) -> str:
        """The body without the fences and empty lines that part it from the next block."""
        lines = text[self.body_start : self.end].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        while lines and (not lines[-1].strip() or _is_fence(lines[-1])):
            lines.pop()
        return "\n".join(lines).strip("\n")


class _Header(msgspec.Struct, frozen=True):
    """A header by line numbers: where the block begins, its own lines, and the first line after it."""

    begin: int
    first: int
    last: int
    after: int
    opened: bool
    closed: bool
    fault: str = ""


def scan(text: str, file: str) -> tuple[list[Block], list[Deviation]]:
    return _BlockScanner(text, file).scan()


class _BlockScanner:
    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._length = len(text)
        found = [(match.start(), match[1]) for match in LINE.finditer(text) if match[0] or match.start() == 0]
        self._starts = [start for start, _ in found]
        self._lines = [line for _, line in found]
        self._lines[0] = self._lines[0].removeprefix("\ufeff")
        self._deviations: list[Deviation] = []

    def scan(self) -> tuple[list[Block], list[Deviation]]:
        blocks: list[Block] = []
        current: _Header | None = None
        for header, end in self._headers():
            if current is not None:
                blocks.append(self._block(current, end))
            current = header
        return blocks, self._deviations

    def _headers(self) -> Iterator[tuple[_Header | None, int]]:
        """Each header with the line at which what came before it ends; at the end None."""
        index, code, inside, opening = 0, "", False, 0
        while index < len(self._lines):
            line = self._lines[index]
            marker = _code_marker(line)
            after = 0 if code else self._example(index, marker) if marker else self._comment(index)
            if after:
                index = after
                continue
            header = self._header_at(index) or (None if code or line[:1] != "#" else self._header_below(index))
            if header is not None:
                self._note_fences(header, code)
                if code and self._next_filled(opening + 1) == header.begin:
                    header = structs.replace(header, begin=opening)
                yield header, header.begin
                index, code, inside = header.after, "", True
                continue
            if marker:
                code, opening = _code_state(code, marker), opening if code else index
            if inside and not code and self._is_stray(index):
                self._note(index, f"a heading between issues: {line.strip()[:80]!r}")
                yield None, index
                inside = False
            index += 1
        yield None, len(self._lines)

    def _block(self, header: _Header, end: int) -> Block:
        return Block(
            start=self._place(header.begin),
            end=self._place(end),
            header_start=self._place(header.first),
            header_end=self._place(header.last + 1),
            body_start=self._place(header.after),
            line=header.first + 1,
            opened=header.opened,
            closed=header.closed,
            fault=header.fault,
        )

    def _place(self, index: int) -> int:
        return self._starts[index] if index < len(self._starts) else self._length

    def _header_at(self, index: int) -> _Header | None:
        line = self._lines[index]
        if _is_fence(line):
            first = self._next_filled(index + 1)
            if first < len(self._lines) and (_KEY.match(self._lines[first]) or _is_remark(self._lines[first])):
                return self._extent(index, first, opened=True)
            return None
        return self._extent(index, index, opened=False) if _names_issue(line) else None

    def _header_below(self, index: int) -> _Header | None:
        """The header below a heading that only names its issue, and so belongs to it."""
        below = self._next_filled(index + 1)
        header = self._header_at(below) if below < len(self._lines) else None
        if header is None:
            return None
        ids = (_id_in(line) for line in self._lines[header.first : header.last + 1])
        named = next((id.strip("'\" \t") for id in ids if id), "")
        return structs.replace(header, begin=index) if named and named in self._lines[index] else None

    def _next_filled(self, index: int) -> int:
        while index < len(self._lines) and not self._lines[index].strip():
            index += 1
        return index

    def _extent(self, begin: int, first: int, *, opened: bool) -> _Header | None:
        """How far a header reaches, if it is one: it has an id, or a status and something to go with it."""
        keys: set[str] = set()
        last, index, closed, gap, fault = first, first, False, False, ""
        while index < len(self._lines):
            line = self._lines[index]
            if _is_fence(line):
                closed = True
                break
            key = _KEY.match(line)
            if not line.strip():
                gap = True
            elif not self._belongs(index, gap=gap):
                break
            else:
                if key and key[1].lower() == "id" and "id" in keys:
                    if not opened or self._begins(index):
                        break
                    fault = _TWO_IDS
                last, gap = index, False
                keys |= {key[1].lower()} if key else set()
            index += 1
        if not self._is_header(keys, first, last, opened=opened):
            return None
        after = index + 1 if closed else last + 1
        return _Header(begin, first, last, after, opened=opened, closed=closed, fault=fault)

    def _begins(self, index: int) -> bool:
        """Whether an `id:` begins a header of its own: a status or title follows before the next fence or id."""
        for later in range(index + 1, len(self._lines)):
            key = _KEY.match(self._lines[later])
            name = key[1].lower() if key else ""
            if name in {"id", "status", "title"} or _is_fence(self._lines[later]):
                return name in {"status", "title"}
        return False

    def _is_header(self, keys: set[str], first: int, last: int, *, opened: bool) -> bool:
        """A header has an id and a status or title; fenced, it may also have a status alone or an id that looks like one."""
        if "id" in keys and keys & {"status", "title"}:
            return True
        if not opened:
            return False
        named = "id" in keys and any(_names_issue(line) for line in self._lines[first : last + 1])
        return named or ("status" in keys and bool(keys & {"title", "type", "priority"}))

    def _belongs(self, index: int, *, gap: bool) -> bool:
        """Whether a line goes on with a header: as YAML, or as a broken line of it with more YAML straight after."""
        line = self._lines[index]
        if gap:
            return line[:1] in " \t" or bool(re.match(_LATER_KEY, line))
        if _KEY.match(line) or line.startswith((" ", "\t", "- ", "-\t", "]", "}")) or _is_remark(line):
            return True
        following = self._lines[index + 1] if index + 1 < len(self._lines) else ""
        return line[:1] != "#" and bool(re.match(_LATER_KEY, following) or _is_fence(following))

    def _example(self, index: int, marker: re.Match[str]) -> int:
        """The line after a code block that begins with a header: whether that is an example or an issue nobody can say."""
        first = self._next_filled(index + 1)
        if first >= len(self._lines):
            return 0
        if not _is_fence(self._lines[first]) and _id_in(self._lines[first]) is None:
            return 0
        for later in range(first, min(first + _LONGEST_EXAMPLE, len(self._lines))):
            closing = _code_marker(self._lines[later])
            if closing and not closing[2] and closing[1].startswith(marker[1]):
                return later + 1
        return 0

    def _comment(self, index: int) -> int:
        """The line after a comment that begins here and hides the lines below; 0 where there is none."""
        if not self._lines[index].startswith("<!--") or "-->" in self._lines[index]:
            return 0
        later = range(index + 1, min(index + _LONGEST_EXAMPLE, len(self._lines)))
        return next((number + 1 for number in later if "-->" in self._lines[number]), 0)

    def _is_stray(self, index: int) -> bool:
        """Whether a heading belongs to the file rather than to the issue above it."""
        line = self._lines[index]
        heading = re.fullmatch(_HEADING, line) if line.startswith("#") else None
        return heading is not None and heading[1].rstrip(":").casefold() not in SECTIONS

    def _note_fences(self, header: _Header, code: str) -> None:
        if code:
            self._note(header.begin, "a block begins inside a code fence that was not closed")
        if not header.opened:
            self._note(header.first, "the `---` before the header is missing")
        if not header.closed:
            self._note(header.last, "the `---` after the header is missing")

    def _note(self, index: int, message: str) -> None:
        self._deviations.append(Deviation(self._file, index + 1, message))


def _is_fence(line: str) -> bool:
    return line.startswith("---") and not line.rstrip(" \t").strip("-")


def _is_remark(line: str) -> bool:
    return line.startswith("#") and not line.startswith("##")


def _id_in(line: str) -> str | None:
    name, colon, value = line.partition(":")
    return value.lstrip(" \t") if colon and name.rstrip(" \t").strip("\"'").lower() == "id" else None


def _names_issue(line: str) -> bool:
    id = _id_in(line)
    return id is not None and re.fullmatch(_ID, id) is not None


def _code_marker(line: str) -> re.Match[str] | None:
    return re.fullmatch(_CODE, line) if "```" in line or "~~~" in line else None


def _code_state(code: str, marker: re.Match[str]) -> str:
    """The marker a code block was opened with, or nothing where none is open."""
    if not code:
        return marker[1]
    return "" if not marker[2] and marker[1].startswith(code) else code
