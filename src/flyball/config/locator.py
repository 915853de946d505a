"""Finds the line on which each key of a TOML text stands; the text must be one that `tomllib` has accepted."""

import itertools
import re
from collections.abc import Iterator

Key = str | int
"""A name, or the place in a list, counted from 0."""
Path = tuple[Key, ...]

_SKIPPED = re.compile(r"(?:[ \t\r\n]|#[^\n]*)+")
_BLANKS = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Quotation marks at the end of a multi-line string belong to it, up to two.
_STRINGS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""("{0,2})|\'\'\'.*?\'\'\'(\'{0,2})|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]+")
_DEEPEST = 64
"""Names of a dotted key that are kept: each is kept with all before it."""
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r'\\(?:([btnfr"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))')


def lines(text: str) -> dict[Path, int]:
    """The line, counted from 1, of every table, key and list entry in the text."""
    return _TomlScanner(text).document()


def line_of(text: str, path: Path) -> int:
    """The line of a key; of the nearest table around it where it is not in the text; 1 where there is none, or it is out of reach."""
    try:
        known = lines(text)
    except RecursionError:
        return 1
    return next((known[path[:length]] for length in range(len(path), 0, -1) if path[:length] in known), 1)


class _TomlScanner:
    """Walks over a valid text once; it finds keys and steps over values, which it does not interpret."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted = 0
        self._line = 1
        self._found: dict[Path, int] = {}
        self._lengths: dict[Path, int] = {}

    def document(self) -> dict[Path, int]:
        table: Path = ()
        self._skip()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()
        return self._found

    def _header(self) -> Path:
        line = self._here()
        listed = self._text.startswith("[[", self._at)
        self._at += 2 if listed else 1
        names = self._names()
        self._at += 2 if listed else 1
        path: Path = ()
        for name in names[:-1]:
            path = (*path, name)
            self._found.setdefault(path, line)
            if path in self._lengths:
                # Of a list of tables, a header means the last.
                path = (*path, self._lengths[path] - 1)
        path = (*path, names[-1])
        if listed:
            self._found.setdefault(path, line)
            place = self._lengths.get(path, 0)
            self._lengths[path] = place + 1
            path = (*path, place)
        self._found.setdefault(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line = self._here()
        path = table
        for name in self._names():
            path = (*path, name)
            self._found.setdefault(path, line)
        self._at += 1
        self._value(path)

    def _names(self) -> list[str]:
        names = []
        while True:
            self._skip(_BLANKS)
            names.append(self._name())
            self._skip(_BLANKS)
            if not self._text.startswith(".", self._at):
                return names[:_DEEPEST]
            self._at += 1

    def _name(self) -> str:
        bare = _BARE.match(self._text, self._at)
        if bare:
            self._at = bare.end()
            return bare[0]
        quoted = self._string()
        inner = quoted[1:-1]
        return _ESCAPE.sub(_unescape, inner) if quoted.startswith('"') else inner

    def _string(self) -> str:
        match = _STRINGS.match(self._text, self._at)
        assert match is not None, "the text is valid TOML"
        self._at = match.end()
        return match[0]

    def _value(self, path: Path) -> None:
        self._skip(_BLANKS)
        start = self._text[self._at]
        if start == "[":
            for place in self._entries("]"):
                self._found.setdefault((*path, place), self._here())
                self._value((*path, place))
        elif start == "{":
            for _ in self._entries("}"):
                self._pair(path)
        elif start in "\"'":
            self._string()
        else:
            match = _SCALAR.match(self._text, self._at)
            assert match is not None, "the text is valid TOML"
            self._at = match.end()

    def _entries(self, end: str) -> Iterator[int]:
        """Stand on each entry of a list or inline table in turn, then past its end."""
        self._at += 1
        for place in itertools.count():
            self._skip()
            if self._text[self._at] == ",":
                self._at += 1
                self._skip()
            if self._text[self._at] == end:
                self._at += 1
                return
            yield place

    def _skip(self, what: re.Pattern[str] = _SKIPPED) -> None:
        match = what.match(self._text, self._at)
        if match:
            self._at = match.end()

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line


def _unescape(match: re.Match[str]) -> str:
    short, *codes = match.groups()
    return _ESCAPES[short] if short else chr(int(codes[0] or codes[1], 16))
