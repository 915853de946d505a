"""Tests that check nothing: they would pass whatever the product does, once it can be imported.

A test that calls anything, or looks at anything from outside itself, is left alone: what a helper does is not judged here.
"""

import ast
from collections.abc import Iterable, Iterator

from flyball.measures.sources import parse
from flyball.measures.tampering.weakening import is_always_true, tests_defined

_HARMLESS = frozenset({"print", "len", "str", "int", "float", "bool", "repr", "list", "dict", "set", "tuple", "range"})


def asking_nothing(source: bytes, path: str) -> frozenset[str]:
    """The ids of a Python file's tests that check nothing."""
    functions = tests_defined(parse(source))
    return frozenset(f"{path}::{name}" for name, node in functions.items() if not any(map(_asks, _reached(node.body))))


def _reached(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.Return):
            return
        yield statement


def _asks(node: ast.AST) -> bool:
    """Whether a piece of a test may fail because of something outside the test."""
    if isinstance(node, ast.Assert):
        names = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        return not is_always_true(node) and not names <= _HARMLESS
    if isinstance(node, ast.Call) and _is_idle(node):
        return False
    if isinstance(node, ast.Call | ast.Attribute | ast.Import | ast.ImportFrom | ast.Raise | ast.Await):
        return True
    return any(_asks(child) for child in ast.iter_child_nodes(node))


def _is_idle(call: ast.Call) -> bool:
    """Whether a call looks at constants alone: unittest's own checks, and the plainest of Python's functions."""
    if not all(isinstance(value, ast.Constant) for value in (*call.args, *(word.value for word in call.keywords))):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id in _HARMLESS
    return (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "self"
        and call.func.attr.startswith("assert")
        and bool(call.args)
    )
