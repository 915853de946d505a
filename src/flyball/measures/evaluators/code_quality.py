"""The evaluator `code-quality`: build and types, type safety, patterns, error handling, dead code, coverage."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from flyball.core.evaluation.catalogue import CODE_QUALITY
from flyball.core.evaluation.findings import PassResult, TrackDefect, judged_by, together
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees, is_product, not_applicable
from flyball.measures.evaluators.sources import commented_code, cycles, duplication, type_checks
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.sources import parse

OVERALL, BUSINESS, API = 70, 90, 80


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    linters, syntax = Linters(trees), Syntax(trees.toolbox)
    if not trees.changed_files(*PYTHON, *SCRIPTS):
        reason = "the track changed no Python, TypeScript or JavaScript"
        yield together("build and type check", _build(trees) or [not_applicable("build and type check", reason)])
        yield from (not_applicable(each.name, reason) for each in CODE_QUALITY.passes[1:-1])
    else:
        yield together("build and type check", [*_build(trees), *_types(trees)])
        yield _both(trees, "type safety", linters, syntax)
        yield together("patterns", list(_patterns(trees, linters)))
        yield _both(trees, "error handling", linters, syntax)
        yield together("dead code", list(_dead(trees, linters, syntax)))
    yield _coverage(trees)


def _both(trees: TrackTrees, name: str, linters: Linters, syntax: Syntax) -> PassResult:
    return trees.compare(name, *linters.looks(name), partial(syntax.defects, pass_name=name))


def _build(trees: TrackTrees) -> list[PassResult]:
    name, build = "build and type check", trees.ground.build
    if build is None:
        return []
    failed = () if build.passed else (TrackDefect("build", f"{build.command}: {build.said}", new=True),)
    return [judged_by(name, failed, (), trees.changes)]


def _types(trees: TrackTrees) -> Iterator[PassResult]:
    name = "build and type check"
    if trees.changed_files(*PYTHON):
        yield trees.compare(name, _unparsable)
    settings = trees.settings("mypy")
    if settings is not None and trees.changed_files(*PYTHON):
        yield trees.compare(name, lambda tree: type_checks.python_types(trees.toolbox, tree, settings))
    if "tsconfig.json" in trees.head.files and trees.changed_files(*SCRIPTS):
        yield trees.compare(name, lambda tree: type_checks.script_types(trees.toolbox, tree))
    yield not_applicable(name, "no type checker is configured for what changed")


def _unparsable(tree: SourceTree) -> Iterator[TrackDefect]:
    for path in tree.of(*PYTHON):
        if parse(tree.text(path).encode()) is None:
            yield tree.defect("syntax", "Python cannot read this file", path, 1, action="make it valid Python")


def _patterns(trees: TrackTrees, linters: Linters) -> Iterator[PassResult]:
    name = "patterns"
    yield trees.compare(name, *linters.looks(name))
    yield trees.compare(name, lambda tree: duplication.clones(trees) if tree is trees.head else ())
    if trees.changed_files(*PYTHON):
        yield trees.compare(name, lambda tree: cycles.python_cycles(trees.toolbox, tree))


def _dead(trees: TrackTrees, linters: Linters, syntax: Syntax) -> Iterator[PassResult]:
    name = "dead code"
    yield trees.compare(name, *linters.looks(name))
    yield trees.compare(name, partial(syntax.defects, pass_name=name))
    yield trees.compare(name, lambda tree: duplication.unused_code(trees, tree))
    yield trees.compare(name, lambda tree: commented_code.commented_scripts(syntax, tree))


def _coverage(trees: TrackTrees) -> PassResult:
    """Percentages over the whole report; what to do are changed lines that never ran."""
    name, report, options = "coverage", trees.ground.coverage, trees.ground.options
    if report is None:
        return not_applicable(name, "not configured: no gate has {coverage} in its command")
    if report.problem:
        return PassResult(name, "fail", reason=f"{name}: {report.problem}")
    product = {path: lines for path, lines in report.files.items() if is_product(path)}
    short = [
        TrackDefect("coverage", f"{what}: {percent:.0f} % of lines are covered; {least} % are wanted", new=True)
        for what, least, patterns in (("overall", OVERALL, ("*",)), ("business logic", BUSINESS, options.business), ("API and utilities", API, options.api))
        if (percent := _percent(product, patterns)) is not None and percent < least
    ]  # fmt: skip
    if not short:
        return PassResult(name, "pass")
    missed = [
        trees.head.defect("uncovered", "no test runs this line", path, line, action="test it")
        for path, lines in sorted(product.items())
        for line, hit in sorted(lines.items())
        if not hit and trees.changes.touches(path, line, line)
    ]
    return judged_by(name, [*short, *missed], (), trees.changes)


def _percent(files: Mapping[str, Mapping[int, bool]], patterns: Sequence[str]) -> float | None:
    own = [lines for path, lines in files.items() if any(fnmatchcase(path, one) for one in patterns)]
    hits = [hit for lines in own for hit in lines.values()]
    return 100 * sum(hits) / len(hits) if hits else None


EVALUATOR = Evaluator(CODE_QUALITY, measure)
