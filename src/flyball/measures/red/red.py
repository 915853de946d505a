"""RED: which tests are new, whether each fails for the right reason, and whether the old ones still pass."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from flyball.core.model.measurement import NewTest
from flyball.core.model.task import Item
from flyball.measures.gates.junit import Case, Outcome
from flyball.measures.red.reasons import Project, missing_import, reason
from flyball.measures.sources import SourceTest, declared_tests, is_reported, is_script, named_criteria, parse
from flyball.measures.tampering.weakening import is_always_true, is_check_call, tests_defined


def vacuous_tests(source: bytes, path: str) -> frozenset[str]:
    """The tests that look at nothing but constants; what else keeps assertions from being run is found once they pass."""
    functions = tests_defined(parse(source))
    return frozenset(f"{path}::{name}" for name, node in functions.items() if not any(map(_asks, node.body)))


def _asks(node: ast.AST) -> bool:
    """Whether a piece of a test may fail because of something outside the test."""
    if isinstance(node, ast.Assert):
        return not is_always_true(node) and any(isinstance(part, ast.Name) for part in ast.walk(node.test))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_check_call(node):
        # One of unittest's own.
        return not is_always_true(node)
    if isinstance(node, ast.Call | ast.Attribute | ast.Import | ast.ImportFrom | ast.Raise | ast.Await):
        return True
    return any(map(_asks, ast.iter_child_nodes(node)))


def new_tests(
    cases: Mapping[str, Case],
    baseline: Mapping[str, Outcome],
    *,
    tree: Path,
    files: Iterable[str],
    items: tuple[Item, ...],
    declared: Sequence[SourceTest],
    text: str,
) -> tuple[NewTest, ...]:
    """Every test the baseline did not have; a file that could not be loaded counts by the tests in its source.

    Of a build that failed nothing is reported: `declared` are the tests that changed files have gained, `text` what the
    gates that did not pass said.
    """
    project = Project(tree, files)
    sources: dict[str, dict[str, SourceTest]] = {}
    found: list[NewTest] = []
    for case in cases.values():
        if case.file not in sources:
            sources[case.file] = {test.id: test for test in _read(tree, case.file)}
        if case.uncollected:
            found += _of_unloaded_file(case, sources[case.file], baseline, project, items, text)
        elif case.id not in baseline:
            written = [*sources[case.file].values(), *([] if case.file else declared)]
            found.append(_ran(case, written, project, items))
    if text:
        found += _tests_not_built(declared, cases, text, project, items)
    return tuple(sorted(without_vacuous(found, tree), key=lambda test: test.id))


def without_vacuous(found: Iterable[NewTest], tree: Path) -> tuple[NewTest, ...]:
    """The same tests, of which those that check nothing are said to fail for no reason of their own."""
    tests = tuple(found)
    files = {test.file for test in tests if test.file.endswith(".py") and (tree / test.file).is_file()}
    vacuous = frozenset(i for file in files for i in vacuous_tests((tree / file).read_bytes(), file))
    return tuple(
        replace(test, reason="vacuous", detail="it checks nothing")
        if test.reason in {"assertion", "missing-name"} and test.id.partition("[")[0] in vacuous
        else test
        for test in tests
    )


def _read(tree: Path, file: str) -> tuple[SourceTest, ...]:
    path = tree / file
    return declared_tests(file, path.read_bytes()) if file and path.is_file() and not path.is_symlink() else ()


def _tests_not_built(
    declared: Iterable[SourceTest], cases: Mapping[str, Case], text: str, project: Project, items: tuple[Item, ...]
) -> Iterator[NewTest]:
    """Tests that no report has since what they stand in was not built: the compiler names their file."""
    loaded = {case.file for case in cases.values()}
    for test in declared:
        file = test.id.partition("::")[0]
        if file in loaded or file.rpartition("/")[2] not in text or is_reported(test.id, cases):
            continue
        why, detail = reason(Case(test.id, file, "failing", text=text, uncollected=True), project)
        why = why if why == "missing-name" else "error"
        yield NewTest(test.id, file, "uncollected", why, detail, named_criteria(test.words, items))


def _ran(case: Case, written: Iterable[SourceTest], project: Project, items: tuple[Item, ...]) -> NewTest:
    plain = case.id.partition("[")[0]
    words = next((test.words for test in written if test.id == plain), "")
    if not words:
        alike = () if case.file.endswith(".py") else (t.words for t in written if is_reported(t.id, (case.id,)))
        words = "\n".join((case.id, *alike))
    criteria = named_criteria(words, items)
    if case.outcome == "failing":
        why, detail = reason(case, project)
        return NewTest(case.id, case.file, "failing", why, detail, criteria)
    return NewTest(case.id, case.file, "passing" if case.outcome == "passing" else "skipped", criteria=criteria)


def _of_unloaded_file(
    case: Case,
    source: Mapping[str, SourceTest],
    baseline: Mapping[str, Outcome],
    project: Project,
    items: tuple[Item, ...],
    text: str,
) -> list[NewTest]:
    why, detail = reason(case, project)
    if why == "error" and not case.file.endswith(".py"):
        # Node's report says only that the file failed; what it printed says why.
        told, line = reason(replace(case, message="", text=text), project)
        why, detail = (told, line) if told == "missing-name" else (why, detail)
    # Its report may not say what a script that could not be loaded imports from the tree and is not there.
    script = project.text(case.file) if why == "error" and is_script(case.file) else None
    if script and (lacking := missing_import(case.file, script, project.text)):
        why, detail = "missing-name", lacking
    known = {identifier.partition("[")[0] for identifier in baseline}
    fresh = [test for test in source.values() if test.id not in known]
    if not fresh and case.id not in baseline:
        return [NewTest(case.id, case.file, "uncollected", "error", detail, tests_in_source=0)]
    return [
        NewTest(test.id, case.file, "uncollected", why, detail, named_criteria(test.words, items)) for test in fresh
    ]


def accepted_outcomes(
    cases: Mapping[str, Case], found: Iterable[NewTest], baseline: Mapping[str, Outcome]
) -> dict[str, Outcome]:
    """What later runs must hold: every reported test, and those that stand in the source of what could not be loaded.

    Where nothing was built, the old tests are those of the baseline.
    """
    outcomes: dict[str, Outcome] = {i: case.outcome for i, case in cases.items() if not case.uncollected}
    unloaded = [test for test in found if test.outcome == "uncollected" and test.tests_in_source]
    named: dict[str, Outcome] = {t.id: "failing" if t.file.endswith(".py") else "declared" for t in unloaded}
    loaded = {case.file for case in cases.values()}
    unbuilt = any(not t.file.endswith(".py") and t.file not in loaded for t in unloaded)
    return (dict(baseline) if unbuilt else {}) | outcomes | named
