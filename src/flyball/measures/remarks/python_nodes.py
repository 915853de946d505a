"""What single nodes of a Python syntax tree look like: one function for each pattern that needs one."""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from flyball.measures.sources import Defined, Function, called_name

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEST_RUN = re.compile(r"PYTEST_(?:CURRENT_TEST|XDIST_\w+|VERSION)|JEST_WORKER_ID|VITEST\w*")
_TEST_PATH = re.compile(
    r"(?:[^\s]*/)?(?:(?:tests?|__tests__|specs?)/[^\s]*|test_[\w*]+\.py|[\w*-]+\.(?:test|spec)\.[cm]?[jt]sx?)"
)
_TEST_FOLDER = re.compile(r"tests?|__tests__")
_RUNNER = re.compile(r"\b(?:py\.?test|unittest|nose2?)\b")
_OPENS = frozenset({"open", "Path", "glob", "rglob", "iglob", "join", "joinpath", "listdir", "scandir", "walk"})
_STACK = frozenset({"_getframe", "currentframe", "getouterframes", "extract_stack", "walk_stack", "f_back", "f_locals"})
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_VALUES = frozenset({"int", "float", "str", "bytes", "complex", "bool", "Decimal"})
_DECLARED_ELSEWHERE = frozenset({"argtypes", "restype", "errcheck"})
"""What ctypes has everybody write into a module."""
_BROAD = frozenset({"Exception", "BaseException"})
_SET_ASIDE = re.compile(r"abstract|overload|Protocol|\bABC")


class NodePlace(msgspec.Struct, frozen=True):
    """Where a node stands: the functions and classes around it, and whether warnings are kept to a block there.

    `foreign` are the names that stand for modules from outside the tree.
    """

    foreign: frozenset[str]
    names: tuple[str, ...] = ()
    owner: ast.ClassDef | None = None
    base_classes: frozenset[str] = frozenset()
    in_block: bool = False
    parent: ast.AST | None = None

    @property
    def is_docstring(self) -> bool:
        return isinstance(self.parent, ast.Expr)


class NodeRule(msgspec.Struct, frozen=True):
    """Whether a node of one of the `kinds` is what a row describes."""

    kinds: tuple[type[ast.AST], ...]
    matches: Callable[[Any, NodePlace], bool]


def on(*kinds: type[ast.AST]) -> Callable[[Callable[[Any, NodePlace], bool]], NodeRule]:
    """Make a rule of a function that looks at such nodes."""
    return partial(NodeRule, kinds)


@on(ast.Constant, ast.Compare)
def names_test_run(node: ast.Constant | ast.Compare, place: NodePlace) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and not place.is_docstring and bool(_TEST_RUN.fullmatch(node.value))
    if not isinstance(node.ops[0], ast.In | ast.NotIn):
        return False
    holder = _dotted_name(node.comparators[0])
    return holder in {"sys.modules", "sys.argv"} and any(_RUNNER.search(text) for text in _texts(node.left))


@on(ast.Constant)
def names_test_file(node: ast.Constant, place: NodePlace) -> bool:
    if not isinstance(node.value, str) or place.is_docstring:
        return False
    if _TEST_PATH.fullmatch(node.value):
        return True
    around = place.parent
    opened = isinstance(around, ast.Call) and called_name(around) in _OPENS
    divided = isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div)
    return (opened or divided) and bool(_TEST_FOLDER.fullmatch(node.value))


@on(ast.Assign, *FUNCTIONS)
def overrides_comparison(node: ast.Assign | Function, place: NodePlace) -> bool:
    """A comparison that looks at nothing but the type of the other value, or that changes what a plain value is equal to."""
    if place.owner is None:
        return False
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in _COMPARISONS for each in node.targets) and isinstance(
            node.value, ast.Lambda
        )
    if node.name not in _COMPARISONS or place.parent is not place.owner:
        return False
    if any(_dotted_name(base).rpartition(".")[2] in _VALUES for base in place.owner.bases):
        return True
    inside = [each for each in ast.walk(node) if each is not node]
    compares = any(isinstance(each, ast.Compare | ast.Raise | ast.For) for each in inside)
    calls = {called_name(each) for each in inside if isinstance(each, ast.Call)}
    returned = [each.value for each in inside if isinstance(each, ast.Return)]
    declines = all(value is None or _dotted_name(value) == "NotImplemented" for value in returned)
    return not compares and calls <= {"isinstance", "type", "issubclass", "hasattr"} and not declines


@on(ast.Assign, ast.AugAssign, ast.Call)
def writes_foreign_module(node: ast.Assign | ast.AugAssign | ast.Call, place: NodePlace) -> bool:
    if isinstance(node, ast.Call):
        is_setattr = isinstance(node.func, ast.Name) and node.func.id == "setattr" and bool(node.args)
        return is_setattr and _dotted_name(node.args[0]).partition(".")[0] in place.foreign
    targets = node.targets if isinstance(node, ast.Assign) else (node.target,)
    return any(
        isinstance(each, ast.Attribute)
        and each.attr not in _DECLARED_ELSEWHERE
        and _dotted_name(each).partition(".")[0] in place.foreign
        for each in targets
    )


@on(ast.Attribute)
def reads_stack(node: ast.Attribute, _place: NodePlace) -> bool:
    return node.attr in _STACK or _dotted_name(node) in {"inspect.stack", "inspect.trace"}


@on(ast.Call)
def runs_text(node: ast.Call, _place: NodePlace) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}


@on(ast.If, ast.IfExp, ast.While)
def has_constant_condition(node: ast.If | ast.IfExp | ast.While, _place: NodePlace) -> bool:
    if isinstance(node, ast.While):
        return _constant_truth(node.test) is False
    return _constant_truth(node.test) is not None


@on(*FUNCTIONS)
def is_stub(node: Function, place: NodePlace) -> bool:
    """A function that only says that it is not there; an interface that others implement is none."""
    if _is_interface(node, place):
        return False
    first = node.body[0]
    has_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    body = node.body[1:] if has_docstring else node.body
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc
    return _dotted_name(raised.func if isinstance(raised, ast.Call) else raised) == "NotImplementedError"


@on(*FUNCTIONS)
def returns_constant(node: Function, place: NodePlace) -> bool:
    """Whatever it is given, it returns constants: a method of a class that stands on others may be meant to."""
    if _is_interface(node, place) or node.name.startswith("__"):
        return False
    parameters = _parameters(node, in_class=place.owner is not None and place.parent is place.owner)
    if not parameters or all(name.startswith("_") for name in parameters):
        return False
    values: list[ast.expr | None] = []
    for each in (each for statement in node.body for each in ast.walk(statement)):
        if isinstance(each, ast.Yield | ast.YieldFrom | ast.Await | ast.Raise):
            return False
        if isinstance(each, ast.Name) and each.id in parameters:
            return False
        if isinstance(each, ast.Return):
            values.append(each.value)
    held = [
        value for value in values if value is not None and not (isinstance(value, ast.Constant) and value.value is None)
    ]
    return bool(held) and all(_is_literal(value) for value in held)


@on(ast.ExceptHandler)
def swallows_errors(node: ast.ExceptHandler, _place: NodePlace) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    if not any(kind is None or _dotted_name(kind) in _BROAD for kind in kinds):
        return False
    return all(_is_constant_step(step) for step in node.body)


@on(ast.Import, ast.ImportFrom)
def imports_mock(node: ast.Import | ast.ImportFrom, _place: NodePlace) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in {"unittest.mock", "mock", "pytest_mock"} for alias in node.names)
    if node.level:
        return False
    named = {alias.name for alias in node.names}
    return node.module in {"unittest.mock", "mock", "pytest_mock"} or (node.module == "unittest" and "mock" in named)


@on(ast.keyword, ast.Attribute, ast.Assign)
def trusts_any_certificate(node: ast.keyword | ast.Attribute | ast.Assign, _place: NodePlace) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in {"verify", "verify_ssl", "check_hostname"} and _is_value(node.value, value=False)
    if isinstance(node, ast.Attribute):
        return node.attr in {"_create_unverified_context", "CERT_NONE"} and isinstance(node.ctx, ast.Load)
    return _is_value(node.value, value=False) and any(
        isinstance(each, ast.Attribute) and each.attr in {"check_hostname", "verify"} for each in node.targets
    )


@on(ast.Call)
def hides_warnings(node: ast.Call, place: NodePlace) -> bool:
    name = called_name(node)
    if name in {"simplefilter", "filterwarnings"}:
        return not place.in_block and bool(node.args) and _is_value(node.args[0], value="ignore")
    if name == "suppress":
        return any(_dotted_name(each) in _BROAD for each in node.args)
    return _dotted_name(node.func) == "logging.disable"


@on(ast.keyword, ast.ClassDef, *FUNCTIONS)
def repeats_test(node: ast.keyword | Defined, _place: NodePlace) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "reruns"
    if not node.name.lower().startswith("test"):
        return False
    marks = {
        _dotted_name(each.func if isinstance(each, ast.Call) else each).rpartition(".")[2]
        for each in node.decorator_list
    }
    return bool(marks & {"flaky", "timeout", "retry"})


@on(ast.Call)
def expects_any_error(node: ast.Call, _place: NodePlace) -> bool:
    if called_name(node) not in {"raises", "assertRaises"} or not node.args:
        return False
    return _dotted_name(node.args[0]) in _BROAD and not any(word.arg in {"match", "check"} for word in node.keywords)


def foreign_names(nodes: Iterable[ast.AST], own: frozenset[str]) -> frozenset[str]:
    """The names by which a module knows what is not in its tree: other modules, and parts of the standard library."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names if a.name.partition(".")[0] not in own}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            root = node.module.partition(".")[0]
            if root in sys.stdlib_module_names and root not in own:
                found |= {alias.asname or alias.name for alias in node.names}
    return frozenset(found)


def _is_interface(node: Function, place: NodePlace) -> bool:
    """Whether a function is one that others override: marked so, in a class meant for it, or in one that a neighbour stands on."""
    marks = [
        *node.decorator_list,
        *(place.owner.bases if place.owner else ()),
        *(k.value for k in (place.owner.keywords if place.owner else ())),
    ]
    if any(_SET_ASIDE.search(_dotted_name(mark)) for mark in marks):
        return True
    return place.owner is not None and place.owner.name in place.base_classes


def _parameters(node: Function, *, in_class: bool) -> frozenset[str]:
    every = [*node.args.posonlyargs, *node.args.args]
    static = any(_dotted_name(each) == "staticmethod" for each in node.decorator_list)
    plain = every[1:] if in_class and not static else every
    return frozenset(each.arg for each in (*plain, *node.args.kwonlyargs))


def _is_constant_step(step: ast.stmt) -> bool:
    match step:
        case ast.Pass() | ast.Continue() | ast.Break():
            return True
        case ast.Return(value=value):
            return value is None or _is_literal(value)
        case ast.Assign(value=value):
            return _is_literal(value)
        case ast.Expr(value=value):
            return isinstance(value, ast.Constant)
    return False


def _is_literal(node: ast.AST) -> bool:
    """Whether a value is written out: no name, call or operation in it but a sign."""
    allowed = ast.Constant | ast.List | ast.Tuple | ast.Set | ast.Dict | ast.UnaryOp | ast.unaryop | ast.expr_context
    return all(isinstance(each, allowed) for each in ast.walk(node))


def _is_value(node: ast.AST, *, value: object) -> bool:
    return (
        isinstance(node, ast.Constant)
        and node.value is not None
        and node.value == value
        and type(node.value) is type(value)
    )


def _constant_truth(node: ast.expr) -> bool | None:
    """What a condition always is, as far as its own text says."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
        return not node.operand.value
    if isinstance(node, ast.BoolOp):
        deciding = isinstance(node.op, ast.Or)
        if any(isinstance(each, ast.Constant) and bool(each.value) is deciding for each in node.values):
            return deciding
    return None


def _dotted_name(node: ast.AST | None) -> str:
    """A name with its attributes, such as `sys.modules`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _texts(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
