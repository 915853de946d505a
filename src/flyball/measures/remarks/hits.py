"""Where the patterns are found in one source."""

import ast
import bisect
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace
from pygments.lexer import Lexer
from pygments.token import Comment, String, is_token_subtype

from flyball.measures.remarks.patterns import PATTERNS, Pattern
from flyball.measures.remarks.python_nodes import NodePlace, NodeRule, foreign_names
from flyball.measures.sources import Defined, called_name, is_script, lexer_of, parse, text_of


class Hit(msgspec.Struct, frozen=True):
    """A row of the table found in a source: `scope` and `text` tell whether the other version of the tree has it, too."""

    row: str
    line: int
    scope: str
    text: str


def find_hits(path: str, source: bytes, own: frozenset[str], *, in_tests: bool) -> Iterator[Hit]:
    """Every place of a source that a row describes; `own` are the names of the tree's modules."""
    rows = [row for row in PATTERNS if row.places in {"all", "tests" if in_tests else "product"}]
    text = text_of(source)
    if path.endswith((".py", ".pyi")):
        module = parse(source)
        if module is not None:
            nodes = list(ast.walk(module))
            yield from _python_hits(module, nodes, text.splitlines(), own, rows)
        rows = [row for row in rows if row.comment is not None]
    if is_script(path) or any(row.comment.search(text) for row in rows if row.comment is not None):
        lexer = lexer_of(path)
        if lexer is not None:
            yield from _token_hits(text, lexer, [row for row in rows if row.comment is not None or is_script(path)])


def _python_hits(
    module: ast.Module, nodes: list[ast.AST], lines: list[str], own: frozenset[str], rows: list[Pattern]
) -> Iterator[Hit]:
    rules: dict[type[ast.AST], list[tuple[str, NodeRule]]] = {}
    for name, rule in ((row.name, row.python) for row in rows if row.python is not None):
        for kind in rule.kinds:
            rules.setdefault(kind, []).append((name, rule))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    bases = frozenset(base.id for node in classes for base in node.bases if isinstance(base, ast.Name))
    waiting: list[tuple[ast.AST, NodePlace]] = [(module, NodePlace(foreign_names(nodes, own), base_classes=bases))]
    while waiting:
        node, place = waiting.pop()
        inner = _inside(node, place)
        for child in ast.iter_child_nodes(node):
            here = replace(inner, parent=node) if type(child) in rules else inner
            for name, rule in rules.get(type(child), ()):
                if rule.matches(child, here):
                    yield Hit(name, getattr(child, "lineno", 0), ".".join(inner.names), _excerpt(child, lines))
            if not isinstance(child, ast.expr_context | ast.operator | ast.Name | ast.Constant):
                waiting.append((child, inner))


def _inside(node: ast.AST, place: NodePlace) -> NodePlace:
    if isinstance(node, Defined):
        owner = node if isinstance(node, ast.ClassDef) else None
        return replace(place, names=(*place.names, node.name), owner=owner)
    if isinstance(node, ast.With) and not place.in_block:
        calls = (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call))
        return replace(place, in_block=any(called_name(call) == "catch_warnings" for call in calls))
    return place


def _excerpt(node: ast.AST, lines: list[str]) -> str:
    """The first and last line of a node: enough to know it again."""
    first: int = getattr(node, "lineno", 1)
    last: int = getattr(node, "end_lineno", None) or first
    return "\n".join(lines[number - 1].strip() for number in sorted({first, last}) if number <= len(lines))


def _token_hits(text: str, lexer: Lexer, rows: list[Pattern]) -> Iterator[Hit]:
    """Comments that a row describes, and code without them; a match that begins inside a text is none."""
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
    code: list[str] = []
    inside = bytearray(len(text))
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        if is_token_subtype(kind, Comment):
            for row in rows:
                found = row.comment.search(value) if row.comment is not None else None
                if found:
                    yield Hit(row.name, bisect.bisect_right(starts, at + found.start()), "", value.strip())
            code.append("".join(letter if letter == "\n" else " " for letter in value))
            continue
        if is_token_subtype(kind, String):
            inside[at + 1 : at + len(value)] = b"1" * (len(value) - 1)
        code.append(value)
    bare = "".join(code)
    for row in rows:
        for found in row.script.finditer(bare) if row.script is not None else ():
            if not inside[found.start()]:
                yield _hit_at(row, found.start(), text, starts)


def _hit_at(row: Pattern, at: int, text: str, starts: list[int]) -> Hit:
    line = bisect.bisect_right(starts, at)
    end = text.find("\n", at)
    return Hit(row.name, line, "", text[starts[line - 1] : end if end >= 0 else len(text)].strip()[:500])
