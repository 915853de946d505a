"""The lines of an issue file that are in no header, each with the block, fence or comment it stands in."""

import re
from collections.abc import Sequence

import msgspec

from flyball.core.text.lines import LINE
from flyball.core.workflows.backlog.issues.blocks import Block

RULE = re.compile(r"[ \t]*-{3,}[ \t]*")


class OuterLine(msgspec.Struct, frozen=True):
    """A line outside all headers: its place, its text, its block if it is in a body, and where its fence or comment begins.

    `apart` is what stands in no body, or below a rule in one.
    """

    start: int
    number: int
    text: str
    own: str | None = None
    shell: int | None = None
    apart: bool = True


def outer_lines(text: str, blocks: Sequence[Block], ids: Sequence[str]) -> list[OuterLine]:
    """The lines that are in no header, each with the id of the block in whose body it stands."""
    lines: list[OuterLine] = []
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
        if not opened and (marker := re.match(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,}|<!--)", match[1])):
            comment = marker[1] == "<!--"
            opened = ("" if "-->" in match[1] else "-->") if comment else marker[1]
            shell = len(lines) if opened else None
        ruled = ruled or (not opened and RULE.fullmatch(match[1]) is not None)
        lines.append(OuterLine(match.start(), number, match[1], own, shell, own is None or ruled))
        if closes:
            opened, shell = "", None
    return lines


def row_cells(line: str) -> list[str]:
    row = line.strip(" \t>")
    if not row.startswith("|") and row.count("|") < 2:
        return []
    return [cell.strip(" \t*_`") for cell in row.strip("|").split("|")]


def indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
