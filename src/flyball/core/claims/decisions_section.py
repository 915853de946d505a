"""The `## Decisions` section of a message: the choices an agent made, as entries of a list or under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from flyball.core.claims.values import MAX_ITEMS, DesignDecision
from flyball.core.text.scrubbing import MAX_TEXT, clean

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t](.*)")
_BULLET = re.compile(r"(\s*)(?:[-*+]|[0-9]{1,3}[.)])\s+(.*)")
_LABEL = re.compile(r"([A-Za-z][A-Za-z ]{1,30}?)\s*:\s*(.*)")
_NOTHING = frozenset({"none", "none.", "n/a", "-", "no decisions", "no decisions."})
_LABELS = {
    "decision": "title",
    "title": "title",
    "context": "context",
    "choice": "choice",
    "alternatives": "alternatives",
    "alternatives rejected": "alternatives",
    "reason": "consequences",
    "consequences": "consequences",
    "related": "depends_on",
    "depends on": "depends_on",
    "invalidated if": "invalidated_if",
    "supersedes": "supersedes",
}
_LISTS = frozenset({"alternatives", "depends_on", "supersedes"})


class DecisionsSection(msgspec.Struct, frozen=True):
    text: str = ""
    decisions: tuple[DesignDecision, ...] = ()


def read_decisions(lines: list[str]) -> DecisionsSection:
    """The last section headed `Decisions`, up to the next heading of its rank."""
    start, rank = -1, 0
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading and _title(heading).rstrip(":").lower() == "decisions":
            start, rank = number, len(heading[1])
    if start < 0:
        return DecisionsSection()
    body: list[str] = []
    for line in lines[start + 1 :]:
        heading = _HEADING.fullmatch(line)
        if heading and len(heading[1]) <= rank:
            break
        body.append(line)
    text = "\n".join([lines[start], *body]).strip()
    return DecisionsSection(text, tuple(_decisions(body)))


def _title(heading: re.Match[str]) -> str:
    return heading[2].strip().rstrip("#").rstrip()


def _decisions(body: list[str]) -> Iterator[DesignDecision]:
    """A heading, a bullet or a label that was there already begins a decision; other lines go on with the field before them."""
    drafts: list[dict[str, list[str]]] = []
    field = ""
    for line in (raw.replace("**", "") for raw in body):
        heading, bullet = _HEADING.fullmatch(line), _BULLET.fullmatch(line)
        content = _title(heading) if heading else bullet[2].strip() if bullet else line.strip()
        if not content or content.lower() in _NOTHING:
            continue
        label = None if heading else _LABEL.fullmatch(content)
        named = "title" if heading else _LABELS.get(label[1].lower(), "") if label else ""
        # Bullets below a label that names a list, and has nothing beside it, belong to it.
        listing = field in _LISTS and not drafts[-1][field][0]
        again = named == "title" or named in drafts[-1] if drafts else True
        if again or (bullet and not named and len(bullet[1]) < 2 and not listing):
            drafts.append({})
            field = "choice"
        field = named or ("choice" if field == "title" else field)
        drafts[-1].setdefault(field, []).append(label[2].strip() if named and label else content)
        if len(drafts) > MAX_ITEMS:
            break
    yield from (decision for decision in map(_decision, drafts) if decision.title)


def _decision(draft: dict[str, list[str]]) -> DesignDecision:
    texts = {name: clean(" ".join(filter(None, parts)), MAX_TEXT) for name, parts in draft.items()}
    lists = {name: tuple(_entries(draft.pop(name)))[:MAX_ITEMS] for name in _LISTS & draft.keys()}
    choice = texts.get("choice", "")
    title = clean(texts.get("title") or choice.split("\n")[0], 200)
    return DesignDecision(**{**texts, **lists, "title": title})  # type: ignore[arg-type]


def _entries(parts: list[str]) -> Iterator[str]:
    kept = (clean(piece) for part in parts for piece in part.split(";"))
    return (piece for piece in kept if piece and piece.lower() not in _NOTHING)
