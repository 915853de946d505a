"""Slips at the edges: code that fails on nothing or on a count of zero, and numbers that a script sorts as words."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
from flyball.measures.evaluators.product.boundaries import enclosing, name_of, reaching
from flyball.measures.evaluators.product.rule_tests import RuleTest
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

_NAME = r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*"
_COUNT = re.compile(rf"(?:len\(\s*({_NAME})\s*\)|sum\(\s*({_NAME})\s*\)|({_NAME})\.(?:length|size|count\(\)))")
_PYTHON: dict[str, dict[str, Any]] = {
    "divisions": {"kind": "binary_operator"},
    "ends": {"kind": "subscript", "regex": r"^([\w.]+|(sorted|list|tuple|reversed)\([\w.]+\))\[(0|-1)\]$"},
    "folds": {
        "kind": "call",
        "regex": r"^(max|min|(statistics\.)?(mean|fmean|median|mode)|(random\.)?choice)\([\w.]+\)$|^(functools\.)?reduce\(",
    },
}
_SCRIPT: dict[str, dict[str, Any]] = {
    "divisions": {"kind": "binary_expression"},
    "ends": {"kind": "member_expression", "regex": r"^[\w.$]+\[(0|[\w.$]+\.length - 1)\]\.\w+$"},
    "folds": {
        "kind": "call_expression",
        "any": [
            {"regex": r"^Math\.(max|min)\(\.\.\.[\w.$]+\)$"},
            {
                "has": {
                    "field": "function",
                    "kind": "member_expression",
                    "has": {"field": "property", "regex": "^reduce(Right)?$"},
                }
            },
        ],
    },
}
_KEEPING = frozenset({"map", "filter", "flatMap", "flat", "slice", "sort", "toSorted", "reverse", "toReversed"})
"""Calls that give an empty list for an empty list."""
_LIST = r"\??\s*:\s*(?:(?:typing\.)?(?:[Ll]ist|Sequence|MutableSequence|deque|Array|ReadonlyArray)\s*[\[<]|(?:readonly\s+)?[\w.]+(?:<[^<>]*>)?\[\])"
_LISTS = re.compile(rf"\b(\w+){_LIST}")
_NUMERIC = re.compile(r"^\w+(?:\s*:\s*(?:int|float|Decimal|number|bigint))?$")
_OWN = ("self.", "cls.", "this.", "argv")
"""What a class promises itself, and what the system promises a program, is not asked for."""
_LOOKS = {
    **dict.fromkeys(("if_statement", "elif_clause", "while_statement", "ternary_expression"), "condition"),
    **dict.fromkeys(("boolean_operator", "binary_expression"), "left"),
    **dict.fromkeys(("for_statement", "for_in_statement", "for_in_clause"), "right"),
    **dict.fromkeys(("match_statement", "switch_statement"), "subject"),
}
"""Where a piece of syntax looks at something before it goes on; other pieces of `_WHOLE` look with all they hold."""
_WHOLE = frozenset({"assert_statement", "conditional_expression"})
_LOGIC = frozenset({"and", "or", "&&", "||", "??"})
_SORTS = {
    "kind": "call_expression",
    "all": [
        {"has": {"field": "function", "kind": "member_expression", "has": {"field": "property", "regex": "^(sort|toSorted)$"}}},
        {"has": {"field": "arguments", "regex": r"^\(\s*\)$"}},
    ],
}  # fmt: skip
_IS_NUMBER = re.compile(r"\b(\w+)\??\s*:\s*number\s*[;,)}=\n]")
_IS_WORD = re.compile(r"\b(\w+)\??\s*:\s*string\b")
_ARE_NUMBERS = re.compile(r"\b(\w+)\??\s*:\s*(?:readonly\s+)?(?:number\[\]|(?:Readonly)?(?:Array|Set)<number>)")
_MAPPED = re.compile(r"\.map\(\s*(?:(?:async\s*)?\(?[^()]*\)?\s*=>\s*[\w.$]*?\.?(\w+)|(Number|parseFloat))\s*\)$")
_PASSED_ON = re.compile(r"\.(?:slice|filter|concat)\([^()]*\)$")


def fails_on_nothing(
    syntax: Syntax, tree: SourceTree, files: Collection[str], tests: Sequence[RuleTest]
) -> Iterator[TrackDefect]:
    """Places in some files that need a value where there may be none: nothing around looks, and no test tries it."""
    every = tree.product(*PYTHON, *SCRIPTS)
    lists = {name for path in every for name in _LISTS.findall(tree.text(path))}
    for path in (each for each in every if each in files):
        for node, subject, rule, text in _places(syntax, tree, path, lists):
            tried = any(test.tries_nothing or 0.0 in test.numbers for test in reaching(node, tests))
            if not tried and not _is_guarded(node, subject):
                told, action = f"{text}, and nothing looks whether that is empty or zero", f"look at {subject} first, and test it without any"  # fmt: skip
                yield tree.defect(rule, told, path, lines_of(node)[0], action=action)


def _places(syntax: Syntax, tree: SourceTree, path: str, lists: set[str]) -> Iterator[tuple[Any, str, str, str]]:
    rules = _PYTHON if path.endswith(PYTHON) else _SCRIPT
    for node in syntax.find(tree, path, rules["divisions"]):
        if subject := _divisor(node):
            yield node, subject, "division-by-zero", f"`{node.text()[-60:]}` divides by {subject}"
    for node in syntax.find(tree, path, rules["ends"]):
        subject = re.sub(r"^\w+\((.*)\)$", r"\1", node.text().partition("[")[0])  # sorted(names)[0]
        if _is_list(node, subject, lists):
            yield node, subject, "end-of-nothing", f"`{node.text()}` is an end of {subject}"
    for node in syntax.find(tree, path, rules["folds"]):
        if subject := _folded_list(node, lists):
            name = node.field("function").text().rpartition(".")[2]
            yield node, subject, "fold-of-nothing", f"`{name}` of {subject} has no value to begin with"


def _divisor(node: Any) -> str:
    """What must not be zero: the thing that is counted, or a parameter; empty for any other divisor."""
    children = node.children()
    if (
        len(children) != 3
        or children[1].kind() not in ("/", "//")
        or children[0].kind() in ("string", "template_string")
    ):
        return ""
    divisor = children[2].text()
    counted = _COUNT.fullmatch(divisor)
    if counted:
        name = next(each for each in counted.groups() if each)
        return "" if name.rpartition(".")[2].isupper() else name
    return divisor if divisor in _parameters(node) else ""


def _parameters(node: Any) -> set[str]:
    """The parameters of the enclosing function that may be numbers and have no value of their own to fall back to."""
    around = enclosing(node)
    given = around.field("parameters") if around is not None else None
    texts = (each.text() for each in (given.children() if given is not None else ()))
    return {re.split(r"\W", text)[0] for text in texts if _NUMERIC.match(text)}


def _is_list(node: Any, subject: str, lists: set[str]) -> bool:
    """Whether something is declared as a list: a field anywhere, a name in the function it is used in."""
    owner, _, name = subject.rpartition(".")
    if owner:
        return name in lists and not subject.startswith(_OWN) and name not in _OWN
    around = enclosing(node)
    if around is None or subject in _OWN:
        return False
    inner = (each for each in node.ancestors() if each.kind() in ("lambda", "arrow_function"))
    shadowed = any(each.range().start.index > around.range().start.index for each in inner)
    return not shadowed and bool(re.search(rf"\b{re.escape(name)}{_LIST}", around.text()))


def _folded_list(node: Any, lists: set[str]) -> str:
    """The list that a call folds without a first value; empty where it has one, or where it may be no list."""
    text = node.text()
    given = [each for each in node.field("arguments").children() if each.kind() not in ("(", ")", ",", "comment")]
    if re.match(r"(?:functools\.)?reduce\(", text):
        return given[1].text() if len(given) == 2 and re.fullmatch(_NAME, given[1].text()) else ""
    if node.kind() == "call_expression" and not text.startswith("Math."):
        subject = _source(node)
        return subject if len(given) == 1 and re.fullmatch(_NAME, subject) else ""
    subject = str(given[0].text()).removeprefix("...")
    return subject if _is_list(node, subject, lists) else ""


def _source(node: Any) -> str:
    """The list behind a chain of calls none of which makes something out of nothing."""
    below = node.field("function").field("object")
    while below.kind() == "call_expression" and (step := below.field("function")).kind() == "member_expression":
        if step.field("property").text() not in _KEEPING:
            break
        below = step.field("object")
    return str(below.text())


def _is_guarded(node: Any, subject: str) -> bool:
    """Whether something in the function, around the place or before it, looks at the subject or fills it."""
    around = enclosing(node)
    if around is None or name_of(around).startswith("_"):
        return True  # a module's own constants; a function whose callers are at hand
    if any(each.kind() == "try_statement" for each in node.ancestors()):
        return True
    named = re.compile(rf"(?<![\w.$]){re.escape(subject)}(?![\w$])")
    looks = (_condition(each) for each in _within(around) if _start(each) <= node.range().start.index)
    filled = re.compile(rf"(?<![\w.$]){re.escape(subject)}\s*(?:[-+]?=[^=]|\.(?:append|push|add|extend)\()")
    return any(named.search(text) for text in looks if text) or bool(filled.search(around.text()))


def _start(node: Any) -> int:
    """Where a piece of syntax begins to matter; the loop of a comprehension is written behind what it repeats."""
    return int((node.parent() if node.kind() == "for_in_clause" else node).range().start.index)


def _within(node: Any) -> Iterator[Any]:
    """Everything below a node, however deep it is nested."""
    waiting = list(node.children())
    while waiting:
        each = waiting.pop()
        yield each
        waiting += each.children()


def _condition(node: Any) -> str:
    """What a piece of syntax looks at; empty for one that does not."""
    kind = node.kind()
    if kind in _WHOLE:
        parts = node.children()
        return str(parts[2].text() if kind == "conditional_expression" and len(parts) > 2 else node.text())
    field = node.field(_LOOKS[kind]) if kind in _LOOKS else None
    if field is None or (kind == "binary_expression" and not any(each.kind() in _LOGIC for each in node.children())):
        return ""
    return str(field.text())


def sorted_as_words(syntax: Syntax, tree: SourceTree, files: Collection[str]) -> Iterator[TrackDefect]:
    """Sorts without a comparison of what is declared as numbers."""
    every = {path: tree.text(path) for path in tree.product(*SCRIPTS)}
    sorting = [path for path, text in every.items() if path in files and re.search(r"ort(?:ed)?\(\s*\)", text)]
    whole = "\n\n".join(every.values()) if sorting else ""
    single = set(_IS_NUMBER.findall(whole)) - set(_IS_WORD.findall(whole))
    for path in sorting:
        many = set(_ARE_NUMBERS.findall(tree.text(path)))
        for node in syntax.find(tree, path, _SORTS):
            if _holds_numbers(node, single, many):
                text = f"`{' '.join(node.text().split())[-60:]}` sorts numbers as words, 10 before 9"
                yield tree.defect("numbers-as-words", text, path, lines_of(node)[1], action="sort((a, b) => a - b)")


def _holds_numbers(node: Any, single: Collection[str], many: Collection[str]) -> bool:
    """Whether a list is one of numbers: written out, declared so, or made by taking a number of each thing."""
    subject = node.field("function").field("object").text()
    while kept := _PASSED_ON.search(subject):
        subject = subject[: kept.start()]
    copied = re.fullmatch(r"\[\s*\.\.\.([\w.$]+)\s*\]", subject)
    name = (copied[1] if copied else subject).rpartition(".")[2]
    if name in many or re.fullmatch(r"\[\s*-?\d[\d_.]*(?:\s*,\s*-?\d[\d_.]*)*\s*,?\s*\]", subject):
        return True
    mapped = _MAPPED.search(subject)
    return bool(mapped and (mapped[2] or mapped[1] in single))
