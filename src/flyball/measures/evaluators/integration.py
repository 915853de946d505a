"""The evaluator `integration`: contracts, guards, persistence, recovery, environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flyball.core.evaluation.catalogue import INTEGRATION
from flyball.core.evaluation.findings import PassResult, TrackDefect, together
from flyball.measures.evaluators import contracts, persistence, surroundings
from flyball.measures.evaluators.code_quality import once_a_line
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees, not_applicable
from flyball.measures.evaluators.linters import Linters
from flyball.measures.evaluators.syntax import Syntax

_GUARD = re.compile(
    r"Depends\(|Security\(|login_required|permission|require|authenticat|authori[sz]|jwt|protect|guard|session|ensure|verify|current_user|signed_in",
    re.IGNORECASE,
)
_PUBLIC = re.compile(r"login|signin|sign-in|signup|register|token|webhook|callback|logout|health", re.IGNORECASE)


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    """Every measured pass of integration."""
    linters, syntax = Linters(trees.toolbox), Syntax(trees.toolbox)
    yield together("API contracts", list(_contracts(trees)))
    yield _guards(trees)
    yield together("persistence and schema", list(_persistence(trees)))
    yield _recovery(trees, linters, syntax)
    yield together("environment", list(_environment(trees, syntax)))


def _contracts(trees: TrackTrees) -> Iterator[PassResult]:
    name = "API contracts"
    if not contracts.documents(trees.head) and not contracts.documents(trees.base):
        yield not_applicable(name, "there is no OpenAPI document")
        return
    yield trees.compare(name, contracts.unsound)
    yield trees.compare(name, contracts.disagreements)
    yield trees.compare(name, lambda tree: contracts.breaking(trees) if tree is trees.head else ())


def _guards(trees: TrackTrees) -> PassResult:
    """A route that changes data and names no guard, in a file whose other such routes do."""
    name = "auth flow"
    if not any(route.method != "get" for route in contracts.routes(trees.head)):
        return not_applicable(name, "no route that changes data was found")
    return trees.compare(name, _unguarded)


def _unguarded(tree: SourceTree) -> list[TrackDefect]:
    changing = [route for route in contracts.routes(tree) if route.method != "get"]
    guarded = {route: bool(_GUARD.search(_words(tree, route))) for route in changing}
    found = []
    for route, has_guard in guarded.items():
        beside = any(known for other, known in guarded.items() if other.file == route.file)
        whole = re.search(r"\b(?:app|router)\.use\([^)]*(?:auth|guard|protect|require)|before_request|add_middleware\(\s*\w*Auth", tree.text(route.file), re.IGNORECASE)  # fmt: skip
        if not has_guard and beside and not whole and not _PUBLIC.search(route.path):
            text = f"{route.method} {route.path} changes data and names no guard, as others here do"
            found.append(
                tree.defect(
                    "unguarded-route", text, route.file, route.line, action="guard it, or say that it is public"
                )
            )
    return found


def _words(tree: SourceTree, route: contracts.Route) -> str:
    """The route's decorators and signature, or the arguments before its last function, without its path."""
    lines = tree.text(route.file).split("\n")
    first = route.line - 1
    while route.file.endswith(".py") and first > 0 and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    taken: list[str] = []
    for line in lines[first : first + 12]:
        taken.append(line)
        if re.search(r"\)\s*(?:->.*)?:\s*$|=>|\bfunction\b", line):
            break
    text = "\n".join(taken).replace(route.path, "")
    return text if route.file.endswith(".py") else re.split(r"=>|\bfunction\b", text)[0]


def _persistence(trees: TrackTrees) -> Iterator[PassResult]:
    name = "persistence and schema"
    if not persistence.migrations(trees.head):
        yield not_applicable(name, "there are no migrations")
        return
    yield trees.compare(name, lambda tree: persistence.sql_defects(trees.toolbox, tree))
    yield trees.compare(name, lambda tree: persistence.unmigrated(trees) if tree is trees.head else ())


def _recovery(trees: TrackTrees, linters: Linters, syntax: Syntax) -> PassResult:
    name = "error recovery"
    if not trees.changed(*PYTHON, *SCRIPTS):
        return not_applicable(name, "the track changed no Python, TypeScript or JavaScript")
    safe = trees.ground.options.safe_calls

    def look(tree: SourceTree) -> Sequence[TrackDefect]:
        found = once_a_line([*linters.defects(tree, name), *syntax.defects(tree, name)])
        return [each for each in found if not any(call in each.text for call in safe)]

    return trees.compare(name, look)


def _environment(trees: TrackTrees, syntax: Syntax) -> Iterator[PassResult]:
    name = "environment"
    yield trees.compare(name, lambda tree: surroundings.secrets(trees.toolbox, syntax, tree))
    if surroundings.examples(trees.head) or surroundings.examples(trees.base) or surroundings.wants_example(trees.head):
        yield trees.compare(name, lambda tree: surroundings.unnamed_variables(syntax, tree))


EVALUATOR = Evaluator(INTEGRATION, measure)
