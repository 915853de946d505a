"""Accounts for every line of an issue file that is in no header: what names an issue there must be known or finished.

An issue can be written in more ways than a parser knows: in a code fence, behind a comment, as an item of a list, as a row of a
table, as a heading with a bold status. None of them is guessed at. What stands together (a row, an entry with the lines below it, a
paragraph, a heading with its paragraphs) is accounted for when

- it says in plain words that the issue is finished: `status: completed`, a ticked box, a cell or a last word that is final; or
- it only mentions an issue that a block or the history knows; or
- it stands in the body of a block, which may mention others, and does not look open.

Everything else is unread: it is told with its line, it forbids DONE, and the block above it ends where it begins, so that
nothing moves it.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from flyball.core.text.lines import LINE
from flyball.core.workflows.backlog.issues import words
from flyball.core.workflows.backlog.issues.blocks import SECTIONS, Block
from flyball.core.workflows.backlog.values import FINAL, Status

_HINT = re.compile(r"(?i)\bid\b|\bstat(?:us|e)\b|\w-[0-9]|\w@\w|\|")
_RULE = re.compile(r"[ \t]*-{3,}[ \t]*")
_SHELL = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,}|<!--)")
_FIELD = re.compile(
    r"(?i)(?:^[ \t>*+\-_\"'({\[|,#]*|[{,|][ \t]*[\"'*_]*)(id|title|stat(?:us|e))[\"'*_`]*[ \t]*[:=|][ \t*_\"'`]*([^\r\n]*)"
)
_LABEL = re.compile(r"[ \t>*+_\"'-]*[A-Za-z][A-Za-z _-]{1,30}[*_\"']*:")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+(.*?)[ \t#:]*")
_BULLET = re.compile(r"([ \t>]*)(?:[-*+]|[0-9]{1,4}[.)])[ \t]+\S")
_BOX = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+\[([ xX~!/-]?)\][ \t]*(.*)|[ \t>*+-]*([\u2610\u2b1c])(.*)")
_OPEN_WORD = re.compile(
    r"(?i)(?<![\w-])(?:proposed|in[- _]progress|open|todo|to-do|wip|pending|blocked|deferred|unresolved|not started)(?![\w-])"
)
_OPENER = re.compile(r"[ \t>-]*(?:\+{3,}|[\w\"' -]+:|[\[{]+)[ \t]*")
_ID_COLUMN = frozenset({"id", "issue", "issue id", "ticket", "key", "#"})


class Unread(msgspec.Struct, frozen=True):
    """A place that names an issue and cannot be read: where it begins, its line, and what it looks like."""

    start: int
    line: int
    message: str


class _Line(msgspec.Struct, frozen=True):
    """A line outside all headers: its block if it is in a body, and where its fence or comment begins.

    `apart` is what stands in no body, or below a rule in one; `keys` are the fields of an issue that it gives.
    """

    start: int
    number: int
    text: str
    own: str | None
    shell: int | None
    apart: bool
    keys: dict[str, str] = {}
    row: list[str] = []


def find_unread(
    text: str, blocks: Sequence[Block], ids: Sequence[str], known: words.KnownIssues, *, mentions: bool = True
) -> list[Unread]:
    """The places of a file that are not accounted for; `ids` are those of its blocks, empty for one that cannot be read.

    A file that only explains something may mention whatever it likes: without `mentions` it is asked as the body of a block.
    """
    if not _HINT.search(words.bare(text)):
        return []
    lines = _outer_lines(words.plain(text), blocks, ids)
    return list(_Account(lines, known, mentions=mentions).unread())


def trim(text: str, block: Block, unread: Sequence[Unread]) -> Block:
    """The block up to the first thing in its body that is not its own, and without a rule that may be the end of one above."""
    inside = (each.start for each in unread if block.body_start <= each.start < block.end)
    own = replace(block, end=min(inside, default=block.end))
    above = any(each.start < block.start for each in unread)
    shared = above and re.search(r"\S[ \t]*(?:\r\n|\n|\r)\Z", text[max(block.start - 200, 0) : block.start])
    return replace(own, start=block.header_start) if shared else own


def _outer_lines(text: str, blocks: Sequence[Block], ids: Sequence[str]) -> list[_Line]:
    """The lines that are in no header, each with the id of the block in whose body it stands."""
    lines: list[_Line] = []
    bodies = iter([*zip(blocks, ids, strict=True), (None, "")])
    block, id = next(bodies)
    opened, shell, ruled = "", None, False
    for number, match in enumerate(LINE.finditer(text), start=1):
        while block is not None and match.start() >= block.end:
            block, id = next(bodies)
            opened, shell = "", None
        if block is not None and block.start <= match.start() < block.body_start:
            opened, shell, ruled = "", None, False
            continue
        own = id if block is not None and match.start() >= block.body_start else None
        closes = bool(opened) and (opened in match[1] if opened == "-->" else match[1].strip(" \t>").startswith(opened))
        if not opened and (marker := _SHELL.match(match[1])):
            comment = marker[1] == "<!--"
            opened = ("" if "-->" in match[1] else "-->") if comment else marker[1]
            shell = len(lines) if opened else None
        ruled = ruled or (not opened and _RULE.fullmatch(match[1]) is not None)
        row = words.row_cells(match[1])
        # Neither a heading nor a row of more than a name and its value gives a field.
        given = () if len(row) not in (0, 2) or _HEADING.match(match[1]) else _FIELD.finditer(match[1])
        keys = {"status" if found[1][0] in "sS" else found[1].lower(): found[2] for found in given}
        lines.append(_Line(match.start(), number, match[1], own, shell, own is None or ruled, keys, row))
        if closes:
            opened, shell = "", None
        if len(lines) > 1 and lines[-2].row and re.fullmatch(r"[ \t>|:-]+", match[1]):
            lines[-2] = replace(lines[-2], keys={})  # the head of a table
    return lines


class _Account:
    """One pass over the lines of a file that are in no header."""

    def __init__(self, lines: list[_Line], known: words.KnownIssues, *, mentions: bool) -> None:
        self._lines, self._known, self._mentions = lines, known, mentions

    def unread(self) -> Iterator[Unread]:
        title: str | None = None
        own: str | None = None
        for first, after in self._parts():
            lines = self._lines[first:after]
            heading = _HEADING.fullmatch(lines[0].text)
            title = heading[1] if heading else title if lines[0].own == own else None
            own = lines[0].own
            what, line = self._examine(lines, title, is_heading=heading is not None)
            if what:
                message = f"{what} is not read as an issue, and does not say that it is finished; write it as a block"
                yield Unread(self._lines[self._beginning(first)].start, line.number, message)

    def _parts(self) -> Iterator[tuple[int, int]]:
        """What stands together, by its first line and the line after it."""
        first, keys, named = 0, set[str](), set[str]()
        for index, line in enumerate(self._lines):
            names = {words.number_of(name) for name in words.names_in(line.text, self._known)}
            if index and self._begins(first, index, keys, names, named):
                yield first, index
                first, keys, named = index, set(), set()
            keys |= line.keys.keys()
            named |= names
        yield first, len(self._lines)

    def _begins(self, first: int, index: int, keys: set[str], names: set[str], named: set[str]) -> bool:
        """Whether a line begins something else than what stands above it; `keys` and `named` are what that gives and names."""
        start, above, line = self._lines[first], self._lines[index - 1], self._lines[index]
        titled, begun, bullet = _HEADING.match(start.text), _BULLET.match(start.text), _BULLET.match(line.text)
        twice = keys & line.keys.keys()
        if (line.own, line.shell) != (above.own, above.shell) or (
            twice and (bullet or line.shell is not None or "id" in twice)
        ):
            return True
        if "id" in line.keys and (
            ("status" in keys and not begun and line.shell is None) or (names and named and not names & named)
        ):
            return True
        if _HEADING.match(line.text) or _RULE.fullmatch(line.text) or _RULE.fullmatch(start.text):
            return True
        if names and not line.keys and not line.row and not _LABEL.match(line.text):
            return True
        if line.row or above.row:
            return not line.keys or not above.row
        if bullet and begun:
            # Fields of one issue may be a list of their own.
            return len(bullet[1]) <= len(begun[1]) and not (line.keys and start.keys)
        if bullet:
            return not (line.keys and named)
        if line.text.strip() and not above.text.strip() and line.shell is None:
            below = (titled and not names) or "status" in line.keys or (begun and line.text[:1] in " \t")
            return not below
        return False

    def _examine(self, lines: Sequence[_Line], title: str | None, *, is_heading: bool) -> tuple[str, _Line]:
        """What there is that is not accounted for, or nothing; and the line to name."""
        own = lines[0].own
        named = [(name, line) for line in lines for name in words.names_in(line.text, self._known)]
        names = [(name, line) for name, line in named if name not in (own, words.number_of(own or ""))]
        unknown = [(name, line) for name, line in names if name not in self._known.ids]
        is_heading = is_heading and bool(names) and names[0][1] is lines[0]
        said = [status for line in lines for status in words.statuses_in(line.text)]
        final = bool(said) and all(status in FINAL for status in said)
        looks_open = any(status is not None and status not in FINAL for status in said)
        key = next((line for line in lines if "id" in line.keys), None)
        if key is not None and words.is_placeholder(re.split(r"[,|\s]", key.keys["id"], maxsplit=1)[0]):
            return "", key
        told = said or any("title" in line.keys for line in lines)
        if key is not None and told and (names or (not named and (own is None or looks_open))):
            shown = names[0][0] if names else " ".join(key.keys["id"].split())[:40].strip("\"'*_`,}|] ")
            return ("" if final else f"the header that names {shown or 'no issue'}"), key
        if is_heading and said:
            return ("" if final else f"the heading that names {names[0][0]}"), names[0][1]
        if unknown:
            return self._mention(*unknown[0], said, title, is_heading=is_heading), unknown[0][1]
        return (self._nameless(lines[0], said, title) if looks_open and not named else ""), lines[0]

    def _mention(
        self, name: str, line: _Line, said: Sequence[Status | None], title: str | None, *, is_heading: bool
    ) -> str:
        """A part that names an issue nobody knows: a row, a box, an entry, a sentence."""
        box = _BOX.fullmatch(line.text)
        unticked = box is not None and (box[1] or "").strip() not in ("x", "X")
        final = bool(said) and all(status in FINAL for status in said)
        over = words.says_final(line.text) or (line.own is None and title is not None and words.is_final_heading(title))
        if not unticked and (final or (not said and over)):
            return ""
        if is_heading:
            return f"the heading that names {name}"
        beside = words.bare(box[2] or box[4] or "").lstrip(" \t[(") if box else ""
        open_box = unticked and ("@" in name or beside.startswith(name))
        looks_open = bool(said or line.row or open_box or _OPEN_WORD.search(line.text))
        if not (line.apart and self._mentions) and not looks_open:
            return ""
        kind = "the unticked box" if unticked else "the table row" if line.row else "the line"
        return f"{kind} that names {name}"

    def _nameless(self, line: _Line, said: Sequence[Status | None], title: str | None) -> str:
        """An open status under a heading, or in a row of a table of issues, that names its issue in words of its own."""
        if line.row:
            columns = self._lines[self._table(self._lines.index(line))].row
            issues = any(column.casefold() in _ID_COLUMN for column in columns)
            return f"the table row {line.row[0][:40]!r}" if issues else ""
        status = next(status for status in said if status is not None and status not in FINAL)
        own = line.own
        if own is not None and (not title or title.casefold() in SECTIONS or words.number_of(own) in title):
            return ""
        return f"the heading {title[:60]!r} with the status {status}" if title else f"the line with the status {status}"

    def _table(self, index: int) -> int:
        while index and self._lines[index - 1].row and self._lines[index - 1].own == self._lines[index].own:
            index -= 1
        return index

    def _beginning(self, index: int) -> int:
        """The first line that belongs to a part: its fence or comment, its table, the rule or opening above it."""
        line = self._lines[index]
        index = line.shell if line.shell is not None else self._table(index) if line.row else index
        while index and self._lines[index - 1].own == line.own and _OPENER.fullmatch(self._lines[index - 1].text):
            index -= 1
        above = index - 1
        while above >= 0 and self._lines[above].own == line.own and not self._lines[above].text.strip():
            above -= 1
        ruled = above >= 0 and self._lines[above].own == line.own and _RULE.fullmatch(self._lines[above].text)
        return above if ruled else index
