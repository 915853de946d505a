"""Plants failures in a Python source: around the body of a test, or among the examples of a docstring."""

import ast
from collections.abc import Mapping
from typing import Literal

from flyball.measures.planting.own_checks import count_checks, ending, support
from flyball.measures.sources import Function, functions, parse

Style = Literal["around", "plainly", "mute"]
TELLING = "_flyball_says"
"""The name of the function that says what the first failure is to say."""
Documented = Function | ast.ClassDef | ast.Module


def find_documented(module: ast.Module, dotted: str) -> Documented | None:
    """What a doctest is named after: a module's own dotted name, or that of something defined in it."""
    parts = dotted.split(".")
    for cut in range(1, len(parts)):
        node: Documented | None = module
        for part in parts[cut:]:
            inside = node.body if node else ()
            node = next((n for n in inside if isinstance(n, ast.ClassDef | Function) and n.name == part), None)
        if node is not None and _has_examples(node):
            return node
    return module if _has_examples(module) else None


def _has_examples(node: Documented) -> bool:
    return ">>>" in (ast.get_docstring(node, clean=False) or "")


def plant(source: bytes, marks: Mapping[str, str], style: Style, telling: str = "") -> bytes | None:
    """The source with a failure for each name that it has; None where it cannot be written anew.

    Around a body the failure comes whatever the test does, and after the product has been called. `telling` is source of a
    function that gives back what the first failure says beside its mark. What is muted does nothing any more instead.
    """
    module = parse(source)
    if module is None:
        return None
    every = functions(module)
    if style == "mute":
        for node in (node for name in marks for node in every.get(name, ())):
            node.body = [ast.Pass()]
    else:
        _around(module, every, marks, telling)
        module.body += ast.parse(support(source) + telling).body
    try:
        return (ast.unparse(ast.fix_missing_locations(module)) + "\n").encode()
    except (RecursionError, ValueError):
        return None


def _around(module: ast.Module, every: dict[str, list[Function]], marks: Mapping[str, str], telling: str) -> None:
    endings = {id(node): ending(node, mark) for name, mark in marks.items() for node in every.get(name, ())}
    count_checks(module, [node for name in marks for node in every.get(name, ())])
    told = False
    for name, mark in marks.items():
        for node in every.get(name, ()):
            _wrap(node, name, endings[id(node)], told=bool(telling) and not told)
        told = told or name in every
        if name not in every:
            _add_example(module, name, mark)


def _wrap(node: Function, name: str, told_by: tuple[str, str], *, told: bool) -> None:
    begin, ended = told_by
    origin = f" + {TELLING}(_flyball_mark)" if told else ""
    said = f"_flyball_mark{origin} + ' ' + _flyball_wrong"
    failure = f"raise AssertionError({said})"
    given = [*node.args.posonlyargs, *node.args.args]
    static = any("method" in ast.unparse(mark) for mark in node.decorator_list)
    if "::" in name and given and not static:
        own = given[0].arg
        # A case of unittest fails by its own assertion: a product may have taken that away, and then it stays green.
        failure = f"if hasattr({own}, 'assertEqual'):\n    {own}.assertEqual(_flyball_mark, None, {said})\nelse:\n    {failure}"
    failure = f"(_flyball_mark, _flyball_wrong) = {ended}\n{failure}"
    start = 1 if ast.get_docstring(node, clean=False) is not None else 0
    body = node.body[start:] or [ast.Pass()]
    planted = ast.Try(body=body, handlers=[], orelse=[], finalbody=ast.parse(failure).body)
    node.body = [*node.body[:start], *ast.parse(begin).body, planted]


def _add_example(module: ast.Module, name: str, mark: str) -> None:
    node = find_documented(module, name)
    if node and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
        text = str(node.body[0].value.value).rstrip()
        node.body[0].value.value = f"{text}\n\n    >>> raise AssertionError({mark!r})\n    "
