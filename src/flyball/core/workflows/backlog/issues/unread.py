"""Accounts for every line of an issue file that is in no header: what names an issue there must be known or finished.

An issue can be written in more ways than a parser knows: in a code fence, behind a comment, as an item of a list, as a row of a
table, as a heading with a bold status. None of them is guessed at. A line that names an issue is accounted for when

- it says itself that the issue is finished: `status: completed`, a ticked box, a cell or a last word that is final; or
- it only mentions an issue that a block or the history knows; or
- it stands in the body of a block, which may mention others, and does not look open.

Every other one is unread: it is told with its line, it forbids DONE, and the block above it ends where it begins, so that
nothing moves it.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from flyball.core.workflows.backlog.issues import words
from flyball.core.workflows.backlog.issues.blocks import SECTIONS, Block
from flyball.core.workflows.backlog.issues.outer_lines import RULE, indent, outer_lines, row_cells
from flyball.core.workflows.backlog.values import FINAL, Status

_HINT = re.compile(r"(?i)\bid\b|\bstat(?:us|e)\b|\w-[0-9]|\w@\w|\|")
_DECORATION = r"[ \t>*+\-_\"'({\[|,#]*"
_KEY = r"(?i)(?:^{0}|[{{,][ \t]*[\"']?){1}[\"'*_`]*[ \t]*[:=|][ \t*_\"'`]*([^\r\n]*)"
_ID_KEY = re.compile(_KEY.format(_DECORATION, "id"))
_TITLE_KEY = re.compile(_KEY.format(_DECORATION, "title"))
_STATUS_LINE = re.compile(_KEY.format(_DECORATION, "stat(?:us|e)"))
_FIELD = re.compile(r"[ \t>*+_-]*[A-Za-z][A-Za-z _-]{1,30}[*_]*:")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+(.*?)[ \t#:]*")
_BOX = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+\[([ xX~!/-]?)\][ \t]*(.*)|[ \t>*+-]*([\u2610\u2b1c])(.*)")
_OPEN_WORD = re.compile(
    r"(?i)(?<![\w-])(?:proposed|in[- _]progress|open|todo|to-do|wip|pending|blocked|deferred|unresolved|not started)(?![\w-])"
)
_MARKER = re.compile(r"[ \t>]*(`{3,}|~{3,})|[ \t]*-{3,}[ \t]*$|.*-->")
_DASH = re.compile(r"[ \t]*-[ \t]+(?=\S)")
_OPENER = re.compile(r"[ \t>-]*(?:\+{3,}|[\w\"' -]+:|[\[{]+)[ \t]*")
_ID_COLUMN = frozenset({"id", "issue", "issue id", "ticket", "key", "#"})
_LONGEST_ITEM = 60
_NEAR = 4


class Unread(msgspec.Struct, frozen=True):
    """A place that names an issue and cannot be read: where it begins, its line, and what it looks like."""

    start: int
    line: int
    message: str


def find_unread(
    text: str, blocks: Sequence[Block], ids: Sequence[str], known: words.KnownIssues, *, mentions: bool = True
) -> list[Unread]:
    """The places of a file that are not accounted for; `ids` are those of its blocks, empty for one that cannot be read.

    A file that only explains something may mention whatever it likes: without `mentions` it is asked as the body of a block.
    """
    return _Account(text, blocks, ids, known, mentions=mentions).unread() if _HINT.search(words.bare(text)) else []


def trim(text: str, block: Block, unread: Sequence[Unread]) -> Block:
    """The block up to the first thing in its body that is not its own, and without a rule that may be the end of one above."""
    inside = (each.start for each in unread if block.body_start <= each.start < block.end)
    own = replace(block, end=min(inside, default=block.end))
    above = any(each.start < block.start for each in unread)
    shared = above and re.search(r"\S[ \t]*(?:\r\n|\n|\r)\Z", text[max(block.start - 200, 0) : block.start])
    return replace(own, start=block.header_start) if shared else own


class _Account:
    """One pass over the lines of a file that are in no header."""

    def __init__(
        self, text: str, blocks: Sequence[Block], ids: Sequence[str], known: words.KnownIssues, *, mentions: bool
    ) -> None:
        self._known = known
        self._mentions = mentions
        self._lines = outer_lines(words.plain(text), blocks, ids)

    def unread(self) -> list[Unread]:
        found: list[Unread] = []
        covered = 0
        for index, line in enumerate(self._lines):
            if index < covered or not _HINT.search(words.bare(line.text)):
                continue
            what, covered = self._examine(index)
            if what:
                first = self._lines[self._beginning(index)]
                message = f"{what} is not read as an issue, and does not say that it is finished; write it as a block"
                found.append(Unread(first.start, line.number, message))
        return found

    def _examine(self, index: int) -> tuple[str, int]:
        """What stands in a line that is not accounted for, or nothing; and the line to go on with."""
        line = self._lines[index]
        named = words.names_in(line.text, self._known)
        names = [name for name in named if name not in (line.own, words.number_of(line.own or ""))]
        unknown = [name for name in names if name not in self._known.ids]
        heading = _HEADING.fullmatch(line.text)
        key = _ID_KEY.search(line.text) if not heading and (names or self._may_be_field(index)) else None
        if key and (names or not named):
            end = self._reach(index, _LONGEST_ITEM, key=True)
            value = re.split(r"[,|\s]", key[1], maxsplit=1)[0]
            return ("" if words.is_placeholder(value) else self._definition(index, end, names, key[1])), end
        if not names:
            return self._nameless(index), index + 1
        end = self._reach(index, _LONGEST_ITEM if heading else _NEAR)
        said = self._statuses(index, end)
        if heading and said:
            return ("" if words.is_final(said) else f"the heading that names {names[0]}"), end
        if heading:
            over = not unknown or words.says_final(line.text, unknown[0])
            return ("" if over else f"the heading that names {unknown[0]}"), end
        return (self._mention(index, unknown, said) if unknown else ""), end

    def _may_be_field(self, index: int) -> bool:
        """Whether a line without an id can be a key and its value: any but a row that is the head of a table."""
        width = len(row_cells(self._lines[index].text))
        below = self._lines[index + 1].text if index + 1 < len(self._lines) else ""
        return not width or (width == 2 and not re.fullmatch(r"[ \t>|:-]+", below))

    def _definition(self, index: int, end: int, names: list[str], value: str) -> str:
        """A header of an issue that is no block: in a list, in braces, in a fence, with other spaces."""
        line, said = self._lines[index], self._statuses(self._item(index), end)
        titled = any(_TITLE_KEY.search(each.text) for each in self._lines[self._item(index) : end])
        unfinished = any(status in ("proposed", "in-progress", "blocked") for status in said)
        if line.own is not None and not names and not unfinished:
            return ""
        if not said and not titled:
            unknown = [name for name in names if name not in self._known.ids]
            return self._mention(index, unknown, ()) if unknown else ""
        shown = names[0] if names else " ".join(value.split())[:40].strip("\"'*_`,}|] ")
        return "" if words.is_final(said) else f"the header that names {shown or 'no issue'}"

    def _mention(self, index: int, unknown: list[str], said: Sequence[Status | None]) -> str:
        """A line that names an issue nobody knows: a row, a box, an entry, a sentence."""
        line = self._lines[index]
        box = _BOX.fullmatch(line.text)
        unticked = box is not None and (box[1] or "").strip() not in ("x", "X")
        row = row_cells(line.text)
        stated = [*said, *(status for cell in row if (status := words.status_of(cell)))]
        if not unticked and (words.is_final(stated) or (not stated and self._is_over(index, unknown[0]))):
            return ""
        beside = words.bare(box[2] or box[4] or "").lstrip(" \t[(") if box else ""
        open_box = unticked and ("@" in unknown[0] or beside.startswith(unknown[0]))
        looks_open = bool(stated or row or open_box or _OPEN_WORD.search(line.text))
        if not (line.apart and self._mentions) and not looks_open:
            return ""
        kind = "the unticked box" if unticked else "the table row" if row else "the line"
        return f"{kind} that names {unknown[0]}"

    def _nameless(self, index: int) -> str:
        """A status under a heading, or a row of a table of issues, that names its issue in words of its own."""
        line = self._lines[index]
        cells = row_cells(line.text)
        if cells:
            columns = row_cells(self._lines[self._table(index)].text)
            stated = [status for cell in cells if (status := words.status_of(cell))]
            issues = any(column.casefold() in _ID_COLUMN for column in columns)
            return f"the table row {cells[0][:40]!r}" if issues and stated and not words.is_final(stated) else ""
        found = _STATUS_LINE.search(line.text)
        said = words.status_in(found[1]) if found else None
        if found is None or said is None or said in FINAL:
            return ""
        if words.is_enumeration(found[1]) or self._is_named_below(index):
            return ""
        above = self._heading_above(index)
        title = _HEADING.fullmatch(self._lines[above].text) if above is not None else None
        named = title[1] if title else ""
        if line.own is not None and (not title or named.casefold() in SECTIONS or words.number_of(line.own) in named):
            return ""
        return f"the heading {named[:60]!r} with the status {said}" if title else f"the line with the status {said}"

    def _heading_above(self, index: int) -> int | None:
        own = self._lines[index].own
        for above in range(index - 1, max(index - _LONGEST_ITEM, -1), -1):
            if self._lines[above].own != own:
                return None
            if _HEADING.fullmatch(self._lines[above].text):
                return above
        return None

    def _is_over(self, index: int, name: str) -> bool:
        """Whether a line says that what it names is finished, or stands under a heading that does."""
        line = self._lines[index]
        if words.says_final(line.text, name):
            return True
        above = self._heading_above(index)
        title = _HEADING.fullmatch(self._lines[above].text) if above is not None else None
        return line.own is None and title is not None and words.is_final_heading(title[1])

    def _statuses(self, index: int, end: int) -> list[Status | None]:
        """Every status given from a line to another; None for a word nobody knows."""
        return [status for line in self._lines[index:end] for status in words.statuses_in(line.text)]

    def _reach(self, index: int, limit: int, *, key: bool = False) -> int:
        """The line after the last status that is said of what a line names: below it, before anything else is named.

        What begins with a key goes on to its title too, and never leaves its fence.
        """
        first, end = self._lines[index], index + 1
        row, heading = bool(row_cells(first.text)), _HEADING.fullmatch(first.text)
        stops = (_HEADING, _BOX) if not key else (_HEADING, _BOX, _MARKER)
        for later in range(index + 1, min(index + _LONGEST_ITEM, len(self._lines))):
            line = self._lines[later]
            near = later - index <= limit or (indent(line.text) > indent(first.text) and not heading)
            apart = line.own != first.own or (key and line.shell != first.shell)
            other = bool(row_cells(line.text)) != (row and key) or any(stop.match(line.text) for stop in stops)
            named = words.names_in(line.text, self._known) and not _FIELD.match(line.text)
            if not near or apart or other or named or _ID_KEY.search(line.text):
                break
            stated = words.gives_status(line.text)
            if (key and self._is_sibling(index, later)) or (stated and self._is_named_below(later)):
                break
            end = later + 1 if stated or (key and _TITLE_KEY.search(line.text)) else end
        return end

    def _item(self, index: int) -> int:
        """Where an item begins whose id is not its first key: the dash or brace above, over keys of the same indent."""
        deep, above = indent(self._lines[index].text), index - 1
        while deep and above >= 0 and self._lines[above].own == self._lines[index].own:
            text = self._lines[above].text
            if indent(text) < deep:
                return above if (dash := _DASH.match(text)) and dash.end() == deep else above + 1
            if not text.strip() or _ID_KEY.search(text):
                break
            above -= 1
        return above + 1

    def _is_named_below(self, index: int) -> bool:
        """Whether a key belongs to an item whose id comes after it."""
        later = range(index + 1, min(index + _LONGEST_ITEM, len(self._lines)))
        named = next((number for number in later if _ID_KEY.search(self._lines[number].text)), None)
        return named is not None and self._item(named) <= index

    def _is_sibling(self, index: int, later: int) -> bool:
        """Whether a line begins the next item of the list that the item of another stands in."""
        first, text = self._lines[index].text, self._lines[later].text
        deep = indent(first)
        inner = later > index + 1 and indent(self._lines[index + 1].text) > deep
        dash = _DASH.match(text) is not None
        return dash and (indent(text) < deep or (inner and indent(text) == deep and _DASH.match(first) is not None))

    def _table(self, index: int) -> int:
        while index and row_cells(self._lines[index - 1].text) and self._lines[index - 1].own == self._lines[index].own:
            index -= 1
        return index

    def _beginning(self, index: int) -> int:
        """The first line that belongs to an item: its fence or comment, its table, the rule or heading above it."""
        line = self._lines[index]
        if line.shell is not None:
            index = line.shell
        elif row_cells(line.text):
            index = self._table(index)
        elif _ID_KEY.search(line.text):
            index = self._item(index)
            while index and self._lines[index - 1].own == line.own and _OPENER.fullmatch(self._lines[index - 1].text):
                index -= 1
        elif not words.names_in(line.text, self._known):
            above = self._heading_above(index)
            index = index if above is None else above
        above = index - 1
        while above >= 0 and self._lines[above].own == line.own and not self._lines[above].text.strip():
            above -= 1
        ruled = above >= 0 and self._lines[above].own == line.own and RULE.fullmatch(self._lines[above].text)
        return above if ruled else index
