"""The assertions of a test in JavaScript or TypeScript: made to note that they are come to, and asked for something false."""

import re
from collections.abc import Iterator

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


def asserting(text: str) -> Iterator[tuple[int, int, str]]:
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


def wrapper(path: str, text: str) -> str:
    """The functions that planted tests are put in; they ask each check of the source for something false."""
    typed = re.search(r"\.[cm]?tsx?$", path) is not None
    words = {"any": ": any", "this": "this: any, ", "many": ": any[]"}
    words = words if typed else dict.fromkeys(words, "")
    return _WRAPPER.format(**words, probes=", ".join(_probes(text, typed=typed)))


def _probes(text: str, *, typed: bool) -> Iterator[str]:
    given = "(a: any, b: any)" if typed else "(a, b)"
    cast = " as any" if typed else ""
    callees = sorted({callee for _, _, callee in asserting(text)})
    for callee in (c for c in callees if not c.startswith("expect") and not c.startswith(("t.", "this."))):
        yield f'"{callee}": {given} => ({callee}{cast})(a, b)'
    matchers = {found["matcher"] for found in _MATCHER.finditer(text)} if "expect" in callees else set()
    for matcher in sorted(each for each in matchers if not _WRITES.search(each)):
        yield f'"{matcher}": {given} => (expect(a){cast}).{matcher}(b)'
