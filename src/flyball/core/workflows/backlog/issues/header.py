"""Reads the YAML mapping at the head of an issue: every value a text, a list of texts, or a mapping of those.

Nothing is guessed from a value's looks (`no` stays `no`), and nothing is built by tags. Plain headers, which nearly all
are, take a short way that is as strict as YAML; the rest goes to PyYAML's own loader in Python, because the one in C ends
the process on deep nesting.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import msgspec

MAX_HEADER = 32 * 1024
# PyYAML's time grows with the square of the depth.
MAX_DEPTH = 32
Value = str | list[Any] | dict[str, Any]

_QUOTES = frozenset("'\"")
# What a text without quotes may begin with, besides a letter beyond ASCII; only `: ` and ` #` mean anything further on.
_BEGINNINGS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./(+")
_PAIR = re.compile(r"([A-Za-z_][\w-]*):(?:[ ]+(.*))?", re.ASCII)
_COLON = r"(?a)([A-Za-z_][\w-]*): +([^\s'\"\[{|>&*!%@`].*)"


class Unreadable(msgspec.Struct, frozen=True):
    """Why a header is no mapping; `line` counts from 0 within it."""

    line: int
    message: str


class _NotPlain(Exception):
    """The header uses more of YAML than the short way knows."""


def read_header(text: str) -> dict[str, Value] | Unreadable:
    """The mapping in a header, or why there is none."""
    if len(text) > MAX_HEADER:
        return Unreadable(0, f"the header is longer than {MAX_HEADER // 1024} KiB")
    lines = [_spaced(line) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    try:
        return _plain_mapping(lines)
    except _NotPlain:
        return _loaded("\n".join(lines))


def _spaced(line: str) -> str:
    """A line with a space after its key, where a tab stands that YAML's readers do not agree on."""
    return re.sub(r"\A([\"']?[A-Za-z_][\w-]*[\"']?[ \t]*:)[ \t]+", r"\1 ", line).rstrip("\t") if "\t" in line else line


def quoted_titles(text: str) -> str:
    """The header with values that hold a bare `: ` put into quotes: what people and models most often get wrong."""
    return "\n".join(_quoted(_spaced(line)) for line in text.replace("\r\n", "\n").split("\n"))


def _quoted(line: str) -> str:
    found = re.fullmatch(_COLON, line.rstrip())
    if found is None or ": " not in found[2]:
        return line
    escaped = found[2].replace("'", "''")
    return f"{found[1]}: '{escaped}'"


def _plain_mapping(lines: list[str]) -> dict[str, Value]:
    mapping: dict[str, Value] = {}
    index = 0
    while index < len(lines):
        line = lines[index].rstrip(" ")
        index += 1
        if not line:
            continue
        found = _PAIR.fullmatch(line)
        if found is None:
            raise _NotPlain
        if found[2]:
            mapping[found[1]] = _value(found[2])
        else:
            mapping[found[1]], index = _below(lines, index)
    return mapping


def _below(lines: list[str], index: int) -> tuple[Value, int]:
    """What stands below a key without a value: a list, a mapping of one level, or nothing."""
    entries, after = _entries(lines, index)
    if entries:
        return entries, after
    nested: dict[str, Any] = {}
    while index < len(lines) and lines[index].startswith("  "):
        found = _PAIR.fullmatch(lines[index][2:].rstrip(" "))
        if found is None:
            break
        nested[found[1]] = _value(found[2]) if found[2] else ""
        index += 1
    return nested or "", index


def _entries(lines: list[str], index: int) -> tuple[list[Any], int]:
    entries: list[Any] = []
    indent = None
    while index < len(lines):
        space, dash, entry = lines[index].rstrip(" ").partition("- ")
        if not dash or space.strip(" "):
            break
        if indent not in (None, space):
            raise _NotPlain
        indent = space
        entries.append(_scalar(entry.lstrip(" ")))
        index += 1
    return entries, index


def _value(text: str) -> Value:
    if not text.startswith("["):
        return _scalar(text)
    if not text.endswith("]") or any(mark in text[1:-1] for mark in "[]{}#?\"'"):
        raise _NotPlain
    inner = text[1:-1].strip(" ")
    return [_scalar(part.strip(" ")) for part in inner.split(",")] if inner else []


def _scalar(text: str) -> str:
    first, inner = text[:1], text[1:-1]
    if first in _QUOTES and text[1:].endswith(first) and first not in inner and "\\" not in inner:
        value = inner
    elif (first in _BEGINNINGS or not first.isascii()) and ": " not in text and " #" not in text and text[-1:] != ":":
        value = text
    else:
        raise _NotPlain
    # Neither a control character nor one of YAML's own line breaks is printable.
    if not text.isprintable():
        raise _NotPlain
    return value


def _loaded(text: str) -> dict[str, Value] | Unreadable:
    import yaml  # noqa: PLC0415 - takes longer than reading a small backlog, and few have a header that needs it

    if _depth(text) > MAX_DEPTH:
        return Unreadable(0, "the header is nested too deeply")
    try:
        found = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it builds nothing but texts, lists and mappings
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
        return Unreadable(0, "the header is no mapping of keys to values")
    return {key: value for key, value in found.items() if isinstance(key, str)}


def _depth(text: str) -> int:
    """How deep brackets are nested, those in quotes included."""
    steps = ((mark in "[{") - (mark in "]}") for mark in text if mark in "[]{}")
    return max(itertools.accumulate(steps), default=0)
