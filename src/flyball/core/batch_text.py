"""Reads a batch result (M1): JSON, or lines that begin with `Batch:`, `Review:`, `Passed:`, `Failed:`, `Blocked:`."""

import re
from typing import Any

import msgspec

from flyball.core.batch import BatchResult, Failure, Review
from flyball.core.observation import Blocker
from flyball.core.strict_json import JsonUnreadable, problem, read_json

_BLANK = b"\xef\xbb\xbf \t\r\n"
_SECTION = re.compile(r"^\W*(Batch|Review|Passed|Failed|Blocked)\W*?:[ \t*]*(.*)$", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_NOTHING = frozenset({"", "none", "-", "n/a", "[]", "{}"})
# A comma parts two entries only when what follows looks like the id of another: "a: x, y, b: z" has two.
_NEXT_ENTRY = re.compile(r"\s*[;\n]\s*|,\s*(?=[\w./#-]+\s*(?:[:(]|\s-\s))")
_ENTRY = re.compile(r"^(?P<id>[^\s:(]+)\s*(?:[:(-]+\s*(?P<rest>.*))?$", re.DOTALL)
_BLOCKER_TYPE = re.compile(r"^\W*(dependency|external|fundamental|missing-review)\b\W*", re.IGNORECASE)
_FIELD = re.compile(r"(verdict|approved|rejected|anti_patterns)\W*?:\s*(\[[^\]]*\]|[^,}\n]*)", re.IGNORECASE)


class BatchUnreadable(ValueError):
    """What was reported is no batch result; the message says where, and what was expected."""


def batch_of(raw: bytes) -> BatchResult:
    """The batch result that bytes hold, in either form."""
    if raw.lstrip(_BLANK)[:1] in {b"{", b"["}:
        return _of_json(raw)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BatchUnreadable(f"line {line}: expected UTF-8, found the byte {raw[error.start]:#04x}") from error
    return read_batch(text)


def _of_json(raw: bytes) -> BatchResult:
    """A review that is empty, whatever its type, is none; one word is its verdict."""
    try:
        fields = read_json(raw, dict[str, Any])
    except JsonUnreadable as error:
        where = f"line {error.line}: " if error.line else ""
        raise BatchUnreadable(f"{where}expected a JSON object: {error}") from error
    review = fields.get("review")
    fields["review"] = {"verdict": review} if isinstance(review, str) else review or None
    try:
        return msgspec.convert(fields, BatchResult)
    except msgspec.ValidationError as error:
        raise BatchUnreadable(problem(error)) from error


def read_batch(text: str) -> BatchResult:
    """The batch result a text describes."""
    sections = _sections(text)
    if not sections:
        first = text.strip().splitlines()[:1] or ["nothing"]
        raise BatchUnreadable(
            f"line 1: expected lines such as 'Batch:', 'Review:', 'Passed:', 'Failed:' or a JSON object, found {first[0][:60]!r}"
        )
    return BatchResult(
        batch=_names(sections.get("batch", "")),
        review=_review(sections.get("review", "")),
        passed=_names(sections.get("passed", "")),
        failed=tuple(Failure(name, rest) for name, rest in _entries(sections.get("failed", ""))),
        blocked=tuple(_blocker(name, rest) for name, rest in _entries(sections.get("blocked", ""))),
    )


def _sections(text: str) -> dict[str, str]:
    """The text of each section; below a bullet, a line without one goes on with what the bullet said."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    bulleted = False
    for line in text.splitlines():
        entry, bullets = _BULLET.subn("", line, count=1)
        if found := _SECTION.match(line):
            current = sections.setdefault(found[1].lower(), [])
            current.append(found[2])
            bulleted = False
        elif bulleted and not bullets:
            current[-1] += f" {line.strip()}"
        else:
            bulleted = bool(bullets)
            current.append(entry)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


def _inner(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def _names(text: str) -> tuple[str, ...]:
    words = (word.strip().strip("'\"`[]") for word in re.split(r"[,\n;]+", _inner(text)))
    return tuple(dict.fromkeys(word for word in words if word.lower() not in _NOTHING))


def _entries(text: str) -> list[tuple[str, str]]:
    found = (_ENTRY.match(entry.strip()) for entry in _NEXT_ENTRY.split(_inner(text)))
    return [(one["id"], (one["rest"] or "").strip()) for one in found if one and one["id"].lower() not in _NOTHING]


def _blocker(name: str, rest: str) -> Blocker:
    """A blocker whose type is not said waits for other work: the mildest reading, a person is still asked."""
    kind = _BLOCKER_TYPE.match(rest)
    return Blocker(name, kind[1].lower() if kind else "dependency", rest[kind.end() :] if kind else rest)


def _review(text: str) -> Review | None:
    if text.strip().lower() in _NOTHING:
        return None
    fields = {found[1].lower(): found[2].strip() for found in _FIELD.finditer(text)}
    verdict = fields.get("verdict", "" if fields else text.split(maxsplit=1)[0]).strip("'\"` ,")
    return Review(
        verdict,
        _names(fields.get("approved", "")),
        _names(fields.get("rejected", "")),
        _names(fields.get("anti_patterns", "")),
    )
