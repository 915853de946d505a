"""Which definitions of a Python module can be there for tests only, told from their own text."""

import ast

from flyball.measures.sources import Function
from flyball.measures.tampering.weakening import checks

_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
_PLAIN = (ast.Assert, ast.Pass, ast.Raise, ast.Continue, ast.Break, ast.Import, ast.ImportFrom)


def is_for_tests(node: ast.stmt) -> bool:
    """Whether a definition can be there for tests: the runner uses it, or tests may assert through it."""
    return is_loaded(node) or is_check(node) or is_test_case(node)


def is_loaded(node: ast.stmt) -> bool:
    """Whether the runner uses a definition as soon as it finds its name in a test file: a hook, a fixture, a test."""
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") and is_test_case(node)
    if not isinstance(node, Function):
        return False
    fixture = any("fixture" in ast.unparse(mark) for mark in node.decorator_list)
    return fixture or node.name.startswith("pytest_") or (node.name.startswith("test") and is_check(node))


def is_test_case(node: ast.stmt) -> bool:
    """Whether a class has tests, or checks that tests which inherit them may call."""
    if not isinstance(node, ast.ClassDef):
        return False
    case = has_tests(node) or any("TestCase" in ast.unparse(base) for base in node.bases)
    return case or any(is_check(each) for each in node.body)


def has_tests(node: ast.ClassDef) -> bool:
    return any(isinstance(each, Function) and each.name.startswith("test") for each in node.body)


def is_check(node: ast.stmt) -> bool:
    """Whether a function does nothing but assert: it gives nothing back and changes nothing but names of its own."""
    if not isinstance(node, Function) or not _asserts(node):
        return False
    own = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return all(_only_looks(statement, own) for statement in node.body)


def _asserts(node: ast.AST) -> bool:
    raised = (each.exc for each in ast.walk(node) if isinstance(each, ast.Raise) and each.exc)
    return bool(checks(node)) or any("AssertionError" in ast.unparse(each) for each in raised)


def _only_looks(node: ast.stmt, own: set[str]) -> bool:
    if isinstance(node, ast.Expr):
        return _is_harmless(node.value, own)
    if isinstance(node, ast.Return):
        return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    if isinstance(node, _BLOCKS):
        inside = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt))
        handled = (each for handler in getattr(node, "handlers", ()) for each in handler.body)
        around = [item.context_expr for item in node.items] if isinstance(node, ast.With | ast.AsyncWith) else []
        return all(_only_looks(each, own) for each in (*inside, *handled)) or any(checks(each) for each in around)
    return isinstance(node, _PLAIN)


def _is_harmless(value: ast.expr, own: set[str]) -> bool:
    """A docstring, a further check, something printed, or a method of a value that the function made itself."""
    value = value.value if isinstance(value, ast.Await) else value
    if isinstance(value, ast.Constant):
        return True
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Name) and value.func.value.id in own:
        return True
    name = value.func.id if isinstance(value.func, ast.Name) else ""
    return any(each is value for each in checks(value)) or name == "print" or name.startswith(("check", "assert"))
