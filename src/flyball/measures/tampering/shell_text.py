"""Takes a shell text apart: its simple commands, and which of them are run to have their output looked at."""

import re
from collections.abc import Iterator

import msgspec

_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_SET = re.compile(r"^\s*(?:export\s+)?(\w+)\s*[:?]{0,2}=\s*([^\s$`;&|][^$`;&|\n]*?)\s*$", re.MULTILINE)
# Possessive, so that quotes and brackets that nobody closes are read in linear time.
_INNER = r"\$\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\)|`[^`]*+`"
_QUOTED = rf"\"(?:{_INNER}|\\.|[^\"\\])*+\"|'[^']*+'"
_PLAIN = r"[^\s;&|<>()]"
_TOKEN = re.compile(
    rf"(?P<comment>(?<!\S)#[^\n]*)|(?P<writes>(?:&|\d*)>(?:&[\d-]*|>?\|?[ \t]*(?P<target>(?:{_QUOTED}|{_PLAIN})*+)))"
    rf"|(?P<reads>\d*<[<&-]*[ \t]*(?:{_QUOTED}|{_PLAIN})*+)|(?P<pipe>\|&?(?!\|))|(?P<end>&&|\|\||[;&()\n])"
    rf"|(?P<word>(?:{_QUOTED}|{_INNER}|\\.|(?![\"'`]){_PLAIN})++)",
    re.DOTALL,
)
_PART = re.compile(
    rf"(?P<inner>{_INNER})|\\(?P<letter>.)|\"(?P<double>(?:{_INNER}|\\.|[^\"\\])*+)\"|'(?P<single>[^']*)'", re.DOTALL
)
_WITHIN = re.compile(rf"(?P<inner>{_INNER})|\\(?P<letter>.)", re.DOTALL)
_PASSES_ON = frozenset({"tee", "cat", "ts", "tail", "head", "less", "more"})
DEEPEST = 20


class ShellCommand(msgspec.Struct):
    """One simple command; it is `examined` where somebody looks at what it prints: it is captured, piped on, written to a file."""

    words: list[str] = []
    examined: bool = False


def commands(text: str, depth: int = 0) -> Iterator[ShellCommand]:
    """The commands of a text in their order, those within others before them; variables that it sets itself are put in."""
    plain = _VARIABLE.sub(r"$\1", text.replace("\\\n", " "))
    values = {name: value.strip("\"'") for name, value in _SET.findall(plain)}
    if values:
        plain = re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), plain)
    pipeline = [ShellCommand()]
    for token in _TOKEN.finditer(plain):
        kind, now = token.lastgroup, pipeline[-1]
        if kind == "word":
            inner: list[str] = []
            now.words.append(_without_quotes(token[0], _PART, inner))
            for each in (each for text in inner if depth < DEEPEST for each in commands(text, depth + 1)):
                each.examined = True
                yield each
        elif kind == "writes":
            now.examined |= token["target"] not in {None, "", "/dev/null"}
        elif kind == "pipe":
            pipeline.append(ShellCommand())
        elif kind == "end":
            yield from _end_pipeline(pipeline)
            pipeline = [ShellCommand()]
    yield from _end_pipeline(pipeline)


def _without_quotes(word: str, parts: re.Pattern[str], inner: list[str]) -> str:
    """A word as a program gets it; commands whose output stands in it go to `inner`, and a variable takes their place."""

    def plain(part: re.Match[str]) -> str:
        found = part.groupdict()
        if found["inner"]:
            inner.append(found["inner"].removeprefix("$")[1:-1])
            return "$_"
        if found.get("double") is not None:
            return _without_quotes(found["double"], _WITHIN, inner)
        return found["letter"] or found.get("single") or ""

    return parts.sub(plain, word)


def _end_pipeline(pipeline: list[ShellCommand]) -> Iterator[ShellCommand]:
    for at, each in enumerate(pipeline):
        each.examined |= any(later.words and later.words[0] not in _PASSES_ON for later in pipeline[at + 1 :])
        if each.words:
            yield each
