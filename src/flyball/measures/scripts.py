"""Reads sources of JavaScript and TypeScript: which letters are code, and which tests and groups are declared where."""

import re
from collections.abc import Iterator
from functools import cached_property

import msgspec

_CALL = re.compile(
    r"(?<![\w$])(?:(?P<test>test|it|specify)|describe|context|suite)(?P<members>(?:\s*\.\s*\w+)*)\s*(?=[(`<])"
)
_SKIPS = frozenset({"skip", "todo", "fixme"})
_NO_TEST = frozenset(
    "skip todo fixme failing fails describe suite step extend use beforeEach afterEach beforeAll afterAll before after".split()
)
_TWICE_CALLED = frozenset({"each", "for", "skipIf", "runIf"})
"""What is called with a table or a condition, and gives what is called with the test."""
_NAME = re.compile(r"""\s*(["'`])(?P<name>(?:\\.|(?!\1).)*)\1""", re.DOTALL)
_REGEX_AFTER = re.compile(r"(?:^|[(,=:\[!&|?{};+\-*%~^<>\n]|\breturn|\btypeof|\bcase)\s*$")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class DeclaredTest(msgspec.Struct, frozen=True):
    """A place in a source where a test is declared; without a name where that is no plain text. `around` are the groups it is in."""

    name: str
    arguments: tuple[tuple[int, int], ...]
    start: int = 0
    around: tuple[str, ...] = ()
    skipped: bool = False


def tests_in_script(text: str) -> Iterator[DeclaredTest]:
    code = Code(text)
    groups: list[tuple[int, int, str]] = []
    for call in _CALL.finditer(text):
        words = set(re.findall(r"\w+", call["members"]))
        parts = _arguments(code, text, call.end(), words) if code.solid[call.start()] else None
        if not parts:
            continue
        named = _NAME.fullmatch(text[slice(*parts[0])].rstrip())
        name = named["name"] if named else ""
        if not call["test"] or "describe" in words:
            groups.append((call.start(), parts[-1][1], name))
        elif not _NO_TEST & (words - _SKIPS) and (len(parts) > 1 or words & _SKIPS):
            around = tuple(title for start, end, title in groups if start < call.start() < end)
            yield DeclaredTest(name, tuple(parts[1:]), call.start(), around, bool(words & _SKIPS))


def _arguments(code: "Code", text: str, at: int, words: set[str]) -> list[tuple[int, int]] | None:
    """The arguments that declare a test or a group, past its types, and past its table or condition where it has one."""
    place = _after_types(text, at)
    if place is not None and _TWICE_CALLED & words:
        place = code.after_group(place)
    return code.arguments(place) if place is not None and text[place : place + 1] == "(" else None


def _after_types(text: str, at: int) -> int | None:
    """Past type arguments, as in `it.each<[number, number]>(…)`."""
    if text[at : at + 1] != "<":
        return at
    depth = 0
    for place in range(at, min(len(text), at + 2000)):
        depth += (text[place] == "<") - (text[place] == ">" and text[place - 1] != "=")
        if depth == 0:
            return place + 1
    return None


class Code:
    """A source and which of its letters are code: not within a string, a comment, a template's words or a regular expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.solid = bytearray(b"\1") * len(text)
        self._templates: dict[int, int] = {}
        self._comments: list[tuple[int, int]] = []
        self._read()

    @property
    def plain(self) -> list[str]:
        """The words of the source without its comments."""
        parts, at = [], 0
        for start, end in (*self._comments, (len(self._text), 0)):
            parts.append(self._text[at:start])
            at = end
        return " ".join(parts).split()

    @cached_property
    def pairs(self) -> dict[int, int]:
        found: dict[int, int] = {}
        opened: list[int] = []
        for place, letter in enumerate(self._text):
            if not self.solid[place]:
                continue
            if letter in _PAIRS:
                opened.append(place)
            elif opened and letter == _PAIRS[self._text[opened[-1]]]:
                found[opened.pop()] = place
        return found

    def _read(self) -> None:
        at = depth = 0
        inside: list[tuple[int, int]] = []
        while at < len(self._text):
            letter, end = self._text[at], _end_of_words(self._text, at)
            if end is None and (letter == "`" or (letter == "}" and inside and inside[-1][1] == depth)):
                start = at if letter == "`" else inside.pop()[0]
                end = _template(self._text, at + 1)
                if self._text[end - 1] == "{":
                    inside.append((start, depth))
                else:
                    self._templates[start] = end
            elif end is None:
                depth += (letter == "{") - (letter == "}")
            if end is not None:
                self.solid[at:end] = bytes(end - at)
                self._comments += [(at, end)] if self._text.startswith(("//", "/*"), at) else []
            at = end if end is not None else at + 1

    def after_group(self, at: int) -> int | None:
        """Past a table of cases or a condition, in brackets or as a template, and the blanks behind it."""
        closing = self._templates.get(at, 0) - 1 if self._text[at : at + 1] == "`" else self.pairs.get(at)
        if closing is None or closing < at:
            return None
        end = closing + 1
        while end < len(self._text) and self._text[end].isspace():
            end += 1
        return end

    def arguments(self, at: int) -> list[tuple[int, int]] | None:
        """Where each argument of a call stands; None where its brackets do not close."""
        closing = self.pairs.get(at)
        if closing is None:
            return None
        depth, start, found = 0, at + 1, []
        for place in range(at + 1, closing):
            letter = self._text[place]
            if self.solid[place]:
                depth += (letter in "([{") - (letter in ")]}")
                if letter == "," and depth == 0:
                    found.append((start, place))
                    start = place + 1
        found.append((start, closing))
        return [part for part in found if self._text[slice(*part)].strip()]


def _template(text: str, at: int) -> int:
    """The end of a template's words: past its closing tick, or past `${`."""
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            return at + 1
        elif text.startswith("${", at):
            return at + 2
        else:
            at += 1
    return len(text)


def _end_of_words(text: str, at: int) -> int | None:
    """The end of the comment, string or regular expression that begins here, if one does."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    if text[at] in "\"'":
        found = re.compile(r"""(["'])(?:\\.|(?!\1)[^\n\\])*\1""", re.DOTALL).match(text, at)
        return found.end() if found else None
    if text[at] == "/" and _REGEX_AFTER.search(text[max(0, at - 40) : at]):
        found = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*").match(text, at)
        return found.end() if found else None
    return None
