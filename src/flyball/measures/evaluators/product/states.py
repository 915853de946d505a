"""The states a product declares, and the transitions its code makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
from flyball.measures.evaluators.product.state_cases import left_out, plain
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_FROM = frozenset({"from", "state", "status", "current", "current state", "current status", "old state"})
_TO = frozenset(
    """to,may become,can become,becomes,might become,next,next state,next states,may move to,can move to,moves to,may go to,can go to,
    goes to,leads to,may lead to,can lead to,may change to,can change to,changes to,allowed next,allowed next states,new state,transitions to,followed by""".replace("\n    ", "").split(",")
)  # fmt: skip
_NOWHERE = frozenset({"", "–", "—", "none", "nothing", "(none)", "final", "end"})
_ARROW = re.compile(r"^\s*[-*+]\s+`?([\w -]+?)`?\s*(?:→|->|=>)\s*`?([\w ,/-]+?)`?\s*$")
_FIELD = r"(?:status|state|phase|stage)"
_IS = re.compile(rf"\.{_FIELD}\s*(?:===?|==)\s*[\"'\w.]*?[\"'.](\w+)[\"']?")
_IN = re.compile(rf"\.{_FIELD}\s+in\s*[(\[{{]([^)\]}}]*)[)\]}}]|[(\[]([^)\]]*)[)\]]\.includes\([\w.]*\.{_FIELD}\)")
_IS_NOT = re.compile(rf"\.{_FIELD}\s*(?:!==?)\s*[\"'\w.]*?[\"'.](\w+)[\"']?|\.{_FIELD}\s+not in\s*[(\[{{]([^)\]}}]*)")

_TYPED = (".ts", ".tsx", ".mts", ".cts")
_TYPES_PYTHON = {
    "any": [
        {"kind": "class_definition", "has": {"field": "superclasses", "regex": "Enum"}},
        {"kind": "assignment", "regex": r"=\s*(typing\.)?Literal\["},
        {
            "kind": "assignment",
            "regex": rf"(?i)^\w*{_FIELD}\w*(\s*:[^=]+)?\s*=\s*((frozen)?set\()?[\[({{]",
            "not": {"has": {"stopBy": "end", "kind": "pair"}},
        },
        {"kind": "type_alias_statement", "regex": r"Literal\["},
    ]
}
_TYPES_SCRIPT = {
    "any": [
        {"kind": "type_alias_declaration", "has": {"stopBy": "end", "kind": "union_type"}, "not": {"has": {"stopBy": "end", "kind": "object_type"}}},
        {"kind": "enum_declaration"},
        {"kind": "variable_declarator", "regex": rf"(?i)^\w*{_FIELD}\w*\s*(:[^=]+)?=\s*(new Set\()?\["},
    ]
}  # fmt: skip


class StateTable(msgspec.Struct, frozen=True):
    """Declared transitions; `line` is where the table begins."""

    line: int
    moves: frozenset[tuple[str, str]]

    @property
    def states(self) -> frozenset[str]:
        return frozenset(state for move in self.moves for state in move if state)


def state_tables(text: str) -> tuple[StateTable, ...]:
    """The tables `from | to` of a document, under these heads or others that say the same, and lists of arrows."""
    found: list[StateTable] = []
    columns: tuple[int, int] | None = None
    moves: set[tuple[str, str]] = set()
    begun = 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        row, arrow = _ROW.match(line), _ARROW.match(line)
        cells = [cell.strip() for cell in row[1].split("|")] if row else []
        heads = _heads(cells) if columns is None else None
        if heads:
            columns, begun = heads, number
        elif row and columns and max(columns) < len(cells) and not set("".join(cells)) <= set("-: "):
            moves |= {
                (plain(cells[columns[0]]), plain(to))
                for to in re.split(r"[,/]|\bor\b", cells[columns[1]])
                if plain(to) not in _NOWHERE
            }
        elif arrow:
            begun = begun or number
            moves |= {(plain(arrow[1]), plain(to)) for to in re.split(r"[,/]", arrow[2])}
        elif not row:
            found += [StateTable(begun, frozenset(moves))] if moves else []
            columns, moves, begun = None, set(), 0
    return tuple(found)


def _heads(cells: list[str]) -> tuple[int, int] | None:
    """Which columns of a table say where a move begins and where it leads."""
    heads = [cell.strip(" `*").lower() for cell in cells]
    start = next((at for at, head in enumerate(heads) if head in _FROM), None)
    end = next((at for at, head in enumerate(heads) if head in _TO), None)
    return (start, end) if start is not None and end is not None else None


def transition_defects(syntax: Syntax, tree: SourceTree, tables: tuple[StateTable, ...]) -> list[TrackDefect]:
    """Transitions of the code that are not declared, declared ones a table in the code does not allow, and unknown states."""
    found: list[TrackDefect] = []
    for path in tree.product(*PYTHON, *SCRIPTS):
        text = tree.text(path)
        for table in tables:
            if sum(bool(re.search(rf"\b{state}\b", text, re.IGNORECASE)) for state in table.states) >= 2:
                found += _maps(syntax, tree, path, table)
                found += _assignments(syntax, tree, path, table)
                found += _members(syntax, tree, path, table)
                found += left_out(syntax, tree, path, table.states)
    return found


def _maps(syntax: Syntax, tree: SourceTree, path: str, table: StateTable) -> Iterator[TrackDefect]:
    kind = "dictionary" if path.endswith(".py") else "object"
    for node in syntax.find(tree, path, {"kind": kind, "has": {"kind": "pair"}}):
        pairs = [
            (plain(pair.field("key").text()), _targets(pair.field("value")), pair)
            for pair in node.children()
            if pair.kind() == "pair"
        ]
        targets = [target for _, many, _ in pairs if many is not None for target in many]
        known = [key for key, many, _ in pairs if key in table.states and many is not None]
        if len(known) < 2 or not targets or 2 * sum(target in table.states for target in targets) < len(targets):
            continue
        for key, many, pair in pairs:
            yield from _row(tree, path, table, (key, many or [], lines_of(pair)[0]))
        missing = sorted({start for start, _ in table.moves} - {key for key, _, _ in pairs})
        for start in missing:
            text = f"{start} may be left by what is declared, and this table has no row for it"
            yield tree.defect("transition-missing", text, path, lines_of(node)[0], action="add the row")


def _row(tree: SourceTree, path: str, table: StateTable, row: tuple[str, list[str], int]) -> Iterator[TrackDefect]:
    key, many, line = row
    if key not in table.states:
        yield tree.defect(
            "state-undeclared", f"{key} is no declared state", path, line, action="declare it, or take it out"
        )
        return
    for target in many:
        if (key, target) not in table.moves:
            text = f"{key} → {target} is not declared"
            yield tree.defect(
                "transition-undeclared", text, path, line, action="forbid it, or declare it in product.md"
            )
    for target in sorted(to for start, to in table.moves if start == key and to not in many):
        text = f"{key} → {target} is declared and not allowed here"
        yield tree.defect("transition-missing", text, path, line, action="allow it, or take it out of product.md")


def _targets(node: Any) -> list[str] | None:
    """The states a value lists; None where it is no list of states."""
    text = node.text()
    if re.fullmatch(r"(?:set|frozenset|tuple|list)\(\s*\)|\[\s*\]|\(\s*\)|new Set\(\s*(?:\[\s*\])?\s*\)", text):
        return []
    if node.kind() in ("set", "list", "tuple", "array", "call", "new_expression"):
        return [
            plain(each) for each in re.findall(r"[\"']([\w -]+)[\"']|\b\w+\.(\w+)\b", text) for each in each if each
        ]
    return None


def _assignments(syntax: Syntax, tree: SourceTree, path: str, table: StateTable) -> Iterator[TrackDefect]:
    kind = "assignment" if path.endswith(".py") else "assignment_expression"
    rule = {"kind": kind, "has": {"field": "left", "regex": rf"\.{_FIELD}$"}}
    for node in syntax.find(tree, path, rule):
        value = re.match(r"[\"'](\w[\w -]*)[\"']|[A-Z]\w*\.(\w+)$", node.field("right").text())
        if not value:
            continue
        to, line = plain(value[1] or value[2]), lines_of(node)[0]
        if to not in table.states:
            yield tree.defect(
                "state-undeclared", f"{to} is no declared state", path, line, action="declare it, or use one that is"
            )
            continue
        starts = guards(node)
        allowed = {start for start, target in table.moves if target == to}
        wrong = sorted(start for start in starts if start != to and start not in allowed)
        for start in wrong:
            text = f"{start} → {to} is not declared"
            yield tree.defect(
                "transition-undeclared", text, path, line, action="forbid it, or declare it in product.md"
            )
        if not starts and allowed and not _is_construction(node):
            text = f"{to} is set whatever the state was; declared: from {', '.join(sorted(allowed))}"
            yield tree.defect("transition-unguarded", text, path, line, action="look at the state first")


def _members(syntax: Syntax, tree: SourceTree, path: str, table: StateTable) -> Iterator[TrackDefect]:
    """Members of a type that lists states: a union, a Literal, an Enum. It is about the table if most of it is declared there."""
    rule = _TYPES_PYTHON if path.endswith(PYTHON) else _TYPES_SCRIPT
    for node in syntax.find(tree, path, rule) if path.endswith((*PYTHON, *_TYPED)) else ():
        members = [(plain(name), line) for name, line in _named(node)]
        known = [name for name, _ in members if name in table.states]
        if len(known) < 2 or 2 * len(known) <= len(members):
            continue
        for name, line in members:
            if name not in table.states:
                text = f"{name} is no declared state"
                yield tree.defect("state-undeclared", text, path, line, action="declare it, or take it out")


def _named(node: Any) -> Iterator[tuple[str, int]]:
    """The names a type lists, each with its line: literals, or the members of an Enum by what they are called."""
    lines = node.text().split("\n")
    for number, line in enumerate(lines, start=lines_of(node)[0]):
        if node.kind() in ("class_definition", "enum_declaration"):
            member = re.match(r"\s*([A-Za-z]\w*)\s*(?:=|,|$)", line)
            found = [member[1]] if member and number > lines_of(node)[0] else []
        else:
            found = re.findall(r"[\"'](\w[\w -]*)[\"']", line)
        yield from ((name, number) for name in found)


def guards(node: Any) -> set[str]:
    """The states in which an assignment is reached, as far as conditions around and before it say."""
    found: set[str] = set()
    inner, outer = node, node.parent()
    while outer is not None:
        if outer.kind() in ("if_statement", "elif_clause"):
            body = outer.field("consequence")
            condition = outer.field("condition")
            if (
                body is not None
                and condition is not None
                and body.range().start.index <= inner.range().start.index < body.range().end.index
            ):
                found |= {plain(each) for each in _IS.findall(condition.text())}
                found |= _listed(_IN.findall(condition.text()))
        for earlier in inner.prev_all():
            if earlier.kind() == "if_statement" and re.search(r"\b(?:raise|return|throw|continue)\b", earlier.text()):
                condition = earlier.field("condition")
                found |= _listed(_IS_NOT.findall(condition.text())) if condition is not None else set()
                if condition is not None and re.search(
                    rf"\[[\w.]*\.{_FIELD}\]|\.get\([\w.]*\.{_FIELD}|can_|may_|allowed", condition.text()
                ):
                    found.add("")  # a table decides
        inner, outer = outer, outer.parent()
    return found


def _listed(groups: list[tuple[str, ...]] | list[str]) -> set[str]:
    texts = [text for group in groups for text in (group if isinstance(group, tuple) else (group,)) if text]
    return {plain(name) for text in texts for name in re.findall(r"\w+(?:\.\w+)?", text) if plain(name)}


def _is_construction(node: Any) -> bool:
    above = node.parent()
    while above is not None:
        if above.kind() in ("function_definition", "method_definition"):
            name = above.field("name")
            return name is not None and name.text() in ("__init__", "__post_init__", "constructor")
        above = above.parent()
    return False
