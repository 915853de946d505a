"""The states a product declares, the transitions its code makes, and the states for which its cases have no answer."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
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
_TABLE_DECIDES = re.compile(rf"\[[\w.]*\.{_FIELD}\]|\.get\([\w.]*\.{_FIELD}|can_|may_|allowed")
_IS_NOT = re.compile(rf"\.{_FIELD}\s*(?:!==?)\s*[\"'\w.]*?[\"'.](\w+)[\"']?|\.{_FIELD}\s+not in\s*[(\[{{]([^)\]}}]*)")

_TYPED = (".ts", ".tsx", ".mts", ".cts")
_NAME = re.compile(r"[\"'](\w[\w -]*)[\"']|[A-Z]\w*\.(\w+)")
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
    heads = [cell.strip(" `*").lower() for cell in cells]
    start = next((at for at, head in enumerate(heads) if head in _FROM), None)
    end = next((at for at, head in enumerate(heads) if head in _TO), None)
    return (start, end) if start is not None and end is not None else None


def transition_defects(syntax: Syntax, tree: SourceTree, tables: tuple[StateTable, ...]) -> Iterator[TrackDefect]:
    """Transitions of the code that are not declared, declared ones a table in the code does not allow, and unknown states."""
    for path in tree.product(*PYTHON, *SCRIPTS):
        text = tree.text(path)
        for table in tables:
            if sum(bool(re.search(rf"\b{state}\b", text, re.IGNORECASE)) for state in table.states) >= 2:
                yield from _maps(syntax, tree, path, table)
                yield from _assignments(syntax, tree, path, table)
                yield from _members(syntax, tree, path, table)
                yield from _left_out(syntax, tree, path, table.states)


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
            for rule, text, action in _row_defects(table, key, many or []):
                yield tree.defect(rule, text, path, lines_of(pair)[0], action=action)
        for start in sorted({start for start, _ in table.moves} - {key for key, _, _ in pairs}):
            text = f"{start} may be left by what is declared, and this table has no row for it"
            yield tree.defect("transition-missing", text, path, lines_of(node)[0], action="add the row")


def _row_defects(table: StateTable, key: str, many: list[str]) -> Iterator[tuple[str, str, str]]:
    if key not in table.states:
        yield "state-undeclared", f"{key} is no declared state", "declare it, or take it out"
        return
    for target in (to for to in many if (key, to) not in table.moves):
        yield "transition-undeclared", f"{key} → {target} is not declared", "forbid it, or declare it in product.md"
    for target in sorted(to for start, to in table.moves if start == key and to not in many):
        text = f"{key} → {target} is declared and not allowed here"
        yield "transition-missing", text, "allow it, or take it out of product.md"


def _targets(node: Any) -> list[str] | None:
    """The states a value lists; None where it is no list of states."""
    text = node.text()
    if re.fullmatch(r"(?:set|frozenset|tuple|list)\(\s*\)|\[\s*\]|\(\s*\)|new Set\(\s*(?:\[\s*\])?\s*\)", text):
        return []
    if node.kind() in ("set", "list", "tuple", "array", "call", "new_expression"):
        named = re.findall(r"[\"']([\w -]+)[\"']|\b\w+\.(\w+)\b", text)
        return [plain(text or member) for text, member in named]
    return None


def _assignments(syntax: Syntax, tree: SourceTree, path: str, table: StateTable) -> Iterator[TrackDefect]:
    kind = "assignment" if path.endswith(".py") else "assignment_expression"
    rule = {"kind": kind, "has": {"field": "left", "regex": rf"\.{_FIELD}$"}}
    for node in syntax.find(tree, path, rule):
        value = re.match(r"[\"'](\w[\w -]*)[\"']|[A-Z]\w*\.(\w+)$", node.field("right").text())
        if value:
            for name, text, action in _assignment_defects(table, node, plain(value[1] or value[2])):
                yield tree.defect(name, text, path, lines_of(node)[0], action=action)


def _assignment_defects(table: StateTable, node: Any, to: str) -> Iterator[tuple[str, str, str]]:
    if to not in table.states:
        yield "state-undeclared", f"{to} is no declared state", "declare it, or use one that is"
        return
    starts, allowed = guards(node), {start for start, target in table.moves if target == to}
    for start in sorted(start for start in starts if start != to and start not in allowed):
        yield "transition-undeclared", f"{start} → {to} is not declared", "forbid it, or declare it in product.md"
    if not starts and allowed and not _is_construction(node):
        text = f"{to} is set whatever the state was; declared: from {', '.join(sorted(allowed))}"
        yield "transition-unguarded", text, "look at the state first"


def _members(syntax: Syntax, tree: SourceTree, path: str, table: StateTable) -> Iterator[TrackDefect]:
    """Members of a type that lists states: a union, a Literal, an Enum. It is about the table if most of it is declared there."""
    rule = _TYPES_PYTHON if path.endswith(PYTHON) else _TYPES_SCRIPT
    for node in syntax.find(tree, path, rule) if path.endswith((*PYTHON, *_TYPED)) else ():
        members = [(plain(name), line) for name, line in _listed_names(node)]
        known = [name for name, _ in members if name in table.states]
        if len(known) < 2 or 2 * len(known) <= len(members):
            continue
        for name, line in members:
            if name not in table.states:
                text = f"{name} is no declared state"
                yield tree.defect("state-undeclared", text, path, line, action="declare it, or take it out")


def _listed_names(node: Any) -> Iterator[tuple[str, int]]:
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
    inner = node
    for outer in node.ancestors():
        body, condition = outer.field("consequence"), outer.field("condition")
        branches = outer.kind() in ("if_statement", "elif_clause") and body is not None and condition is not None
        if branches and body.range().start.index <= inner.range().start.index < body.range().end.index:
            found |= {plain(each) for each in _IS.findall(condition.text())}
            found |= _states_in(_IN.findall(condition.text()))
        for earlier in inner.prev_all():
            condition = earlier.field("condition") if earlier.kind() == "if_statement" else None
            if condition is not None and re.search(r"\b(?:raise|return|throw|continue)\b", earlier.text()):
                found |= _states_in(_IS_NOT.findall(condition.text()))
                if _TABLE_DECIDES.search(condition.text()):
                    found.add("")
        inner = outer
    return found


def _states_in(groups: list[tuple[str, ...]]) -> set[str]:
    texts = [text for group in groups for text in group if text]
    return {plain(name) for text in texts for name in re.findall(r"\w+(?:\.\w+)?", text) if plain(name)}


def _is_construction(node: Any) -> bool:
    around = (each for each in node.ancestors() if each.kind() in ("function_definition", "method_definition"))
    function = next(around, None)
    name = function.field("name") if function is not None else None
    return name is not None and name.text() in ("__init__", "__post_init__", "constructor")


def plain(name: str) -> str:
    """A state's name as it is compared: without quotes, owner, case and separators."""
    return re.sub(r"[\s_-]+", "", name.strip(" `*\"'").rpartition(".")[2].lower())


def _left_out(syntax: Syntax, tree: SourceTree, path: str, states: frozenset[str]) -> Iterator[TrackDefect]:
    """Declared states for which a switch or match returns nothing, while it returns something for most others."""
    kind = "match_statement" if path.endswith(PYTHON) else "switch_statement"
    for node in syntax.find(tree, path, {"kind": kind}):
        cases = _states_with_case(node)
        # Nothing behind it answers for what it leaves out.
        is_last = all(each.kind() in ("}", "comment") for each in node.next_all())
        if cases and cases <= states and 2 * len(cases) > len(states) and is_last:
            for state in sorted(states - cases):
                text = f"{state} is declared and gets no case here, so it gets no answer"
                yield tree.defect("state-left-out", text, path, lines_of(node)[0], action=f"add a case for {state}")


def _states_with_case(node: Any) -> set[str]:
    """The states that have a case, where each case returns and none takes the rest; else none."""
    kinds = ("case_clause", "switch_case", "switch_default")
    cases = [each.text() for each in node.field("body").children() if each.kind() in kinds]
    found: set[str] = set()
    for at, case in enumerate(cases):
        names = {plain(one or other) for one, other in _NAME.findall(case.partition(":")[0])}
        falls_through = case.rstrip().endswith(":") and at + 1 < len(cases)
        if not names or not (falls_through or re.search(r"\b(?:return|throw|raise)\b", case)):
            return set()
        found |= names
    return found
