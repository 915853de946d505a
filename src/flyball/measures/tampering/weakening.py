"""Compares a test file as accepted with the candidate's: which tests are gone, skipped or ask for less."""

import ast
import copy
import re
from collections.abc import Iterator

from flyball.core.model.measurement import Trick, TrickKind
from flyball.core.text.quantities import first_few, plural
from flyball.measures.sources import Defined, Function, called_name, declared_tests, is_script, parse, text_of
from flyball.measures.tampering.growth import added_blocks, is_balanced, only_grows

_SKIP = re.compile(r"(?:^|\.)(skip|skipif|skipIf|skipUnless|xfail|expectedFailure|importorskip|SkipTest|skipTest)$")
_OTHER_SKIP = re.compile(
    r"\b(?:xit|xdescribe|xtest|it\.skip|test\.skip|describe\.skip|it\.todo|test\.todo)\b|\bt\.Skip|#\[ignore|@Disabled|@Ignore"
)
_OTHER_TEST = re.compile(r"\s*(?:(?:it|test|describe)(?:\.each)?\s*[(`]|import\b|const\b.*\brequire\()")
_OTHER_CHECK = re.compile(r"\b(?:expect|assert\w*|require\.\w+|t\.(?:Error|Fatal)\w*|should)\b")
_EXIT = re.compile(r"\bos\._exit\b|\b_exit\s*\(|\bos\.kill\b|\bprocess\.exit\b|\bos\.abort\b")
_HOOK = re.compile(
    r"pytest_runtest_|pytest_report|pytest_sessionfinish|pytest_pyfunc_call|pytest_collection_|_pytest\b|TestReport|hookimpl"
)

_FORCES: tuple[tuple[re.Pattern[str], TrickKind, str], ...] = (
    (_EXIT, "exit-forced", "a line was added that ends the process by force"),
    (_HOOK, "report-forged", "a line was added that reaches into the runner's reports"),
)

CHANGED = "its body was changed"


def compare(
    path: str,
    accepted: bytes | None,
    candidate: bytes | None,
    *,
    rewritable: bool = False,
    tests_may_grow: bool = False,
) -> tuple[Trick, ...]:
    """What the candidate's version of an accepted test file takes away; one trick for each test it touches.

    A `rewritable` file may be changed in any way that leaves as many tests asking as much, an `tests_may_grow` one may get
    more tests and stay as it is otherwise.
    """
    if accepted is None:
        return ()
    if candidate is None:
        names = sorted(tests_defined(parse(accepted))) if path.endswith(".py") else []
        detail = f"the file is gone, and with it {first_few(names, 5)}" if names else "the file is gone"
        return (Trick("test-deleted", path, detail),)
    if accepted == candidate:
        return ()
    old, new = (parse(accepted), parse(candidate)) if path.endswith(".py") else (None, None)
    if old is None:
        return _compare_text(path, accepted, candidate, tests_may_grow=tests_may_grow)
    if new is None:
        return (Trick("test-weakened", path, "it is no longer valid Python"),)
    if ast.dump(old) == ast.dump(new):
        return (Trick("protected-changed", path, "only its layout or comments were changed", harmless=True),)
    force = find_force(path, accepted, candidate)
    if tests_may_grow and force is None and _is_extended(old.body, new.body):
        return ()
    found = tuple(t for t in _compare_python(path, old, new) if not (rewritable and t.detail.endswith(CHANGED)))
    if found or rewritable:
        return found
    return (force or _any_change(path),)


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
    if not (isinstance(old, Defined) and isinstance(new, Defined)) or type(old) is not type(new):
        return False
    body, old_body = new.body, old.body
    without_body = [ast.dump(_heading_of(node)) for node in (old, new)]
    if without_body[0] != without_body[1]:
        return False
    if isinstance(old, ast.ClassDef):
        return bool(tests_defined(ast.Module([old], []))) and _is_extended(old_body, body)
    if not old.name.startswith("test"):
        return False
    # What stands behind the old body runs only after it.
    return [ast.dump(node) for node in old_body] == [ast.dump(node) for node in body[: len(old_body)]]


def _heading_of(node: ast.stmt) -> ast.stmt:
    empty = copy.copy(node)
    empty.body = []  # type: ignore[attr-defined]
    return empty


def _is_addition(node: ast.stmt) -> bool:
    if isinstance(node, Defined):
        return node.name.startswith(("test", "Test"))
    return isinstance(node, ast.Import | ast.ImportFrom)


def find_force(path: str, accepted: bytes | None, candidate: bytes | None) -> Trick | None:
    """A forced exit or a report hook that the accepted version of a file did not have."""
    before = set(text_of(accepted).splitlines())
    added = [line for line in text_of(candidate).splitlines() if line not in before]
    for pattern, kind, what in _FORCES:
        if line := next((line.strip() for line in added if pattern.search(line)), ""):
            return Trick(kind, path, f"{what}: {line[:120]}")
    return None


def _any_change(path: str) -> Trick:
    return Trick("protected-changed", path, "an accepted test file was changed; new tests belong in a new file")


def _compare_python(path: str, old: ast.Module, new: ast.Module) -> tuple[Trick, ...]:
    before, after = tests_defined(old), tests_defined(new)
    found = [Trick("test-deleted", path, f"{name} is gone") for name in before if name not in after]
    found += [
        trick
        for name, node in before.items()
        if name in after and (trick := compare_function(path, name, node, after[name]))
    ]
    skipped = _module_skips(new) - _module_skips(old)
    found += [Trick("test-skipped", path, f"the whole file is skipped: {s}") for s in sorted(skipped)]
    if not found and (helper := _changed_helper(old, new)):
        found.append(Trick("test-weakened", path, f"the tests' own {helper}: {CHANGED}"))
    return tuple(found)


def compare_function(path: str, name: str, old: Function, new: Function) -> Trick | None:
    """What the candidate's version of one function takes away."""
    if ast.dump(old) == ast.dump(new):
        return None
    if skips := _skips(new) - _skips(old):
        return Trick("test-skipped", path, f"{name} is skipped: {', '.join(sorted(skips))[:120]}")
    return Trick("test-weakened", path, f"{name}: {_how_weaker(old, new)}")


def _how_weaker(old: Function, new: Function) -> str:
    if (fewer := len(checks(old)) - len(checks(new))) > 0:
        return f"{fewer} of {plural(len(checks(old)), 'assertion')} gone"
    if any(is_always_true(c) for c in checks(new)) and not any(is_always_true(c) for c in checks(old)):
        return "an assertion is now always true"
    if _cases(new) < _cases(old):
        return f"{_cases(old) - _cases(new)} of {plural(_cases(old), 'parametrised case')} gone"
    if _returns_early(new) and not _returns_early(old):
        return "it returns before its assertions"
    if _swallows(new) and not _swallows(old):
        return "its assertions stand in a try that swallows their failure"
    return CHANGED


def tests_defined(module: ast.Module | None) -> dict[str, Function]:
    """Every function that is a test by its name, with the classes around it."""
    found: dict[str, Function] = {}

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, Function) and node.name.startswith("test"):
                found[prefix + node.name] = node
            elif isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}{node.name}::")
            elif isinstance(node, ast.If | ast.Try | ast.With):
                walk(node.body, prefix)

    if module is not None:
        walk(module.body, "")
    return found


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
    """What a function, or anything else, asserts."""
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


def _cases(function: Function) -> int:
    total = 1
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize") and len(mark.args) > 1:
            total *= len(mark.args[1].elts) if isinstance(mark.args[1], ast.List | ast.Tuple) else 1
    return total


def _returns_early(function: Function) -> bool:
    first_check = min((getattr(c, "lineno", 0) for c in checks(function)), default=None)
    returns = [n.lineno for n in ast.walk(function) if isinstance(n, ast.Return)]
    return bool(returns) and (first_check is None or min(returns) < first_check)


def _swallows(function: Function) -> bool:
    tries = [n for n in ast.walk(function) if isinstance(n, ast.Try) and n.handlers]
    return any(checks(statement) for each in tries for statement in each.body)


def _skips(function: Function) -> set[str]:
    return {ast.unparse(n) for n in ast.walk(function) if _is_skip(n)}


def _module_skips(module: ast.Module) -> set[str]:
    return {ast.unparse(n) for n in _outside_functions(module) if _is_skip(n)}


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function):
            yield child
            yield from _outside_functions(child)


def _is_skip(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Name) and bool(_SKIP.search(ast.unparse(node)))


def _changed_helper(old: ast.Module, new: ast.Module) -> str:
    def helpers(module: ast.Module) -> dict[str, str]:
        named = (n for n in module.body if isinstance(n, Defined))
        return {n.name: ast.dump(n) for n in named if not n.name.startswith(("test", "Test"))}

    after = helpers(new)
    return next((name for name, dump in helpers(old).items() if after.get(name) != dump), "")


def _only_adds_tests(before: str, after: str) -> bool:
    """Whether every line is there as it was, and between them are only whole tests and imports of a script."""
    blocks = added_blocks(before, after)
    return blocks is not None and all(is_balanced(block) and _OTHER_TEST.match(block) for block in blocks)


def _compare_text(path: str, accepted: bytes, candidate: bytes, *, tests_may_grow: bool) -> tuple[Trick, ...]:
    before, after = text_of(accepted), text_of(candidate)
    if len(_OTHER_SKIP.findall(after)) > len(_OTHER_SKIP.findall(before)):
        return (Trick("test-skipped", path, "tests are skipped that were not"),)
    fewer = len(_OTHER_CHECK.findall(before)) - len(_OTHER_CHECK.findall(after))
    if fewer > 0:
        return (Trick("test-weakened", path, f"{plural(fewer, 'assertion')} gone"),)
    force = find_force(path, accepted, candidate)
    adds = _only_adds_tests(before, after) if is_script(path) else only_grows(path, before, after)
    grown = adds or after.startswith(before.rstrip() + "\n")
    if tests_may_grow and force is None and grown:
        return ()
    return (force or _any_change(path),)
