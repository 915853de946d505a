"""The header of a block: a mapping of YAML, read strictly as texts, lists and mappings, and the fields of it.

Nothing is guessed from a value's looks (`no` stays `no`), and nothing is built by tags.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from flyball.core.text.scrubbing import clean

MAX_HEADER = 32 * 1024
# PyYAML's time grows with the square of the depth.
MAX_DEPTH = 32
MAX_TEXT = 500
MAX_ENTRIES = 200
Value = str | list[Any] | dict[str, Any]

_NOTHING = frozenset({"", "~", "null", "none", "n/a", "-"})
_ID_LIKE = r"(?a)[A-Za-z][\w-]*@[\w-]+|[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+"
_LISTS_IN_A_LINE = rf"(?:[-?][ \t]+){{{MAX_DEPTH}}}"
_COLON = r"(?a)([A-Za-z_][\w-]*): +([^\s'\"\[{|>&*!%@`].*)"


class Unreadable(msgspec.Struct, frozen=True):
    """Why a header is no mapping; `line` counts from 0 within it."""

    line: int
    message: str


def read_header(text: str) -> dict[str, Value] | Unreadable:
    import yaml  # noqa: PLC0415 - a Stop hook that reads no issue need not wait for it

    if len(text) > MAX_HEADER:
        return Unreadable(0, f"the header is longer than {MAX_HEADER // 1024} KiB")
    spaced = "\n".join(_space_key(line) for line in text.split("\n"))
    # How deep brackets are nested, those in quotes included.
    steps = ((mark in "[{") - (mark in "]}") for mark in spaced if mark in "[]{}")
    if max(itertools.accumulate(steps), default=0) > MAX_DEPTH or re.search(_LISTS_IN_A_LINE, spaced):
        return Unreadable(0, "the header is nested too deeply")
    # Both build nothing but texts, lists and mappings. The one in C is not in every build, and ends the process on deep nesting.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        found = yaml.load(spaced, Loader=loader)  # noqa: S506 - see above
    except RecursionError:
        return Unreadable(0, "the header is nested too deeply")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return Unreadable(mark.line if mark else 0, f"the header is not valid YAML: {error.problem}")
    except yaml.YAMLError:
        return Unreadable(0, "the header holds characters that YAML does not allow")
    except ValueError:
        return Unreadable(0, "the header is not valid YAML")
    if not isinstance(found, dict):
        return Unreadable(0, "the header is not a mapping of keys to values")
    return {key: value for key, value in found.items() if isinstance(key, str)}


def _space_key(line: str) -> str:
    """A line with a space after its key, where a tab stands that YAML's readers do not agree on."""
    return re.sub(r"\A([\"']?[A-Za-z_][\w-]*[\"']?[ \t]*:)[ \t]+", r"\1 ", line).rstrip("\t") if "\t" in line else line


def quote_titles(text: str) -> str:
    """The header with values that hold a bare `: ` put into quotes: what people and models most often get wrong."""
    return "\n".join(_quote(_space_key(line)) for line in text.split("\n"))


def _quote(line: str) -> str:
    found = re.fullmatch(_COLON, line.rstrip())
    if found is None or ": " not in found[2]:
        return line
    escaped = found[2].replace("'", "''")
    return f"{found[1]}: '{escaped}'"


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
        shown = _one_line(value)
        return "" if shown.lower() in _NOTHING else shown

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name)
        return () if value is None else tuple(dict.fromkeys(self._entries(name, value)))

    def blocked_by(self) -> tuple[str, ...]:
        related = self._values.get("related")
        inner = related.get("blocked_by", "") if isinstance(related, dict) else ""
        return (*self.texts("blocked_by"), *self.texts("depends_on"), *self._entries("related", inner))

    def requires(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Environments an issue requires, and ids of issues, for some write those under the same name."""
        all_of_them = tuple(dict.fromkeys((*self.texts("requires"), *self.texts("environment"))))
        ids = tuple(each for each in all_of_them if re.fullmatch(_ID_LIKE, each))
        return tuple(each.lower() for each in all_of_them if each not in ids), ids

    def _entries(self, name: str, value: object) -> Iterator[str]:
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
            shown = _one_line(entry)
            if shown.lower() not in _NOTHING:
                yield shown

    def _note(self, name: str) -> None:
        if name not in self.strange:
            self.strange.append(name)


def _one_line(value: str) -> str:
    return " ".join(clean(value, MAX_TEXT).split())
