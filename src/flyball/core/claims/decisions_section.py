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
    drafts: list[_DecisionDraft] = []
    for raw in body:
        line = raw.replace("**", "")
        if line.strip() and line.strip().lower() not in _NOTHING:
            _take(line, drafts)
        if len(drafts) > MAX_ITEMS:
            break
    for draft in drafts:
        decision = draft.decision()
        if decision.title:
            yield decision


def _take(line: str, drafts: list[_DecisionDraft]) -> None:
    heading, bullet = _HEADING.fullmatch(line), _BULLET.fullmatch(line)
    content = bullet[2].strip() if bullet else line.strip()
    label = _LABEL.fullmatch(content)
    field = _LABELS.get(label[1].lower(), "") if label else ""
    if content.lower() in _NOTHING:
        return
    if heading:
        drafts.append(_DecisionDraft("title", _title(heading)))
    elif field and label:
        if not drafts or field == "title" or drafts[-1].has(field):
            drafts.append(_DecisionDraft())
        drafts[-1].put(field, label[2])
    elif drafts and (not bullet or len(bullet[1]) >= 2 or drafts[-1].expects_list):
        drafts[-1].more(content)
    else:
        drafts.append(_DecisionDraft("choice", content))


class _DecisionDraft:
    """A decision being read; a line without a label goes on with the field before it."""

    def __init__(self, field: str = "", text: str = "") -> None:
        self._fields: dict[str, list[str]] = {}
        self._last = "choice"
        if field:
            self.put(field, text)

    @property
    def expects_list(self) -> bool:
        """A label that names a list and had nothing beside it: bullets that follow belong to it."""
        return self._last in _LISTS and not any(self._fields[self._last][:1])

    def has(self, field: str) -> bool:
        return field in self._fields

    def put(self, field: str, text: str) -> None:
        self._fields[field] = [text.strip()]
        self._last = field

    def more(self, text: str) -> None:
        self._last = "choice" if self._last == "title" else self._last
        self._fields.setdefault(self._last, []).append(text)

    def decision(self) -> DesignDecision:
        choice = self._text("choice")
        return DesignDecision(
            title=clean(self._text("title") or choice.split("\n")[0], 200),
            context=self._text("context"),
            choice=choice,
            alternatives=self._texts("alternatives"),
            consequences=self._text("consequences"),
            depends_on=self._texts("depends_on"),
            invalidated_if=self._text("invalidated_if"),
            supersedes=self._texts("supersedes"),
        )

    def _text(self, field: str) -> str:
        return clean(" ".join(part for part in self._fields.get(field, ()) if part), MAX_TEXT)

    def _texts(self, field: str) -> tuple[str, ...]:
        parts = (piece for part in self._fields.get(field, ()) for piece in part.split(";"))
        kept = (clean(piece) for piece in parts)
        return tuple(piece for piece in kept if piece and piece.lower() not in _NOTHING)[:MAX_ITEMS]
