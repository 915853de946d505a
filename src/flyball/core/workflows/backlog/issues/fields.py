"""The fields of an issue's header, asked one by one: one text or many, names in any case, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from flyball.core.text.scrubbing import clean

MAX_TEXT = 500
MAX_ENTRIES = 200
_NOTHING = frozenset({"", "~", "null", "none", "n/a", "-"})
_ID_LIKE = r"(?a)[A-Za-z][\w-]*@[\w-]+|[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+"


def created_at(text: str) -> str:
    """A date or time as ISO 8601 that sorts by age, in UTC; empty where it is neither."""
    if not text:
        return ""
    try:
        if len(text) == 10:
            return date.fromisoformat(text).isoformat()
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    try:
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return ""
    return aware.replace(tzinfo=None).isoformat() + "Z"


class Fields:
    """A header's values; `strange` collects the names of those that are of another shape than they should be."""

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self._values = {name.lower().replace("-", "_"): value for name, value in mapping.items()}
        self.strange: list[str] = []

    def text(self, name: str) -> str:
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self._note(name)
            return ""
        shown = _shown(value)
        return "" if shown.lower() in _NOTHING else shown

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name)
        return () if value is None else tuple(dict.fromkeys(self._listed(name, value)))

    def blocked_by(self) -> tuple[str, ...]:
        related = self._values.get("related")
        inner = related.get("blocked_by", "") if isinstance(related, dict) else ""
        return (*self.texts("blocked_by"), *self.texts("depends_on"), *self._listed("related", inner))

    def requires(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Environments an issue requires, and ids of issues, for some write those under the same name."""
        all_of_them = self.texts("requires")
        ids = tuple(each for each in all_of_them if re.fullmatch(_ID_LIKE, each))
        return tuple(each.lower() for each in all_of_them if each not in ids), ids

    def _listed(self, name: str, value: object) -> Iterator[str]:
        """Entries of a list, or the parts of a text with commas; a single pair in a list is its `key: value`."""
        entries = value if isinstance(value, list) else [value]
        parts = value.split(",") if isinstance(value, str) else entries[:MAX_ENTRIES]
        for part in parts:
            entry = part
            if isinstance(part, dict) and len(part) == 1:
                ((key, inner),) = part.items()
                entry = f"{key}: {inner}" if isinstance(inner, str) else None
            if not isinstance(entry, str):
                self._note(name)
                continue
            shown = _shown(entry)
            if shown.lower() not in _NOTHING:
                yield shown

    def _note(self, name: str) -> None:
        if name not in self.strange:
            self.strange.append(name)


def _shown(value: str) -> str:
    """A value in one line."""
    return " ".join(clean(value, MAX_TEXT).split())
