"""The smallest edits of an issue file, as text to text: one status changed, one block removed or added, nothing reformatted.

Every function leaves all other characters as they are, line ends and oddities included.
"""

from __future__ import annotations

import re

from flyball.core.text.lines import LINE_END, line_end
from flyball.core.workflows.backlog.issues.blocks import ReadBlock, find_blocks
from flyball.core.workflows.backlog.issues.names import Known
from flyball.core.workflows.backlog.values import Issue, Status

TRANSITIONS: dict[Status, frozenset[Status]] = {
    "proposed": frozenset({"in-progress", "won't-fix"}),
    "in-progress": frozenset({"completed", "blocked"}),
    "blocked": frozenset({"in-progress"}),
    "completed": frozenset(),
    "won't-fix": frozenset(),
}


class IssueMissing(Exception):
    """The file holds no issue of that id."""


class TransitionRefused(Exception):
    """An issue cannot go from its status to the one asked for."""


class EditRefused(Exception):
    """The file is written in a way that the smallest edit would change more than it should."""


def with_status(text: str, id: str, status: Status, *, forced: bool = False) -> str:
    """The text with one issue's status changed; `forced` also goes where no transition leads, for what is made anew."""
    found = _find(text, id)
    issue = _issue(found)
    if issue.status == status and (issue.stated or not forced):
        return text
    if not forced and status not in TRANSITIONS[issue.status]:
        allowed = ", ".join(sorted(TRANSITIONS[issue.status])) or "nothing: that is final"
        raise TransitionRefused(f"{id} is {issue.status} and cannot become {status}; it may become {allowed}.")
    edited = with_field(text, id, "status", status)
    if _issue(_find(edited, id)).status != status:
        raise EditRefused(f"The status of {id} cannot be changed where it stands; set it to {status} by hand.")
    return edited


def with_field(text: str, id: str, name: str, value: str) -> str:
    """The text with one field of an issue's header set; a new field goes to the end of the header."""
    block = _find(text, id).block
    header = block.header(text)
    # Of a field that is given twice the last one counts.
    places = list(_field(name).finditer(header))
    if places:
        start, end = places[-1].span(1)
        new = header[:start] + f" {value}{_comment(places[-1][1])}" + header[end:]
    else:
        eol = line_end(text)
        gap = "" if re.search(LINE_END, header[-1:]) else eol
        new = f"{header}{gap}{name}: {value}{eol}"
    return text[: block.header_start] + new + text[block.header_end :]


def without_field(text: str, id: str, name: str) -> str:
    """The text without one field of an issue's header."""
    block = _find(text, id).block
    header = block.header(text)
    return text[: block.header_start] + _field(name).sub("", header) + text[block.header_end :]


def without_block(text: str, id: str, known: Known) -> str:
    """The text without an issue and what belongs to it; all that stands around it is kept."""
    block = _find(text, id, known).block
    return text[: block.start] + text[block.end :]


def block_of(text: str, id: str, known: Known | None = None) -> str:
    """An issue's block as it stands, with fences where it lacks them and without the separator after it.

    In an issue file it ends before what it does not own, as far as others are `known`; in history all of it is its own.
    """
    block = _find(text, id, known).block
    eol = line_end(text)
    header = block.header(text).rstrip("\r\n")
    body = re.sub(LINE_END, lambda _: eol, block.body(text))
    return f"---{eol}{header}{eol}---{eol}{eol}{body}{eol}" if body else f"---{eol}{header}{eol}---{eol}"


def with_block(text: str, block: str) -> str:
    """The text with a block added at its end, parted from what is before by an empty line, in the file's own line ends."""
    eol = line_end(text) if text else "\n"
    added = re.sub(LINE_END, lambda _: eol, block.strip("\r\n")) + eol
    if not text or text == "\ufeff":
        return text + added
    ended = text if text.endswith(("\n", "\r")) else text + eol
    gap = "" if re.search(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)\Z", ended) else eol
    return ended + gap + added


def find_issue(text: str, id: str) -> Issue | None:
    """The issue of that id as a file's text has it."""
    try:
        return _issue(_find(text, id))
    except IssueMissing:
        return None


def _find(text: str, id: str, known: Known | None = None) -> ReadBlock:
    """The block of an issue; of two with one id the one that is not finished."""
    found = find_blocks(text, id, known)
    if not found:
        raise IssueMissing(f"{id} is in no block of the file.")
    return next((read for read in found if not _issue(read).is_final), found[0])


def _issue(read: ReadBlock) -> Issue:
    assert read.issue is not None
    return read.issue


def _field(name: str) -> re.Pattern[str]:
    """A field of a header with the lines its value goes on in, up to and with its line end; its value is the group."""
    value = r"([^\r\n]*(?:(?:\r\n|\n|\r)[ \t]+\S[^\r\n]*)*)"
    return re.compile(rf"(?:\A|(?<=[\r\n]))[\"']?{re.escape(name)}[\"']?[ \t]*:{value}(?:\r\n|\n|\r|\Z)", re.IGNORECASE)


def _comment(value: str) -> str:
    """The remark at the end of a field's line, with the space before it."""
    found = re.fullmatch(r"[^\r\n#]*?([ \t]+#[^\r\n]*)", value)
    return found[1] if found else ""
