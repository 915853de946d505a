"""Telling an agent's own words from the code it quotes: fenced blocks of a message, and the prose between them."""

import re

import msgspec

# Wider than CommonMark on purpose: a fence in a quote or a list item hides its content too. Taking prose for code costs a
# claim that can be made again; taking quoted code for prose would let a quoted marker count.
_OPENING = re.compile(r"^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_DATA_MARK = re.compile(r"<(?=/?data\b)", re.IGNORECASE)
_QUOTE_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+")


class Fence(msgspec.Struct, frozen=True):
    """A fenced block: its info string, its content and the 1-based line it opens on."""

    info: str
    text: str
    line: int


class Message(msgspec.Struct, frozen=True):
    """A message split in two; `prose` keeps every line number, with fenced lines left empty."""

    prose: str
    fences: tuple[Fence, ...]


def split_fences(text: str) -> Message:
    """Separate fenced blocks from prose; an unclosed fence runs to the end, as in markdown."""
    prose: list[str] = []
    fences: list[Fence] = []
    opened: tuple[str, str, int] | None = None
    content: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if opened is None:
            opening = _OPENING.match(line)
            if opening is None:
                prose.append(line)
                continue
            opened, content = (opening[1], opening[2].strip(), number), []
        elif _closes(line, opened[0]):
            fences.append(Fence(opened[1], "\n".join(content), opened[2]))
            opened = None
        else:
            content.append(line)
        prose.append("")
    if opened is not None:
        fences.append(Fence(opened[1], "\n".join(content), opened[2]))
    return Message("\n".join(prose), tuple(fences))


def _closes(line: str, mark: str) -> bool:
    bare = _QUOTE_MARKS.sub("", line).strip()
    return len(bare) >= len(mark) and not bare.strip(mark[0])


def data(text: str) -> str:
    """A text of others, between marks that it cannot close."""
    return f"<data>\n{_DATA_MARK.sub('&lt;', text.strip())}\n</data>"
