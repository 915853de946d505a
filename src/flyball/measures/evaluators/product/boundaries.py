"""Comparisons with a limit of a product rule that no test tries at the limit: nothing tells `<` from `<=` there."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
from flyball.measures.evaluators.product.product_rules import ProductRule, matching
from flyball.measures.evaluators.product.rule_tests import RuleTest
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of

FUNCTIONS = frozenset({"function_definition", "function_declaration", "method_definition", "arrow_function", "function_expression"})  # fmt: skip
_CONSTANT = re.compile(r"^\s*(?:export\s+)?(?:(?:static\s+)?(?:readonly\s+)?|const\s+)?([A-Z][A-Z0-9_]*)\s*(?::[^=\n]+)?=\s*(?:(?:\w+\.)?timedelta\(\w+=)?(\d[\d_]*(?:\.\d+)?)\)?\s*;?\s*(?:[#/].*)?$", re.MULTILINE)  # fmt: skip
_STEM = 4
"""Letters that two words must share at their beginning to be about the same thing."""


def undecided_limits(
    syntax: Syntax, tree: SourceTree, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
) -> Iterator[TrackDefect]:
    """The comparisons of the product with a rule's limit whose boundary no test decides."""
    limits = [(limit, rule) for rule in rules for limit in (*rule.limits, *rule.spelt_limits)]
    files = tree.product(*PYTHON, *SCRIPTS) if limits else ()
    constants: dict[str, set[float]] = {}
    for name, value in (pair for path in files for pair in _CONSTANT.findall(tree.text(path))):
        constants.setdefault(name, set()).add(float(value.replace("_", "")))
    for path in files:
        kind = "comparison_operator" if path.endswith(PYTHON) else "binary_expression"
        for node in syntax.find(tree, path, {"kind": kind}):
            for number in _compared_numbers(node, constants):
                same = list(dict.fromkeys(rule for limit, rule in limits if limit == number))
                about = [rule for rule in same if _is_about(node, rule, tests)]
                if about and not any(_is_tried(node, number, rule, tests) for rule in about):
                    # The rules it may belong to: one that speaks of the same things, and those that spell the same limit.
                    either = " or ".join(rule.name for rule in same if rule is about[0] or number in rule.spelt_limits)
                    code = f"`{' '.join(node.text().split())[:60]}`"
                    text = f"no test tries {code} at {number:g}, so nothing tells whether {either} holds there"
                    action = f"test it with {number:g}, one less and one more"
                    yield tree.defect("limit-undecided", text, path, lines_of(node)[0], action=action)


def _compared_numbers(node: Any, constants: dict[str, set[float]]) -> Iterator[float]:
    """The numbers that an expression compares by order; an operand within it is a node of its own."""
    children = node.children()
    if any(child.kind() in ("<", "<=", ">", ">=") for child in children):
        for child in children:
            if child.kind() in ("integer", "float", "number"):
                yield float(child.text().replace("_", ""))
            else:
                yield from constants.get(child.text().rpartition(".")[2], ())


def _is_about(node: Any, rule: ProductRule, tests: Sequence[RuleTest]) -> bool:
    """Whether the comparison or the signature around it shares a word with the rule, or a test of the rule names the function.

    A number alone proves nothing.
    """
    around = enclosing(node)
    signature = around.text().split("\n")[0] if around is not None else ""
    if _stems(f"{signature} {node.text()}") & _stems(rule.text):
        return True
    return around is not None and any(name_of(around) in test.uses for test in matching(rule, tests))


def _stems(text: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return {word.lower()[:_STEM] for word in words if len(word) >= _STEM}


def enclosing(node: Any) -> Any:
    """The function with a name that a node belongs to."""
    outer = node.parent()
    while outer is not None and not (outer.kind() in FUNCTIONS and name_of(outer)):
        outer = outer.parent()
    return outer


def name_of(function: Any) -> str:
    """What a function is called; an arrow function as the variable that holds it."""
    holder = function.parent() if function.field("name") is None else function
    name = holder.field("name") if holder is not None and holder.kind() in {*FUNCTIONS, "variable_declarator"} else None
    return name.text() if name is not None else ""


def reaching(node: Any, tests: Sequence[RuleTest]) -> list[RuleTest]:
    """The tests that name the function a node belongs to and can fail."""
    around = enclosing(node)
    return [test for test in tests if around is not None and name_of(around) in test.uses and not test.idle]


def _is_tried(node: Any, number: float, rule: ProductRule, tests: Sequence[RuleTest]) -> bool:
    able = [*reaching(node, tests), *(test for test in matching(rule, tests) if not test.idle)]
    counts_text = bool(re.search(r"\.length\b|\blen\(", node.text()))
    return any(number in (test.numbers | test.lengths if counts_text else test.numbers) for test in able)
