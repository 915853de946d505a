"""Which files are tests, and which tests a Python source holds, without running anything."""

import ast
import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

import msgspec

_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "testdata", "__snapshots__"})
_PYTHON = re.compile(r"(test_.*|.*_tests?|tests?)\.py")
_OTHER = re.compile(
    r".*_test\.(go|exs?|dart|cc|cpp|c|rb|clj)|.*[.-](test|spec)\.[cm]?[jt]sx?|.*_spec\.(rb|lua|cr)"
    r"|.*(Test|Tests|Spec|IT)\.(java|kt|scala|groovy|cs|swift|php)|Test.*\.(java|kt)"
    r"|.*\.(bats|t)|(test[_-].*|.*[._-]test)\.(sh|bash|zsh|ksh|c|cc|cpp|lua|pl|tcl|awk)"
)
_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?")
_CODE = re.compile(r".*\.(pyi?|go|[cm]?jsx?|tsx?|rs|java|kt|scala|rb|php|c|h|cc|cpp|hpp|cs|swift|exs?)")

SCRIPT_ENDINGS = (
    *("", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".json"),
    *("/index.js", "/index.mjs", "/index.ts", "/index.tsx"),
)
"""What may be left out of a path that a script imports."""

LARGEST = 2 * 1024 * 1024
"""Bytes of a source that is still parsed."""


class SourceTest(msgspec.Struct, frozen=True):
    """A test as it stands in the source: its id without parameters, and the words a person wrote around it."""

    id: str
    line: int
    words: str
    body: str


def in_test_folder(path: str) -> bool:
    """Whether a path lies in a folder that holds tests by convention."""
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
    return not held or any(source_tests(source, path) is None or source_tests(source, path) for source in held)


def is_loaded_unasked(path: str, read: Callable[[str], bytes | None], tests: Iterable[str]) -> bool:
    """Whether a runner loads a new file though none of the `tests` names it: a test, a package around tests, a script among them."""
    place = PurePosixPath(path)
    if place.name == "__init__.py":
        return any(test.startswith(f"{place.parent}/") for test in tests)
    if _SCRIPT.fullmatch(path) and in_test_folder(path):
        return True
    named = _PYTHON.fullmatch(place.name) or _OTHER.fullmatch(place.name)
    return named is not None and is_test_file(path, read(path))


def is_code(path: str) -> bool:
    return bool(_CODE.fullmatch(path))


def parse(source: bytes | None) -> ast.Module | None:
    """The syntax tree of a Python source, or None where it has none."""
    if source is None or len(source) > LARGEST:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imports(source: bytes) -> set[str]:
    """The first names of the modules a Python source imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(parse(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def source_tests(source: bytes, path: str) -> tuple[SourceTest, ...] | None:
    """The tests a Python source defines, as pytest and unittest name them; None when it cannot be parsed."""
    module = parse(source)
    if module is None:
        return None
    lines = source.decode("utf-8", "replace").splitlines()
    return tuple(_walk(module.body, (path,), lines))


def _walk(body: list[ast.stmt], prefix: tuple[str, ...], lines: list[str]) -> list[SourceTest]:
    found: list[SourceTest] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            words = "\n".join((node.name, ast.get_docstring(node) or "", _comment_above(node, lines)))
            found.append(SourceTest("::".join((*prefix, node.name)), node.lineno, words, ast.dump(node)))
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            found += _walk(node.body, (*prefix, node.name), lines)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            found += _walk(node.body, prefix, lines)
    return found


def _is_test_class(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("TestCase" in ast.unparse(b) for b in node.bases)


def _comment_above(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    found: list[str] = []
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
        found.append(lines[first].strip())
    inside = [line.strip() for line in lines[node.lineno : node.end_lineno] if line.lstrip().startswith("#")]
    return "\n".join(found[::-1] + inside)
