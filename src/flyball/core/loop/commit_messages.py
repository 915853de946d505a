"""Commit messages as a maintainer would write them: what was done, for which items, and the checkpoint as a trailer."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from flyball.core.model.task import Item

SUBJECT_LENGTH = 72
MOST_ITEMS = 20
_POINT = textwrap.TextWrapper(SUBJECT_LENGTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False)


def message(first: str, label: str, items: Iterable[Item], *trailers: str) -> str:
    """A subject, the items it concerns, and the trailers; `Checkpoint: LABEL - IDS` is the last of them."""
    known = tuple(items)
    told = [item for item in known[:MOST_ITEMS] if len(known) > 1 or _line(item.text) not in first]
    points = [_POINT.fill(f"{item.id}: {_line(item.text)}") for item in told]
    points += [f"- and {len(known) - MOST_ITEMS} more"] if len(known) > MOST_ITEMS else []
    ids = ", ".join(item.id for item in known) or "-"
    last = "\n".join((*trailers, f"Checkpoint: {label} - {ids}"))
    return "\n\n".join(part for part in (first, "\n".join(points), last) if part)


def subject(area: str, what: str) -> str:
    """`area: what`, from the first line of a text, cut between words where it is too long."""
    lines = [line for line in what.splitlines() if line.strip()]
    line = (_line(lines[0]).lstrip("#").strip().rstrip(".") if lines else "") or "work"
    return (
        textwrap.shorten(f"{area}: {line}" if area else line, SUBJECT_LENGTH, placeholder="…") or line[:SUBJECT_LENGTH]
    )


def _line(text: str) -> str:
    return " ".join(text.split())
