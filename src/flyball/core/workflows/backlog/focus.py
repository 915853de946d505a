"""The text of `focus.md`: which issue it says is in hand, and its section `## Loop Decision`, the only part flyball writes."""

import re
from collections.abc import Iterator

from flyball.core.text.fences import split_fences
from flyball.core.text.lines import LINE, line_end
from flyball.core.text.scrubbing import one_line
from flyball.core.workflows.backlog.values import Evaluation

TITLE = "# Agent Focus\n"
_HEADING = r"(#{1,2})[ \t]+(.*?)[ \t#]*"
_ISSUE = (
    r"(?i)[ \t]*(?:[-*+][ \t]+)?\**(?:issue|id)\**[ \t]*:\**[ \t]*[`*]*"
    r"([A-Za-z][\w-]*@[\w-]+|[A-Z][A-Z0-9-]*-[0-9]+)"
)


def focused_issue(text: str) -> str:
    """The issue under `## Current` or `## Active Issue`; empty where none is named."""
    inside = False
    for _, line, heading in _lines(text):
        if heading is not None:
            inside = heading.casefold() in ("current", "active issue")
        elif inside and (found := re.match(_ISSUE, line)):
            return found[1]
    return ""


def with_decision(text: str, evaluation: Evaluation, at: str) -> str:
    """The text with the section `## Loop Decision` replaced, or added at the end; all else is kept."""
    eol = line_end(text)
    start, end = _section(text)
    lines = [
        "## Loop Decision",
        "",
        f"Decision: {evaluation.decision}",
        f"Reason: {one_line(evaluation.reason)}",
        f"Time: {at}",
        f"Next: {one_line(evaluation.next_issue or 'none')}",
        "",
    ]
    section = eol.join(lines)
    if start is None:
        before = text or TITLE
        ended = before if before.endswith(("\n", "\r")) else before + eol
        return ended + eol + section
    return text[:start] + section + (eol if end < len(text) else "") + text[end:]


def _section(text: str) -> tuple[int | None, int]:
    start: int | None = None
    for place, _, heading in _lines(text):
        if heading is None:
            continue
        if start is not None:
            return start, place
        if heading.casefold() == "loop decision":
            start = place
    return start, len(text)


def _lines(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Each line with its place and, for a heading of rank 1 or 2 outside code, its words."""
    prose = split_fences(text).prose.split("\n")
    for found, outside in zip(LINE.finditer(text), prose, strict=False):
        line = found[1].removeprefix("\ufeff")
        heading = re.fullmatch(_HEADING, outside.removeprefix("\ufeff"))
        yield found.end(1) - len(line), line, heading[2] if heading else None
