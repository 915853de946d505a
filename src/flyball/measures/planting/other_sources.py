"""Plants failures in sources of JavaScript, TypeScript and Go, and has assertions of scripts tell that they are come to."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import msgspec

from flyball.measures.sources import is_script

_CALL = re.compile(r"(?<![\w$])(?:test|it)((?:\s*\.\s*\w+)*)\s*(?=[(`<])")
_NO_TEST = frozenset(
    "skip todo fixme failing fails describe suite step extend use beforeEach afterEach beforeAll afterAll before after".split()
)
_TWICE_CALLED = frozenset({"each", "for", "skipIf", "runIf"})
"""What is called with a table or a condition, and gives what is called with the test."""
_NAME = re.compile(r"""\s*(["'`])(?P<name>(?:\\.|(?!\1).)*)\1""", re.DOTALL)
_GO = re.compile(r"^func (?P<name>Test\w*)\((?P<t>\w+) \*testing\.T\) \{", re.MULTILINE)
_REGEX_AFTER = re.compile(r"(?:^|[(,=:\[!&|?{};+\-*%~^<>\n]|\breturn|\btypeof|\bcase)\s*$")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ASSERTING = re.compile(
    r"(?<![\w$.])(?P<callee>(?:t\.|this\.)?(?:assert|expect|should)(?:\.(?!assertions\b|hasAssertions\b|extend\b)\w+)*)(?=\s*\()"
)
_IMPORTED = re.compile(
    r"""(?:import\s*\{(?P<names>[^}]*)\}\s*from|(?:const|let|var)\s*\{(?P<given>[^}]*)\}\s*=\s*require\s*\()\s*["'](?:node:)?assert(?:/strict)?["']"""
)
_MATCHER = re.compile(r"\)\s*(?:\.\s*(?:not|resolves|rejects)\s*)*\.\s*(?P<matcher>to[A-Z]\w*|to(?:\.\w+)+)\s*\(")
_WRITES = re.compile(r"Snapshot|toHaveScreenshot")
"""Matchers that keep what they are given."""
_NEEDS_MORE = re.compile(
    r"(?:assert|expect)\.(?:any|anything|objectContaining|arrayContaining|stringContaining|stringMatching|closeTo|poll|soft)"
)
"""Members that assert nothing by themselves."""

_WRAPPER = """
;var _flyballNoted{any} = 0;
function _flyballSeen(check{any}){any} {{ _flyballNoted += 1; return check; }}
function _flyballPlanted(given{any}, mark{any}, own{any}){any} {{
  if (typeof given !== "function") return given;
  if (!mark) return function () {{}};
  return async function ({this}...rest{many}) {{
    const since = _flyballNoted;
    let whole = true;
    try {{ await given.apply(this, rest); }} catch {{ whole = false; }}
    let wrong = "";
    if (whole && own && _flyballNoted === since) wrong = "none of its assertions is run";
    const probes{any} = {{{probes}}};
    for (const name of Object.keys(probes)) {{
      let fails = false;
      for (const [a, b] of [["x", 0], [0, 0], [null, null], [undefined, "a"]]) {{
        try {{ await probes[name](a, b); }} catch {{ fails = true; }}
      }}
      if (whole && !fails && !wrong) wrong = name + " does not fail when it is asked for something false";
    }}
    throw new Error((wrong ? "h" : "x") + mark + " " + wrong);
  }};
}}
"""


class DeclaredTest(msgspec.Struct, frozen=True):
    """A place in a source where a test is declared; without a name where that is no plain text."""

    name: str
    arguments: tuple[tuple[int, int], ...]


Language = Literal["script", "go", ""]


def language(path: str) -> Language:
    return "go" if path.endswith(".go") else "script" if is_script(path) else ""


def sites(path: str, text: str) -> tuple[DeclaredTest, ...]:
    """The tests a source declares, in its order."""
    if language(path) == "go":
        return tuple(DeclaredTest(found["name"], (found.span(),)) for found in _GO.finditer(text))
    return tuple(_in_script(text))


def plant(path: str, text: str, marks: dict[DeclaredTest, str], *, plainly: bool = False) -> str:
    """The source with a failure for each of the sites; one whose mark is empty does nothing any more instead.

    What is planted `plainly` asks nothing of the test's own assertions: a compiler may not let them be written otherwise.
    """
    added: list[tuple[int, int, str]] = []
    script = language(path) == "script"
    solid = Code(text).solid if script else bytearray()
    noted = [each for each in _asserting(text) if solid[each[0]]] if script and not plainly else []
    for start, end, _ in noted:
        added += [(start, len(text), "_flyballSeen("), (end, -len(text), ")")]
    for site, mark in marks.items():
        for start, end in site.arguments:
            if language(path) == "go":
                found = _GO.match(text, start)
                name = found["t"] if found else "t"
                added.append(
                    (end, 0, f' defer {name}.Fatal("{mark}");' if mark else f" if {name} != nil {{ return }};")
                )
            else:
                inner = text[start:end]
                first, last = end - len(inner.lstrip()), start + len(inner.rstrip())
                own = any(first <= place < last for place, _, _ in noted)
                # Of tests within tests the inner one closes first, and what closes comes before what opens.
                added += [(first, first, "_flyballPlanted("), (last, -first, f', "{mark[1:]}", {str(own).lower()})')]
    at, parts = 0, list[str]()
    for place, _, new in sorted(added):
        parts += [text[at:place], new]
        at = place
    planted = "".join((*parts, text[at:]))
    return planted + _wrapper(path, "" if plainly else text) if script else planted


def _in_script(text: str) -> Iterator[DeclaredTest]:
    code = Code(text)
    for call in _CALL.finditer(text):
        words = re.findall(r"\w+", call[1])
        if not code.solid[call.start()] or _NO_TEST & set(words):
            continue
        at = _after_types(text, call.end())
        if at is not None and _TWICE_CALLED & set(words):
            at = code.after_group(at)
        if at is None or text[at : at + 1] != "(":
            continue
        parts = code.arguments(at)
        if parts is None or len(parts) < 2:
            continue
        named = _NAME.fullmatch(text[slice(*parts[0])].rstrip())
        yield DeclaredTest(named["name"] if named else "", tuple(parts[1:]))


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
        """Where each bracket that opens is closed."""
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


def _asserting(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a source calls what it asserts by: the name it does so with, of which the rest is a member, and the whole."""
    names = {n for found in _IMPORTED.finditer(text) for n in _names(found["names"] or found["given"])}
    bare = re.compile(rf"(?<![\w$.])(?P<callee>{'|'.join(map(re.escape, sorted(names)))})(?=\s*\()") if names else None
    for pattern in (_ASSERTING, bare):
        for found in pattern.finditer(text) if pattern else ():
            if not _NEEDS_MORE.match(found["callee"]) and not found["callee"].startswith("should"):
                yield found.start(), found.start() + len(found["callee"].partition(".")[0]), found["callee"]


def _names(listed: str) -> Iterator[str]:
    for each in listed.split(","):
        words = re.findall(r"[\w$]+", each)
        if words and words[0] not in {"AssertionError", "default"}:
            yield words[-1]


def _wrapper(path: str, text: str) -> str:
    """The functions that planted tests are put in; they ask each check of the source for something false."""
    typed = re.search(r"\.[cm]?tsx?$", path) is not None
    words = {"any": ": any", "this": "this: any, ", "many": ": any[]"}
    words = words if typed else dict.fromkeys(words, "")
    return _WRAPPER.format(**words, probes=", ".join(_probes(text, typed=typed)))


def _probes(text: str, *, typed: bool) -> Iterator[str]:
    given = "(a: any, b: any)" if typed else "(a, b)"
    cast = " as any" if typed else ""
    callees = sorted({callee for _, _, callee in _asserting(text)})
    for callee in (c for c in callees if not c.startswith("expect") and not c.startswith(("t.", "this."))):
        yield f'"{callee}": {given} => ({callee}{cast})(a, b)'
    matchers = {found["matcher"] for found in _MATCHER.finditer(text)} if "expect" in callees else set()
    for matcher in sorted(each for each in matchers if not _WRITES.search(each)):
        yield f'"{matcher}": {given} => (expect(a){cast}).{matcher}(b)'
