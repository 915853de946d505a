"""The evaluator `business-logic`: product rules against tests, limits, and declared states against the code's."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from flyball.core.evaluation.catalogue import BUSINESS_LOGIC
from flyball.core.evaluation.findings import PassResult, TrackDefect, together
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees, not_applicable
from flyball.measures.evaluators.product.boundaries import undecided_limits
from flyball.measures.evaluators.product.empties import fails_on_nothing, sorted_as_words
from flyball.measures.evaluators.product.product_rules import (
    ProductRule,
    product_rules,
    uncovered_rules,
    untried_limits,
)
from flyball.measures.evaluators.product.rule_tests import RuleTest, rule_tests
from flyball.measures.evaluators.product.states import state_tables, transition_defects
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax

Checking = Callable[[SourceTree, str, Sequence[ProductRule], Sequence[RuleTest]], Iterable[TrackDefect]]


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    syntax = Syntax(trees.toolbox)

    def check_limits(
        tree: SourceTree, file: str, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
    ) -> Iterator[TrackDefect]:
        yield from untried_limits(tree, file, rules, tests)
        yield from undecided_limits(syntax, tree, rules, tests)

    yield _rules(trees, syntax, "product rules", uncovered_rules)
    yield _rules(trees, syntax, "edge cases", check_limits)
    yield _slips(trees, Linters(trees), syntax)
    yield _states(trees, syntax)


def _rules(trees: TrackTrees, syntax: Syntax, name: str, check: Checking) -> PassResult:
    ground = trees.ground
    rules = product_rules(ground.product)
    if not rules:
        return not_applicable(name, "product.md states no rules" if ground.product else "there is no product.md")
    named = {rule.line for rule in rules if rule.id and re.search(rf"\b{rule.id}\b", ground.spec)}

    def look(tree: SourceTree) -> Iterator[TrackDefect]:
        head = tree is trees.head
        stated = rules if head else product_rules(ground.base_product)
        for each in check(tree, ground.product_file, stated, rule_tests(syntax, tree)):
            new = head and each.file == ground.product_file and each.line in named
            yield msgspec.structs.replace(each, new=new)

    return trees.compare(name, look)


def _slips(trees: TrackTrees, linters: Linters, syntax: Syntax) -> PassResult:
    name = "edge cases"
    files = trees.changed_files(*PYTHON, *SCRIPTS)
    if not files:
        return not_applicable(name, "the track changed no Python and no script")

    def look(tree: SourceTree) -> Iterator[TrackDefect]:
        yield from fails_on_nothing(syntax, tree, files, rule_tests(syntax, tree))
        yield from sorted_as_words(syntax, tree, files)
        yield from syntax.defects(tree, name)

    return together(name, (trees.compare(name, look), trees.compare(name, *linters.looks(name))))


def _states(trees: TrackTrees, syntax: Syntax) -> PassResult:
    name = "state transitions"
    tables = state_tables(trees.ground.product) or state_tables(trees.ground.spec)
    if not tables:
        return not_applicable(name, "neither product.md nor spec.md has a table of states (from | to)")
    before = state_tables(trees.ground.base_product)
    return trees.compare(name, lambda tree: transition_defects(syntax, tree, tables if tree is trees.head else before))


EVALUATOR = Evaluator(BUSINESS_LOGIC, measure)
