"""Which files are tests, which tests a source declares and which criteria these name, without running anything."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath

import msgspec
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from flyball.core.model.task import Item
from flyball.core.text.criteria import Criterion, names_criterion
from flyball.measures.scripts import tests_in_script

_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "testdata", "__snapshots__"})
_PYTHON = re.compile(r"(test_.*|.*_tests?|tests?)\.py")
_OTHER = re.compile(
    r".*_test\.(go|exs?|dart|cc|cpp|c|rb|clj)|.*[.-](test|spec)\.[cm]?[jt]sx?|.*_spec\.(rb|lua|cr)"
    r"|.*(Test|Tests|Spec|IT)\.(java|kt|scala|groovy|cs|swift|php)|Test.*\.(java|kt)"
    r"|.*\.(bats|t)|(test[_-].*|.*[._-]test)\.(sh|bash|zsh|ksh|c|cc|cpp|lua|pl|tcl|awk)|tests?\.(c|cc|cpp)"
)
_CODE = re.compile(r".*\.(pyi?|go|[cm]?jsx?|tsx?|rs|java|kt|scala|rb|php|c|h|cc|cpp|hpp|cs|swift|exs?)")
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
}
_PLACEHOLDER = re.compile(r"\\?\$\\?\{.*?\\?\}|%[sdifjo#]|\\?#\\?\{.*?\\?\}|\\?\$\w+")

SCRIPT_ENDINGS = (
    *("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".json"),
    *("/index.js", "/index.mjs", "/index.ts", "/index.tsx"),
)
"""What may be left out of a path that a script imports."""

LARGEST = 2 * 1024 * 1024
"""Bytes of a source that is still parsed."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defined = Function | ast.ClassDef
Read = Callable[[str], bytes | None]
"""Gives the content of a file of some tree, None where it has none."""


class SourceTest(msgspec.Struct, frozen=True):
    """A test as it stands in the source: its id without parameters, the words a person wrote around it, and whether it is skipped."""

    id: str
    words: str
    skipped: bool = False


def in_test_folder(path: str) -> bool:
    return any(part in _FOLDERS for part in PurePosixPath(path).parts[:-1])


def looks_like_test(path: str) -> bool:
    """Whether a path is a test or belongs to the tests, by its name alone."""
    name = PurePosixPath(path).name
    return in_test_folder(path) or bool(_PYTHON.fullmatch(name) or _OTHER.fullmatch(name))


def is_test_file(path: str, *sources: bytes | None) -> bool:
    """Whether a file belongs to the tests: by name, and for Python outside a test folder by what it holds.

    A product module may be called `test_utils.py`; without a test in any of its versions it is a product module.
    """
    if not looks_like_test(path):
        return False
    if in_test_folder(path) or not path.endswith(".py"):
        return True
    held = [source for source in sources if source is not None]
    return not held or any(source_tests(source, path) != () for source in held)


def is_loaded_unasked(path: str, read: Read, tests: Iterable[str]) -> bool:
    """Whether a runner loads a new file though none of the `tests` names it: a test, a package around tests, a script among them."""
    place = PurePosixPath(path)
    if place.name == "__init__.py":
        return any(test.startswith(f"{place.parent}/") for test in tests)
    if is_script(path) and in_test_folder(path):
        return True
    named = _PYTHON.fullmatch(place.name) or _OTHER.fullmatch(place.name)
    return named is not None and is_test_file(path, read(path))


def is_code(path: str) -> bool:
    return bool(_CODE.fullmatch(path))


def is_program(path: str, source: bytes | None) -> bool:
    """Whether a file is code, or a script for a shell or another interpreter."""
    return is_code(path) or path.endswith((".sh", ".bash")) or (source or b"").startswith(b"#!")


def is_script(path: str) -> bool:
    return re.fullmatch(r".*\.[cm]?[jt]sx?", path) is not None


def text_of(source: bytes | None) -> str:
    return (source or b"").decode("utf-8", "replace")


def parse(source: bytes | None) -> ast.Module | None:
    if source is None or len(source) > LARGEST:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@cache
def lexer_of(path: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def imports(source: bytes) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(parse(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def top_names(body: Iterable[ast.stmt]) -> set[str]:
    """The names a module or class body binds."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, Defined):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        elif isinstance(node, ast.If | ast.Try | ast.With):
            found |= top_names(node.body)
    return found


def functions(module: ast.Module) -> dict[str, list[Function]]:
    """Every function that a module or a class of it defines, by its name with those of the classes around it."""
    found: dict[str, list[Function]] = {}
    for name, node in _functions(module.body, ()):
        found.setdefault(name, []).append(node)
    return found


def _functions(body: list[ast.stmt], above: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield "::".join((*above, node.name)), node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, (*above, node.name))
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            yield from _functions([*node.body, *getattr(node, "orelse", ())], above)


def source_tests(source: bytes, path: str) -> tuple[SourceTest, ...] | None:
    """The tests a Python source defines, as pytest and unittest name them; None when it cannot be parsed."""
    module = parse(source)
    return None if module is None else tuple(_walk(module.body, (path,), text_of(source).splitlines()))


def _walk(body: list[ast.stmt], prefix: tuple[str, ...], lines: list[str]) -> list[SourceTest]:
    found: list[SourceTest] = []
    for node in body:
        if isinstance(node, Function) and node.name.startswith("test"):
            words = "\n".join((node.name, ast.get_docstring(node) or "", _comment_above(node, lines)))
            found.append(SourceTest("::".join((*prefix, node.name)), words))
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            found += _walk(node.body, (*prefix, node.name), lines)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            found += _walk(node.body, prefix, lines)
    return found


def _is_test_class(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("TestCase" in ast.unparse(b) for b in node.bases)


def _comment_above(node: Function, lines: list[str]) -> str:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    found: list[str] = []
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
        found.append(lines[first].strip())
    inside = [line.strip() for line in lines[node.lineno : node.end_lineno] if line.lstrip().startswith("#")]
    return "\n".join(found[::-1] + inside)


def is_countable(path: str) -> bool:
    return path.endswith(".py") or is_script(path) or path.rpartition(".")[2] in _TESTS


def declared_tests(path: str, source: bytes) -> tuple[SourceTest, ...]:
    """The tests of a source; none where its language is not known."""
    if path.endswith(".py"):
        return source_tests(source, path) or ()
    if is_script(path):
        return tuple(_tests_of_script(path, text_of(source)))
    pattern = _TESTS.get(path.rpartition(".")[2])
    return tuple(_tests_by_pattern(path, text_of(source), pattern)) if pattern else ()


def _tests_of_script(path: str, text: str) -> Iterator[SourceTest]:
    for test in (each for each in tests_in_script(text) if each.name):
        words = "\n".join((test.name, *_comments_above(text[: test.start]), *test.around))
        yield SourceTest(f"{path}::{test.name}", words, skipped=test.skipped)


def _comments_above(before: str) -> list[str]:
    return [line.strip() for line in before.splitlines()[-4:] if re.match(r"\s*(?://|#|\*|/\*)", line)]


def _tests_by_pattern(path: str, text: str, pattern: re.Pattern[str]) -> Iterator[SourceTest]:
    """Each test with the words of the comment above and of the group around."""
    for found in pattern.finditer(text):
        name = next(value for value in found.groupdict().values() if value)
        before = text[: found.start()]
        around = [group[2] for group in _AROUND.finditer(before)][-1:]
        words = "\n".join((name, *_comments_above(before), *around))
        yield SourceTest(f"{path}::{name}", words)


def ending_with(name: str) -> re.Pattern[str]:
    """Ids that end with a declared test's own name: what stands before is around it, and a number behind tells equal names apart."""
    written = _PLACEHOLDER.sub(".*?", re.escape(name))
    return re.compile(rf"(?:^|(?<![A-Za-z0-9_])){written}(?: \(\d+\))?$", re.DOTALL)


def is_reported(declared: str, reported: Iterable[str]) -> bool:
    """Whether a report has a declared test: runners put packages, classes and groups before its name and parameters after it."""
    name = _PLACEHOLDER.sub(".*?", re.escape(declared.partition("::")[2].strip("`")))
    wanted = re.compile(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", re.DOTALL)
    return any(wanted.search(each) for each in reported)


def named_criteria(words: str, items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(item.id for item in items if names_item(words, item))


def is_criterion(item: Item) -> bool:
    """Whether an item is an acceptance criterion, and no subtask or issue."""
    return re.fullmatch(r"AC-[0-9]+", item.id) is not None


def names_item(words: str, item: Item) -> bool:
    """Whether a test's own words name an item: by a criterion's number, or by the item's id as it is."""
    if is_criterion(item):
        return names_criterion(words, Criterion(item.id, item.text, 0))
    spelt = re.sub(r"[^A-Za-z0-9]+", "[-_ ]?", re.escape(item.id).replace("\\", ""))
    return bool(re.search(rf"(?<![A-Za-z0-9]){spelt}(?![0-9])", words, re.IGNORECASE))
