"""The evaluator `integration`: contracts, guards, persistence, recovery, environment."""

from collections.abc import Iterator
from functools import partial

from flyball.core.evaluation.catalogue import INTEGRATION
from flyball.core.evaluation.findings import PassResult, TrackDefect, together
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, Look, SourceTree, TrackTrees, not_applicable
from flyball.measures.evaluators.services import contract_changes, contracts, guards, surroundings
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.evaluators.tables import columns, migrations


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    linters, syntax = Linters(trees), Syntax(trees.toolbox)
    yield together("API contracts", list(_contracts(trees)))
    yield together("auth flow", list(_auth(trees, linters, syntax)))
    yield together("persistence and schema", list(_persistence(trees)))
    yield _recovery(trees, linters, syntax)
    yield together("environment", list(_environment(trees, syntax)))


def _contracts(trees: TrackTrees) -> Iterator[PassResult]:
    name = "API contracts"
    if not contracts.documents(trees.head) and not contracts.documents(trees.base):
        yield not_applicable(name, "there is no OpenAPI document")
        return
    yield trees.compare(name, contracts.unsound_parts)
    yield trees.compare(name, contracts.disagreements)
    yield trees.compare(name, lambda tree: contract_changes.breaking_changes(trees) if tree is trees.head else ())


def _auth(trees: TrackTrees, linters: Linters, syntax: Syntax) -> Iterator[PassResult]:
    name = "auth flow"
    if any(route.method != "get" for route in contracts.routes(trees.head)):
        yield trees.compare(name, guards.unguarded_routes)
    if trees.changed_files(*PYTHON, *SCRIPTS):
        yield trees.compare(name, *linters.looks(name))
        yield trees.compare(name, partial(syntax.defects, pass_name=name))
    else:
        yield not_applicable(name, "no route that changes data was found, and the track changed no code")


def _persistence(trees: TrackTrees) -> Iterator[PassResult]:
    name = "persistence and schema"
    known = migrations.migration_files(trees.head)
    if not known:
        yield not_applicable(name, "there are no migrations")
        return
    yield trees.compare(name, lambda tree: migrations.sql_defects(trees, tree))
    yield trees.compare(name, migrations.alembic_defects)
    yield trees.compare(name, lambda tree: columns.unmigrated_columns(trees, known) if tree is trees.head else ())
    yield trees.compare(name, lambda tree: columns.unmade_columns(trees, known) if tree is trees.head else ())


def _recovery(trees: TrackTrees, linters: Linters, syntax: Syntax) -> PassResult:
    name = "error recovery"
    if not trees.changed_files(*PYTHON, *SCRIPTS):
        return not_applicable(name, "the track changed no Python, TypeScript or JavaScript")
    safe = trees.ground.options.safe_calls

    def look(tree: SourceTree, inner: Look) -> list[TrackDefect]:
        return [each for each in inner(tree) if not any(call in each.text for call in safe)]

    looks: tuple[Look, ...] = (*linters.looks(name), partial(syntax.defects, pass_name=name))
    return trees.compare(name, *(partial(look, inner=each) for each in looks))


def _environment(trees: TrackTrees, syntax: Syntax) -> Iterator[PassResult]:
    name = "environment"
    yield trees.compare(name, lambda tree: surroundings.secrets(trees.toolbox, syntax, tree))
    if surroundings.examples(trees.head) or surroundings.examples(trees.base) or surroundings.wants_example(trees.head):
        yield trees.compare(name, lambda tree: surroundings.unnamed_variables(syntax, tree))


EVALUATOR = Evaluator(INTEGRATION, measure)
