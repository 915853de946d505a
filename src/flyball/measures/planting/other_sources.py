"""Plants failures in sources of JavaScript, TypeScript and Go, and has assertions of scripts tell that they are reached."""

import re
from collections.abc import Iterator
from typing import Literal

from flyball.measures.scripts import Code, DeclaredTest, tests_in_script
from flyball.measures.sources import is_script

_GO = re.compile(r"^func (?P<name>Test\w*)\((?P<t>\w+) \*testing\.T\) \{", re.MULTILINE)
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
var _flyballOdd{any} = "";
function _flyballSeen(check{any}){any} {{
  _flyballNoted += 1;
  if (typeof check !== "function") return check;
  const watch{any} = {{ apply(to{any}, self{any}, given{any}) {{ _flyballInspect(given[0], 3); return Reflect.apply(to, self, given); }} }};
  return new Proxy(check, watch);
}}
function _flyballInspect(value{any}, depth{any}){any} {{
  if (!value || typeof value !== "object" || !depth) return;
  try {{
    if (typeof value.asymmetricMatch === "function") {{
      for (const [a, b] of [[591377, -402653], ["planted one", "planted two"]])
        if (value.asymmetricMatch(a) && value.asymmetricMatch(b)) _flyballOdd = "a value that it compares equals every " + typeof a;
    }} else Object.values(value).slice(0, 50).forEach((each) => _flyballInspect(each, depth - 1));
  }} catch {{}}
}}
function _flyballPlanted(given{any}, mark{any}, own{any}){any} {{
  if (typeof given !== "function") return given;
  if (!mark) return function () {{}};
  return async function ({this}...rest{many}) {{
    const since = _flyballNoted;
    _flyballOdd = "";
    let whole = true;
    try {{ await given.apply(this, rest); }} catch {{ whole = false; }}
    let wrong = "";
    if (whole && own && _flyballNoted === since) wrong = "none of its assertions is run";
    if (whole && _flyballOdd) wrong = _flyballOdd;
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


Language = Literal["script", "go", ""]


def language(path: str) -> Language:
    return "go" if path.endswith(".go") else "script" if is_script(path) else ""


def sites(path: str, text: str) -> tuple[DeclaredTest, ...]:
    if language(path) == "go":
        return tuple(DeclaredTest(found["name"], (found.span(),)) for found in _GO.finditer(text))
    return tuple(test for test in tests_in_script(text) if not test.skipped)


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
