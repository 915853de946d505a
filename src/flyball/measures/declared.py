"""Which tests a source declares, by the way each language writes them, and whether a report has one of them."""

import re
from collections.abc import Iterable, Iterator

from flyball.measures.sources import SourceTest, source_tests

_SCRIPT = re.compile(r"""\b(?:test|it)((?:\.\w+)*)\s*\(\s*(["'`])(?P<name>.+?)\2""")
_AROUND = re.compile(r"""\b(?:describe|context|suite)(?:\.\w+)*\s*\(?\s*(["'`])(.+?)\1""")
_TESTS = {
    "go": re.compile(r"^func (?P<name>Test\w+)\(", re.MULTILINE),
    "rs": re.compile(r"#\[(?:\w+::)*test\b[^\]]*\][^{;]*?\bfn (?P<name>\w+)"),
    "java": re.compile(r"@(?:Parameterized)?Test\b[^{;]*?\bvoid (?P<name>\w+)"),
    "kt": re.compile(r"@(?:Parameterized)?Test\b[^{;]*?\bfun (?P<name>\w+|`[^`]+`)"),
    "cs": re.compile(r"\[(?:Fact|Theory|Test|TestMethod)\b[^{;]*?\b(?P<name>\w+)\s*\("),
    "rb": re.compile(r"""\b(?:it|test|specify)\s+["'](?P<name>[^"']+)|\bdef (?=test_)(?P<method>\w+)"""),
    "php": re.compile(r"\bfunction (?P<name>test\w+)"),
    "bats": re.compile(r"""^@test\s+(["']?)(?P<name>.+?)\1\s*\{""", re.MULTILINE),
    "exs": re.compile(r"""\btest\s+"(?P<name>[^"]+)"""),
} | dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), _SCRIPT)
_PLACEHOLDER = re.compile(r"\\?\$\\?\{.*?\\?\}|%[sdifjo#]|\\?#\\?\{.*?\\?\}|\\?\$\w+")


def is_countable(path: str) -> bool:
    """Whether single tests can be read from such a file."""
    return path.endswith(".py") or path.rpartition(".")[2] in _TESTS


def declared_tests(path: str, source: bytes) -> tuple[SourceTest, ...]:
    """The tests of a source; none where its language is not known."""
    if path.endswith(".py"):
        return source_tests(source, path) or ()
    pattern = _TESTS.get(path.rpartition(".")[2])
    return tuple(_written(path, source.decode("utf-8", "replace"), pattern)) if pattern else ()


def _written(path: str, text: str, pattern: re.Pattern[str]) -> Iterator[SourceTest]:
    """Each test with the words of the comment above and of the group around."""
    for found in pattern.finditer(text):
        name = next(value for value in found.groupdict().values() if value)
        before = text[: found.start()]
        above = [line.strip() for line in before.splitlines()[-4:] if re.match(r"\s*(?://|#|\*|/\*)", line)]
        around = [group[2] for group in _AROUND.finditer(before)][-1:]
        words = "\n".join((name, *above, *around))
        yield SourceTest(f"{path}::{name}", before.count("\n") + 1, words, found[0])


def ending_with(name: str) -> re.Pattern[str]:
    """Ids that end with a declared test's own name: what stands before is around it, and a number behind tells equal names apart."""
    written = _PLACEHOLDER.sub(".*?", re.escape(name))
    return re.compile(rf"(?:^|(?<![A-Za-z0-9_])){written}(?: \(\d+\))?$", re.DOTALL)


def is_reported(declared: str, reported: Iterable[str]) -> bool:
    """Whether a report has a declared test: runners put packages, classes and groups before its name and parameters after it."""
    name = _PLACEHOLDER.sub(".*?", re.escape(declared.partition("::")[2].strip("`")))
    wanted = re.compile(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", re.DOTALL)
    return any(wanted.search(each) for each in reported)
