"""The rules of product.md as a checklist: each matched by tests that name it and use its numbers, or named as uncovered."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SCRIPTS, SourceTree
from flyball.measures.evaluators.syntax import Syntax
from flyball.measures.sources import looks_like_test

_RULE = re.compile(r"^\s*(?:[-*+]|\d+[.)]|\||#+)?\s*\**(?P<id>[A-Z]{1,8}-?\d{1,4})\**\s*[:|.)—–-]+\s*(?P<text>\S.*)$")
_LIMIT = re.compile(
    r"\b(?:at most|at least|or more|or less|or fewer|above|below|more than|less than|fewer than|under|over|up to|maximum|minimum|"
    r"max|min|within|valid for|no longer than|exceed\w*|between|from \d|until \d)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?![\w])(\s*%)?")
_STOP = frozenset(
    "a an and are as at be by for from has have in is it its of on or per than that the their to was with every each".split()
)
ENOUGH = 0.7


class ProductRule(msgspec.Struct, frozen=True):
    """A rule as the document states it."""

    id: str
    text: str
    line: int

    @property
    def numbers(self) -> tuple[tuple[float, bool], ...]:
        """The numbers of the rule, each with whether it is a percentage."""
        return tuple((float(number.replace(",", ".")), bool(percent)) for number, percent in _NUMBER.findall(self.text))

    @property
    def is_limit(self) -> bool:
        return bool(_LIMIT.search(self.text))


class RuleTest(msgspec.Struct, frozen=True):
    """A test: the words it is known by, and the numbers its code uses."""

    words: str
    numbers: frozenset[float]


def product_rules(text: str) -> tuple[ProductRule, ...]:
    """The rules with an id, and the items of a list below a heading that speaks of rules."""
    found: list[ProductRule] = []
    in_rules, fenced = False, False
    for number, line in enumerate(text.split("\n"), start=1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced:
            continue
        if heading := re.match(r"#+\s+(.*)", line):
            in_rules = bool(re.search(r"\brules?\b", heading[1], re.IGNORECASE))
        if rule := _RULE.match(line):
            found.append(ProductRule(rule["id"], rule["text"].strip(" |"), number))
        elif in_rules and (item := re.match(r"\s*(?:[-*+]|\d+[.)])\s+(\S.*)", line)):
            found.append(ProductRule("", item[1], number))
    return tuple(found)


def rule_tests(syntax: Syntax, tree: SourceTree) -> list[RuleTest]:
    """Every test of the tree, in both languages."""
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
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    constants = {target.id: node.value for node in module.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}  # fmt: skip
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            words = f"{node.name} {ast.get_docstring(node) or ''} {' '.join(ast.unparse(each) for each in node.decorator_list)}"
            own = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
            for name in (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in constants):
                own |= {each.value for each in ast.walk(constants[name]) if isinstance(each, ast.Constant)}
            yield RuleTest(words, frozenset(_values(own)))


def _values(constants: Iterable[object]) -> Iterator[float]:
    for value in constants:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)
        elif isinstance(value, str) and (number := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", value)):
            yield float(number[1])


def _script_tests(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[RuleTest]:
    rule = {"kind": "call_expression", "has": {"field": "function", "regex": r"^(test|it)(\.\w+)*(\(|$)"}}
    for node in syntax.find(tree, path, rule):
        text = node.text()
        name = re.search(r"[\"'`]((?:[^\"'`\\]|\\.)*)[\"'`]", text)
        above = " ".join(re.findall(r"^\s*//.*$", text, re.MULTILINE))
        numbers = frozenset(float(each.text().replace("_", "")) for each in node.find_all(kind="number") if re.fullmatch(r"[\d_]+(\.\d+)?", each.text()))  # fmt: skip
        yield RuleTest(f"{name[1] if name else ''} {above}", numbers)


def matching(rule: ProductRule, tests: Sequence[RuleTest]) -> list[RuleTest]:
    """The tests of a rule: those that name its id, or for a rule without one, most of its words."""
    if rule.id:
        letters, digits = re.fullmatch(r"([A-Z]+)-?(\d+)", rule.id).groups()  # type: ignore[union-attr]
        name = re.compile(rf"(?<![A-Za-z0-9]){letters}[-_ ]?0*{int(digits)}(?![0-9A-Za-z])", re.IGNORECASE)
        return [test for test in tests if name.search(test.words)]
    wanted = {word for word in re.findall(r"[a-z]{3,}", rule.text.lower()) if word not in _STOP}
    return [test for test in tests if wanted and _share(wanted, test.words) >= ENOUGH]


def _share(wanted: set[str], words: str) -> float:
    there = set(re.findall(r"[a-z]{3,}", words.lower().replace("_", " ")))
    return len(
        [word for word in wanted if word in there or f"{word}s" in there or word.removesuffix("s") in there]
    ) / len(wanted)


def uncovered(
    tree: SourceTree, file: str, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
) -> list[TrackDefect]:
    """Rules that no test names, or whose numbers no test of theirs uses."""
    found = []
    for rule in rules:
        own = matching(rule, tests)
        name = rule.id or f"“{rule.text[:50]}”"
        unused = [
            number
            for number, percent in rule.numbers
            if not any(_forms(number, percent=percent) & test.numbers for test in own)
        ]
        if not own:
            found.append(
                tree.defect(
                    "rule-untested", f"no test names {name}", file, rule.line, action=f"test it, and name {name}"
                )
            )
        elif unused and len(unused) == len(rule.numbers):
            text = f"the tests of {name} use none of its numbers ({', '.join(f'{one:g}' for one in unused)})"
            found.append(
                tree.defect("rule-numbers", text, file, rule.line, action="test the rule with the numbers it states")
            )
    return found


def _forms(number: float, *, percent: bool) -> frozenset[float]:
    share = {round(number / 100, 6), round(1 - number / 100, 6), round(1 + number / 100, 6)} if percent else set()
    return frozenset({number, number * 100, *share})


def untried_limits(
    tree: SourceTree, file: str, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
) -> list[TrackDefect]:
    """Limits of tested rules that their tests do not try at, below and above."""
    found = []
    for rule in rules:
        used = frozenset(value for test in matching(rule, tests) for value in test.numbers)
        for number, percent in rule.numbers if rule.is_limit else ():
            tried = {
                "at": number in used,
                "below": any(0 <= v < number for v in used),
                "above": any(v > number for v in used),
            }
            missing = [word for word, done in tried.items() if not done]
            if missing and used and not percent:
                text = f"{rule.id or rule.text[:50]}: no test tries it {' or '.join(missing)} {number:g}"
                action = f"test {number:g}, one less and one more"
                found.append(tree.defect("limit-untried", text, file, rule.line, action=action))
    return found
