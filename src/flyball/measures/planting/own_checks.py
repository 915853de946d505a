"""The assertions of a Python test, made to tell whether they are reached, and the last one to fail."""

import ast
import inspect
from collections.abc import Iterable

from flyball.measures.planting import planted_support
from flyball.measures.sources import Function, called_name
from flyball.measures.tampering.weakening import checks, is_check_call

SUPPORT = inspect.getsource(planted_support)
NAMESPACE = "_flyball"

_EXPECTS = frozenset(
    "raises warns deprecated_call assertRaises assertRaisesRegex assertWarns assertWarnsRegex assertLogs".split()
)
"""Checks that want something to happen within them."""
_KEEPS = frozenset({*_EXPECTS, "subTest", "test", "soft_assertions", "check", "check_func"})
"""What a failure within does not leave: it is expected there, or kept and told later."""
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
_NEVER_FAILS = frozenset({"assert_type", "assert_never"})
"""Hints for type checkers, which do nothing at run time."""


def support(source: bytes) -> str:
    """What is put at the end of a planted file: the support in a namespace of its own, so that no name of the file is taken."""
    return f"{NAMESPACE} = {{'__name__': {NAMESPACE!r}}}\nexec({SUPPORT!r}, {NAMESPACE})\n{NAMESPACE}['knows_any'] = {b'ANY' in source}\n"


def count_checks(module: ast.Module, tests: Iterable[Function]) -> None:
    """Have every assertion in the module's functions note that it is reached, and the last one of each test fail."""
    _Functions(frozenset(id(last) for node in tests if (last := _last(node.body)))).visit(module)


def _last(body: list[ast.stmt]) -> ast.AST | None:
    """The last assertion of a test whose failure must end it: in no function of its own, and nowhere a failure is expected or kept."""
    for node in reversed(body):
        if isinstance(node, ast.Assert) and not _is_failing_branch(node):
            return node
        call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        if call and is_check_call(call) and not _is_failing_branch(call) and called_name(call) not in _EXPECTS:
            return call
        if isinstance(node, _BLOCKS) and not _keeps_failures(node):
            inner = [*node.body, *(node.finalbody if isinstance(node, ast.Try) else ())]
            if found := _last(inner):
                return found
    return None


def _keeps_failures(node: ast.stmt) -> bool:
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With | ast.AsyncWith) else []
    return any(isinstance(call, ast.Call) and called_name(call) in _KEEPS for call in calls)


def ending(node: Function, mark: str) -> tuple[str, str]:
    """The source that begins a planted test's body, and the source that gives the mark and what is wrong at its end."""
    own = any(not _is_failing_branch(check) for check in checks(node))
    return (
        f"_flyball_since = {NAMESPACE}['start']({own})",
        f"{NAMESPACE}['describe_end']({mark[1:]!r}, _flyball_since)",
    )


def _is_failing_branch(check: ast.AST) -> bool:
    """Whether coming to a check is itself the failure: `assert False`, `pytest.fail()`."""
    if isinstance(check, ast.Assert):
        return isinstance(check.test, ast.Constant) and not check.test.value
    return isinstance(check, ast.Call) and called_name(check) in {"fail", *_NEVER_FAILS}


class _Functions(ast.NodeTransformer):
    """Finds the functions of a module; what stands outside them is left as it is."""

    def __init__(self, last: frozenset[int]) -> None:
        self._last = last

    def visit_FunctionDef(self, node: Function) -> Function:
        node.body = [_Noting(self._last).visit(statement) for statement in node.body]
        return node

    def visit_AsyncFunctionDef(self, node: Function) -> Function:
        return self.visit_FunctionDef(node)


class _Noting(ast.NodeTransformer):
    def __init__(self, last: frozenset[int]) -> None:
        self._last = last

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self.generic_visit(node)
        node.test = _call("last" if id(node) in self._last else "note_reached", node.test)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        node.left, *node.comparators = map(_comparisons, (node.left, *node.comparators))
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if not is_check_call(node) or called_name(node) == "approx":
            return node
        node.args = [_comparisons(each) for each in node.args]
        node.keywords = [
            ast.keyword(each.arg, _comparisons(each.value)) if each.arg else each for each in node.keywords
        ]
        return _call("last_call" if id(node) in self._last else "note_reached", node)


def _comparisons(value: ast.expr) -> ast.expr:
    return value if isinstance(value, ast.Constant | ast.Starred | ast.Lambda) else _call("note_compared", value)


def _call(what: str, value: ast.expr) -> ast.Call:
    function = ast.Subscript(ast.Name(NAMESPACE, ast.Load()), ast.Constant(what), ast.Load())
    return ast.Call(function, [value], [])
