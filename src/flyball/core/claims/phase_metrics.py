"""The numbers beside a status block: `*_PHASE_METRICS:` mappings as agents print them."""

from __future__ import annotations

import math
import re

import msgspec

from flyball.core.claims.status_block import as_value
from flyball.core.claims.values import Metric

MAX_VALUES = 200
MAX_LINES = 400

_HEADER = re.compile(r"( {0,3})([A-Z]+_PHASE_METRICS|QA_VALIDATION_METRICS):\s*")
_PAIR = re.compile(r"([A-Za-z_][\w-]{0,63})\s*:(?:\s+(.*))?")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_REAL = re.compile(r"[+-]?[0-9]{1,15}\.[0-9]{1,15}(?:[eE][+-]?[0-9]{1,3})?")


class PhaseMetrics(msgspec.Struct, frozen=True):
    """One mapping: nested keys are joined by dots, lists by commas; `text` is the mapping as it stands."""

    name: str
    values: dict[str, Metric]
    text: str
    problems: tuple[str, ...] = ()


def parse_metrics(text: str) -> tuple[PhaseMetrics, ...]:
    """Every mapping of the text, in order; a line that is not `key: value` or `- item` is noted and left out."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        header = _HEADER.fullmatch(line.rstrip())
        if header:
            body = _body(lines[number + 1 : number + 1 + MAX_LINES], len(header[1]))
            found.append(_mapping(header[2], [line, *body]))
    return tuple(found)


def _body(lines: list[str], depth: int) -> list[str]:
    body: list[str] = []
    for line in lines:
        if line.strip() and _indent(line) <= depth:
            break
        body.append(line)
    while body and not body[-1].strip():
        body.pop()
    return body


def _mapping(name: str, lines: list[str]) -> PhaseMetrics:
    values: dict[str, Metric] = {}
    problems: list[str] = []
    path: list[tuple[int, str]] = []
    for raw in lines[1:]:
        indent, content = _indent(raw), as_value(_COMMENT.sub("", raw))
        pair = _PAIR.fullmatch(content)
        if content.startswith("- ") and path:
            key = ".".join(part for _, part in path)
            item = _unquote(content[2:].strip())
            values[key] = f"{values[key]}, {item}" if key in values else item
        elif pair:
            while path and path[-1][0] >= indent:
                path.pop()
            path.append((indent, pair[1]))
            value = scalar(pair[2] or "")
            if value is not None:
                values[".".join(part for _, part in path)] = value
        elif content:
            problems.append(f"{name}: {content[:80]!r} is not `key: value`")
    kept = dict(list(values.items())[:MAX_VALUES])
    return PhaseMetrics(name, kept, "\n".join(lines), tuple(problems))


def scalar(text: str) -> Metric | None:
    """A bare value as it was meant: lowercase booleans, numbers, else text; nothing for an empty one or null."""
    if text in {"", "null", "~"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return _unquote(text)


def _unquote(text: str) -> str:
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
