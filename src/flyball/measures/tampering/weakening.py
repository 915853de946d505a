"""What tests ask for: which a source defines, what these assert, and how an accepted test file may be changed."""

import ast
import copy
import re

from flyball.measures.sources import (
    Defined,
    Function,
    called_name,
    declared_tests,
    functions,
    is_script,
    parse,
    text_of,
)
from flyball.measures.tampering.growth import added_blocks, is_balanced, only_grows

_SKIP = re.compile(r"(?:^|\.)(skip|skipif|skipIf|skipUnless|xfail|expectedFailure|importorskip|SkipTest|skipTest)$")
_OTHER_SKIP = re.compile(
    r"\b(?:xit|xdescribe|xtest|it\.skip|test\.skip|describe\.skip|it\.todo|test\.todo)\b|\bt\.Skip|#\[ignore|@Disabled|@Ignore"
)
_OTHER_TEST = re.compile(r"\s*(?:(?:it|test|describe)(?:\.each)?\s*[(`]|import\b|const\b.*\brequire\()")
_OTHER_CHECK = re.compile(r"\b(?:expect|assert\w*|require\.\w+|t\.(?:Error|Fatal)\w*|should)\b")
_CHECKS = re.compile(r"_*(?:check|assert|expect|verify|ensure|should)")


def may_become(
    path: str, accepted: bytes | None, candidate: bytes | None, *, rewritable: bool, tests_may_grow: bool
) -> bool:
    """Whether an accepted test file may be changed in this way.

    In a `rewritable` one as many tests must ask for as much; one whose `tests_may_grow` may get more tests and stays as it is otherwise.
    """
    if accepted is None or accepted == candidate:
        return True
    if candidate is None:
        return False
    old, new = (parse(accepted), parse(candidate)) if path.endswith(".py") else (None, None)
    if old is None:
        before, after = text_of(accepted), text_of(candidate)
        adds = _only_adds_tests(before, after) if is_script(path) else only_grows(before, after)
        return tests_may_grow and (adds or after.startswith(before.rstrip() + "\n"))
    if new is None:
        return False
    return (tests_may_grow and _is_extended(old.body, new.body)) or (rewritable and not _asks_less(old, new))


def text_asks_less(accepted: bytes | None, candidate: bytes | None) -> bool:
    """Whether a source in any language has fewer assertions than it had, or more tests that are skipped."""
    before, after = text_of(accepted), text_of(candidate)
    fewer = len(_OTHER_CHECK.findall(after)) < len(_OTHER_CHECK.findall(before))
    return fewer or len(_OTHER_SKIP.findall(after)) > len(_OTHER_SKIP.findall(before))


def _asks_less(old: ast.Module, new: ast.Module) -> bool:
    after = tests_defined(new)
    return any(
        name not in after or _demands(after[name]) < _demands(node) or _skips(after[name]) - _skips(node)
        for name, node in tests_defined(old).items()
    )


def _demands(function: Function) -> int:
    return sum(not is_always_true(check) for check in checks(function))


def _skips(function: Function) -> set[str]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Name))
    return {name for node in nodes if _SKIP.search(name := ast.unparse(node))}


def _is_extended(old: list[ast.stmt], new: list[ast.stmt]) -> bool:
    """Whether all that was there is there in its order, or asks for more, and what came between is imports and tests."""
    left = list(old)
    for node in new:
        if left and _asks_as_much(left[0], node):
            left.pop(0)
        elif not _is_addition(node):
            return False
    return not left


def _asks_as_much(old: ast.stmt, new: ast.stmt) -> bool:
    """Whether a statement is as it was, imports more, or is a test, or a class of tests, with more behind what it had."""
    if ast.dump(old) == ast.dump(new):
        return True
    if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
        names = {ast.dump(alias) for alias in new.names}
        same = (old.module, old.level) == (new.module, new.level)
        return same and all(ast.dump(alias) in names for alias in old.names)
    if not (isinstance(old, Defined) and isinstance(new, Defined)) or _heading_of(old) != _heading_of(new):
        return False
    if isinstance(old, ast.ClassDef):
        return bool(tests_defined(ast.Module([old], []))) and _is_extended(old.body, new.body)
    # What stands behind the old body runs only after it.
    kept = [ast.dump(node) for node in new.body[: len(old.body)]]
    return old.name.startswith("test") and kept == [ast.dump(node) for node in old.body]


def _heading_of(node: ast.stmt) -> str:
    empty = copy.copy(node)
    empty.body = []  # type: ignore[attr-defined]
    return ast.dump(empty)


def _is_addition(node: ast.stmt) -> bool:
    if isinstance(node, Defined):
        return node.name.startswith(("test", "Test"))
    return isinstance(node, ast.Import | ast.ImportFrom)


def _only_adds_tests(before: str, after: str) -> bool:
    """Whether every line is there as it was, and between them are only whole tests and imports of a script."""
    blocks = added_blocks(before, after)
    return blocks is not None and all(is_balanced(block) and _OTHER_TEST.match(block) for block in blocks)


def tests_defined(module: ast.Module | None) -> dict[str, Function]:
    """Every function that is a test by its name, with the classes around it."""
    found = functions(module) if module is not None else {}
    return {name: nodes[-1] for name, nodes in found.items() if nodes[-1].name.startswith("test")}


def is_for_tests(node: ast.stmt) -> bool:
    """Whether a definition is there for tests by its own text: a fixture, a class of tests, or a function that only asserts."""
    if isinstance(node, ast.ClassDef):
        return any("TestCase" in ast.unparse(base) for base in node.bases) or bool(
            tests_defined(ast.Module([node], []))
        )
    if not isinstance(node, Function):
        return False
    if any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
        return True
    gives = any(isinstance(each, ast.Return) and each.value for each in ast.walk(node))
    return bool(_CHECKS.match(node.name)) and bool(checks(node)) and not gives


def changed_parts(path: str, accepted: bytes, candidate: bytes | None) -> list[str]:
    """What of an accepted test file is not as it was: the text of each test, or of whatever else stands in it."""
    old, new = (parse(accepted), parse(candidate or b"")) if path.endswith(".py") else (None, None)
    if old is None or new is None:
        left = {test.id for test in declared_tests(path, candidate or b"")}
        gone = [test.words for test in declared_tests(path, accepted) if test.id not in left]
        return gone or [text_of(accepted)]
    kept = {ast.dump(node) for node in ast.walk(new) if isinstance(node, ast.stmt)}
    imports = ast.Import | ast.ImportFrom
    outer = [
        node for node in old.body if not isinstance(node, ast.ClassDef) or not tests_defined(ast.Module([node], []))
    ]
    every = [*tests_defined(old).values(), *(node for node in outer if not isinstance(node, imports))]
    return [ast.unparse(node) for node in every if ast.dump(node) not in kept]


def checks(function: ast.AST) -> list[ast.AST]:
    return [n for n in ast.walk(function) if isinstance(n, ast.Assert) or is_check_call(n)]


def is_check_call(node: ast.AST) -> bool:
    """Whether an expression asserts something, by the name of what it calls."""
    name = called_name(node) if isinstance(node, ast.Call) else ""
    return name.startswith("assert") or name in {"raises", "fail", "warns", "approx", "expect"}


def is_always_true(check: ast.AST) -> bool:
    """Whether a check cannot fail, by its own words."""
    if isinstance(check, ast.Assert):
        test = check.test
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            return any(isinstance(v, ast.Constant) and v.value for v in test.values)
        return isinstance(test, ast.Compare) and any(ast.dump(test.left) == ast.dump(c) for c in test.comparators)
    return isinstance(check, ast.Call) and bool(check.args) and all(isinstance(a, ast.Constant) for a in check.args)
