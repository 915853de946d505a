"""The tests of a tree as product rules see them: what each is called, which values it tries, and whether it can fail at all."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from flyball.measures.evaluators.ground import SCRIPTS, SourceTree
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.sources import Function, looks_like_test, parse

SKIPPED, EXPECTED, TOOTHLESS = "is skipped", "is expected to fail", "asserts nothing"
_SKIP = re.compile(
    r"(?:^|\.)(?:skip(?:Test)?|mark\.skip)(?:\(|$)|(?:^|\.)skip_?if\((?:condition=)?True\b", re.IGNORECASE
)
_XFAIL = re.compile(r"(?:^|\.)(?:xfail|expectedFailure)(?:\(|$)")
_CHECKS = re.compile(r"assert|expect|check|verif|should|raises|warns|fail|match|snapshot|approx", re.IGNORECASE)
_CASE = {
    "kind": "call_expression",
    "has": {"field": "function", "regex": r"^(test|it|specify|xit|xtest|fit)(\.\w+)*(\(|$)"},
}
_HELPER = {
    "any": [{"kind": "function_declaration"}, {"kind": "variable_declarator", "has": {"kind": "arrow_function"}}]
}
_OFF = re.compile(r"^(?:x(?:it|test|describe)|(?:test|it|specify|describe|suite|context)(?:\.\w+)*\.(?:skip|todo))\b")
_OFF_OPTION = re.compile(
    r"""^[^(]*\(\s*(["'`])(?:(?!\1).)*\1\s*,\s*\{[^}]*\b(?:skip|todo)\s*:\s*(?!false\b)""", re.DOTALL
)
_RESULT = re.compile(
    r"(?:\bto(?:Be|Equal|StrictEqual)\(|[eE]qual\([^;\n]*?,|===?)\s*(-?\d[\d_]*(?:\.\d+)?)\s*[),;]?", re.MULTILINE
)


class RuleTest(msgspec.Struct, frozen=True):
    """A test: the words it is known by, the values its code uses, and why it proves nothing where that is so.

    `results` are the numbers it expects, one for each time; `lengths` those of its texts; `uses` the names in its code.
    """

    words: str
    numbers: frozenset[float]
    lengths: frozenset[float] = frozenset()
    results: tuple[float, ...] = ()
    uses: frozenset[str] = frozenset()
    tries_nothing: bool = False
    idle: str = ""


def rule_tests(syntax: Syntax, tree: SourceTree) -> list[RuleTest]:
    found: list[RuleTest] = []
    for path in tree.files:
        if not looks_like_test(path) or not tree.text(path):
            continue
        if path.endswith(".py"):
            found += _python_tests(tree.text(path))
        elif path.endswith(SCRIPTS):
            found += _script_tests(syntax, tree, path)
    return found


def _python_tests(text: str) -> Iterator[RuleTest]:
    module = parse(text.encode())
    if module is None:
        return
    constants = {target.id: node.value for node in module.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}  # fmt: skip
    functions = [node for node in ast.walk(module) if isinstance(node, Function)]
    helpers = {node.name for node in functions if _can_fail(list(ast.walk(node)))}
    everywhere = _off([constants["pytestmark"]] if "pytestmark" in constants else []) or _skips(module.body)
    for node in module.body:
        inside, above = (node.body, node.decorator_list) if isinstance(node, ast.ClassDef) else ([node], [])
        for each in inside:
            if isinstance(each, Function) and each.name.startswith("test"):
                yield _python_test(each, constants, helpers, everywhere or _off([*above, *each.decorator_list]))


def _python_test(node: Function, constants: dict[str, ast.expr], helpers: set[str], off: str) -> RuleTest:
    every = list(ast.walk(node))
    for name in {each.id for each in every if isinstance(each, ast.Name) and each.id in constants}:
        every += ast.walk(constants[name])
    docstring = node.body[0].value if ast.get_docstring(node) and isinstance(node.body[0], ast.Expr) else None
    values = [each.value for each in every if isinstance(each, ast.Constant) and each is not docstring]
    uses = frozenset(name for each in every for name in _names(each))
    idle = off or _skips(node.body) or ("" if uses & helpers or _can_fail(every) else TOOTHLESS)
    return RuleTest(
        f"{node.name} {ast.get_docstring(node) or ''} {' '.join(ast.unparse(each) for each in node.decorator_list)}",
        frozenset(_numbers(values)),
        frozenset(float(len(value)) for value in values if isinstance(value, str)),
        tuple(_expected_numbers(every)),
        uses,
        any(isinstance(each, ast.List | ast.Tuple) and not each.elts for each in every),
        idle,
    )


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr


def _off(marks: Iterable[ast.expr]) -> str:
    every = (one for each in marks for one in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each]))
    texts = [ast.unparse(one) for one in every]
    if any(_SKIP.search(text) for text in texts):
        return SKIPPED
    return EXPECTED if any(_XFAIL.search(text) for text in texts) else ""


def _skips(body: Iterable[ast.stmt]) -> str:
    """Whether statements skip, whatever the circumstances."""
    calls = [each.value for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
    return SKIPPED if any(_SKIP.search(ast.unparse(each.func)) for each in calls) else ""


def _can_fail(every: Sequence[ast.AST]) -> bool:
    """Whether code asserts something, or calls what by its name does."""
    states = any(isinstance(each, ast.Assert | ast.Raise | ast.With | ast.AsyncWith) for each in every)
    return states or any(_CHECKS.search(name) for each in every for name in _names(each))


def _expected_numbers(every: Iterable[ast.AST]) -> Iterator[float]:
    for node in every:
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.Is) for op in node.ops):
            sides = [node.left, *node.comparators]
            yield from _numbers(each.value for each in sides if isinstance(each, ast.Constant))


def _numbers(constants: Iterable[object]) -> Iterator[float]:
    for value in constants:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)
        elif isinstance(value, str) and (number := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", value)):
            yield float(number[1])


def _script_tests(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[RuleTest]:
    helpers = {each.field("name").text() for each in syntax.find(tree, path, _HELPER) if _CHECKS.search(each.text())}
    for node in syntax.find(tree, path, _CASE):
        text = node.text()
        name = re.search(r"[\"'`]((?:[^\"'`\\]|\\.)*)[\"'`]", text)
        above = " ".join(re.findall(r"^\s*//.*$", text, re.MULTILINE))
        uses = frozenset(re.findall(r"[A-Za-z_$][\w$]*", text))
        checks = any(_CHECKS.search(each) for each in uses) or re.search(r"\bt\.\w+\(", text) or uses & helpers
        calls = [each.text() for each in (node, *node.ancestors()) if each.kind() == "call_expression"]
        skipped = any(_OFF.match(call) or _OFF_OPTION.match(call) for call in calls)
        yield RuleTest(
            f"{name[1] if name else ''} {above}",
            frozenset(_of_script(each.text() for each in node.find_all(kind="number"))),
            frozenset(float(len(each.text()) - 2) for each in node.find_all(kind="string")),
            tuple(_of_script(_RESULT.findall(text))),
            uses,
            bool(re.search(r"\(\s*\[\s*\]", text)),
            SKIPPED if skipped else "" if checks else TOOTHLESS,
        )


def _of_script(texts: Iterable[str]) -> Iterator[float]:
    return (float(each.replace("_", "")) for each in texts if re.fullmatch(r"-?[\d_]+(\.\d+)?", each))
