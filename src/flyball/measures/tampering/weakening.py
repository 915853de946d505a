"""What tests ask for: which a source defines, what these assert, and how an accepted test file may be changed."""

import ast
import copy
import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from flyball.measures.sources import (
    Defined,
    Function,
    called_name,
    declared_tests,
    functions,
    is_script,
    parse,
    text_of,
    top_names,
)
from flyball.measures.tampering.growth import added_blocks, is_balanced, only_grows

_SKIP = re.compile(r"(?:^|\.)(skip|skipif|skipIf|skipUnless|xfail|expectedFailure|importorskip|SkipTest|skipTest)$")
_OTHER_SKIP = re.compile(
    r"\b(?:xit|xdescribe|xtest|it\.skip|test\.skip|describe\.skip|it\.todo|test\.todo)\b|\bt\.Skip|#\[ignore|@Disabled|@Ignore"
)
_OTHER_TEST = re.compile(r"\s*(?:(?:it|test|describe)(?:\.each)?\s*[(`]|import\b|const\b.*\brequire\()")
_OTHER_NAME = re.compile(
    r"(?:export\s+)?(?:(?:async\s+)?function\s*\*?|const|let|class|type|interface)\s+(?P<name>[\w$]+)"
)
_INNER = re.compile(r"[\s)\]}]|//|/?\*")
"""How a line begins that belongs to the one above it."""
_CALLED_UNASKED = re.compile(r"pytest|mocha|set_?up|tear_?down|load_tests|collect_ignore|__", re.IGNORECASE)
"""How names begin that runners look for by themselves."""
_OTHER_CHECK = re.compile(r"\b(?:expect|assert\w*|require\.\w+|t\.(?:Error|Fatal)\w*|should)\b")
_CHECKS = re.compile(r"_*(?:check|assert|expect|verify|ensure|should)")


def may_become(
    path: str, accepted: bytes | None, candidate: bytes | None, *, rewritable: bool, tests_may_grow: bool
) -> bool:
    """Whether an accepted test file may be changed in this way.

    In a `rewritable` one as many tests must ask for as much; one whose `tests_may_grow` may get more, and stays as it is otherwise.
    """
    if accepted is None or accepted == candidate:
        return True
    if candidate is None:
        return False
    if tests_may_grow and (asks_more(path, accepted, candidate) or only_adds(path, accepted, candidate)):
        return True
    old, new = (parse(accepted), parse(candidate)) if path.endswith(".py") else (None, None)
    return rewritable and old is not None and new is not None and not _asks_less(old, new)


def asks_more(path: str, accepted: bytes | None, candidate: bytes | None) -> bool:
    """Whether a test file only has more tests and cases, or fewer marks that skip them: it asks what it asked, by its own text."""
    old, new = (parse(accepted), parse(candidate)) if path.endswith(".py") else (None, None)
    if old is not None:
        return new is not None and _is_extended(old, new)
    before, after = text_of(accepted), text_of(candidate)
    adds = _only_adds(before, after) if is_script(path) else only_grows(before, after)
    return adds or after.startswith(before.rstrip() + "\n")


def only_adds(path: str, accepted: bytes | None, candidate: bytes | None) -> bool:
    """Whether a file that tests use has all that it had, and besides only names and rows that nothing in it uses.

    Accepted tests must pass without these, which is measured.
    """
    if path.endswith(".py"):
        old, new = parse(accepted), parse(candidate)
        return old is not None and new is not None and _is_extended(old, new, used=_names_used(old))
    before, after = text_of(accepted), text_of(candidate)
    if path.endswith(".json"):
        try:
            return _has_rows_of(json.loads(before), json.loads(after))
        except (ValueError, RecursionError):
            return False
    return is_script(path) and _only_adds(before, after, used=frozenset(re.findall(r"[\w$]+", before)))


def _has_rows_of(old: Any, new: Any) -> bool:
    """Whether data has all that it had, and more rows behind those or more keys."""
    if isinstance(old, list) and isinstance(new, list):
        return new[: len(old)] == old
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and _has_rows_of(value, new[key]) for key, value in old.items())
    return bool(old == new)


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


def _is_extended(
    old: ast.Module | ast.ClassDef, new: ast.Module | ast.ClassDef, used: Collection[str] | None = None
) -> bool:
    """Whether all that was there is there in its order, or asks for more, and what came between is imports and tests.

    Where it is told which names are `used`, it may also be definitions of others.
    """
    bound = top_names(old.body)
    left = [node for node in old.body if not _is_idle_import(node, new)]
    for node in new.body:
        if left and _asks_as_much(left[0], node):
            left.pop(0)
        elif bound & top_names([node]) or not (_is_addition(node) or (used is not None and _is_new_name(node, used))):
            return False
    return not left


def _is_idle_import(node: ast.stmt, new: ast.Module | ast.ClassDef) -> bool:
    """Whether a module only imports something of its runner, such as marks, that it does not name any more."""
    text = ast.unparse(node)
    named = {each.id for each in ast.walk(new) if isinstance(each, ast.Name)}
    return re.match(r"(?:import|from) (?:pytest|unittest)\b", text) is not None and not named & top_names([node])


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
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        more = bool(tests_defined(ast.Module([old], []))) and _is_extended(old, new)
    else:
        # What stands behind the old body runs only after it.
        kept = [ast.dump(node) for node in new.body[: len(old.body)]]
        more = old.name.startswith("test") and kept == [ast.dump(node) for node in old.body]
    return more and _marks_as_much(old.decorator_list, new.decorator_list)


def _marks_as_much(old: Iterable[ast.expr], new: Iterable[ast.expr]) -> bool:
    """Whether a test's marks are as they were, but for some that skipped it and are gone, and more rows of cases."""
    left = list(new)
    for mark in old:
        if left and (ast.dump(mark) == ast.dump(left[0]) or _has_cases_of(mark, left[0])):
            left.pop(0)
        elif not _SKIP.search(ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)):
            return False
    return not left


def _has_cases_of(old: ast.expr, new: ast.expr) -> bool:
    """Whether two calls of `parametrize` only differ in rows that the new one has more."""
    if not (isinstance(old, ast.Call) and isinstance(new, ast.Call)) or called_name(old) != "parametrize":
        return False
    rows, more = ([arg for arg in call.args[1:2] if isinstance(arg, ast.List | ast.Tuple)] for call in (old, new))
    if not rows or not more:
        return False
    each = iter([ast.dump(row) for row in more[0].elts])
    same = copy.copy(new)
    same.args = [*new.args[:1], rows[0], *new.args[2:]]
    return ast.dump(old) == ast.dump(same) and all(ast.dump(row) in each for row in rows[0].elts)


def _heading_of(node: ast.stmt) -> str:
    empty = copy.copy(node)
    empty.body = empty.decorator_list = []  # type: ignore[attr-defined]
    return ast.dump(empty)


def _is_addition(node: ast.stmt) -> bool:
    if isinstance(node, Defined):
        return node.name.startswith(("test", "Test"))
    return isinstance(node, ast.Import | ast.ImportFrom) and "*" not in top_names([node])


def _is_new_name(node: ast.stmt, used: Collection[str]) -> bool:
    """Whether a statement only gives a meaning to names that are not used yet, and that no runner looks for by itself."""
    if isinstance(node, ast.Assign):
        plain = all(isinstance(target, ast.Name) for target in node.targets)
    else:
        plain = isinstance(node, Defined) and not any("autouse" in ast.unparse(mark) for mark in node.decorator_list)
    names = top_names([node])
    return plain and not names & set(used) and not any(map(_CALLED_UNASKED.match, names))


def _names_used(module: ast.Module) -> frozenset[str]:
    """The names that a module takes from elsewhere: built-in ones, fixtures, and what a string may ask for."""
    names = [node for node in ast.walk(module) if isinstance(node, ast.Name)]
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    arguments = {node.arg for node in ast.walk(module) if isinstance(node, ast.arg)}
    texts = (node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    words = {word for text in texts if re.fullmatch(r"\w+(?:\s*,\s*\w+)*", text) for word in re.findall(r"\w+", text)}
    return frozenset(({name.id for name in names} - stored) | arguments | words)


def _only_adds(before: str, after: str, used: Collection[str] | None = None) -> bool:
    """Whether every line of a script is there and asks as much; between them are only whole tests and imports, or `used` tells other names."""
    blocks = added_blocks(before, after)
    if blocks is None or not all(is_balanced(block) for block in blocks):
        return False
    return all(_OTHER_TEST.match(block) or (used is not None and _only_names(block, used)) for block in blocks)


def _only_names(block: str, used: Collection[str]) -> bool:
    """Whether every outer line of a block in a script gives a new name its meaning."""
    lines = [line for line in block.splitlines() if line.strip()]
    named = [_OTHER_NAME.match(line) for n, line in enumerate(lines) if n == 0 or not _INNER.match(line)]
    return all(found and found["name"] not in used and not _CALLED_UNASKED.match(found["name"]) for found in named)


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
