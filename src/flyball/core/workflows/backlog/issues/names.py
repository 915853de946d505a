"""Finds the ids of issues in a line of prose, however markup, editors and keyboards dress them."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

import msgspec

from flyball.core.workflows.backlog.issues.words import NUMBERED, PREFIXES, USED_PREFIXES, number_of

# People and editors write other spaces, dashes and widths than ASCII has; each becomes one character, so that places stay.
_PLAIN = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), "-"),
    **{0xFF00 + place: chr(0x20 + place) for place in range(1, 0x5F)},
}
_PREFIX = r"(?P<{}>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z][A-Za-z0-9]*)*)"
_TOKEN = re.compile(
    r"(?<![\w.@-])(?:"
    r"(?P<full>[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*[-_][0-9]+@[\w-]+|[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+@[\w-]+"
    r"|[A-Z]+[ #]?[0-9]+@[0-9a-f]{6})(?![\w-]|\.\w)"
    rf"|(?P<short>{_PREFIX.format('prefix')}-[0-9]+)(?![\w@-]|\.[0-9]))"
)
_HASHED = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9]*).*@(?P<hash>[\w-]+)")
_MARKS = re.compile(r"[*`~]+|\\(?=[^\w\s])|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_HIDDEN = re.compile(r"[^\x00-\x7f]|[*`~_\\&]")
_PLACEHOLDER = re.compile(r"<\w+>|\{\w+\}|\[\w+\]|\bNUM\b|NNN|XXX|###|\.\.\.|…")
_SHORTEST = 3


class Known(msgspec.Struct, frozen=True):
    """Issues that have a block or stand in history, by id and by number, and the prefixes that make a number one of theirs."""

    ids: frozenset[str] = frozenset()
    prefixes: frozenset[str] = PREFIXES | USED_PREFIXES

    @classmethod
    def of(cls, ids: Iterable[str]) -> Known:
        given = tuple(ids)
        numbers = [found for id in given if (found := NUMBERED.fullmatch(number_of(id)))]
        own = {found[1] for found in numbers}
        return cls(frozenset((*given, *map(number_of, given))), PREFIXES | USED_PREFIXES | own)


def plain(text: str) -> str:
    """The text with the spaces, dashes and letters of ASCII; as long as it was."""
    return text if text.isascii() else text.translate(_PLAIN)


def bare(line: str) -> str:
    """A line without what a reader does not see: emphasis, escapes, entities, and characters of no width."""
    if not _HIDDEN.search(line):
        return line
    seen = html.unescape(line) if "&" in line else line
    if not seen.isascii():
        seen = "".join(mark for mark in plain(seen) if unicodedata.category(mark) != "Cf")
    return _MARKS.sub("", seen)


def is_placeholder(text: str) -> bool:
    """Whether a text only shows the form of an id."""
    return _PLACEHOLDER.search(text) is not None


def names_in(line: str, known: Known) -> list[str]:
    """The ids in a line: `PREFIX-NUM@HASH`, or `PREFIX-NUM` where the prefix is one of an issue."""
    tokens = (token for token in _TOKEN.finditer(bare(line)) if not is_placeholder(token[0]))
    return [_as_known(token[0], known) for token in tokens if _is_issue(token, known)]


def _is_issue(token: re.Match[str], known: Known) -> bool:
    if token["full"]:
        parts = _HASHED.fullmatch(token["full"])
        # A package with a version, or an address, has small letters before the at sign, and no hash behind it.
        small = parts is not None and not parts["prefix"].isupper() and parts["prefix"].upper() not in known.prefixes
        return not small or (parts is not None and re.fullmatch(r"[0-9a-f]{6}", parts["hash"]) is not None)
    prefix = token["prefix"]
    number = token["short"].rpartition("-")[2]
    if not prefix.isupper() and len(number) < _SHORTEST:
        return False  # `test-1` is a word, `bug-001` is a number somebody gave
    upper = prefix.upper()
    return bool({upper, upper.rpartition("-")[2], upper.partition("-")[0]} & known.prefixes)


def _as_known(name: str, known: Known) -> str:
    """A name as its issue has it: small letters may stand for great ones."""
    number, at, mark = name.partition("@")
    great = f"{number.upper()}{at}{mark}"
    return great if name not in known.ids and great in known.ids else name
