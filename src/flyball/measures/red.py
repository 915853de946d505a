"""RED: which tests are new, whether each fails for the right reason, and whether the old ones still pass."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from flyball.core.criteria import Criterion, names_criterion
from flyball.core.measurement import NewTest
from flyball.core.task import Item
from flyball.measures.junit import Case, Outcome
from flyball.measures.reasons import Project, reason
from flyball.measures.sources import SourceTest, source_tests
from flyball.measures.vacuous import asking_nothing


def new_tests(
    cases: Mapping[str, Case],
    baseline: Mapping[str, Outcome],
    *,
    tree: Path,
    files: Iterable[str],
    items: Iterable[Item],
) -> tuple[NewTest, ...]:
    """Every test the baseline did not have; a file that could not be loaded counts by the tests in its source."""
    project = Project(tree, files)
    items = tuple(items)
    sources: dict[str, dict[str, SourceTest]] = {}
    found: list[NewTest] = []
    for case in cases.values():
        if case.file not in sources:
            sources[case.file] = {test.id: test for test in _read(tree, case.file)}
        if case.uncollected:
            found += _uncollected(case, sources[case.file], baseline, project, items)
        elif case.id not in baseline:
            found.append(_ran(case, sources[case.file], project, items))
    return tuple(sorted(without_vacuous(found, tree), key=lambda test: test.id))


def without_vacuous(found: Iterable[NewTest], tree: Path) -> tuple[NewTest, ...]:
    """The same tests, of which those that check nothing are said to fail for no reason of their own."""
    tests = tuple(found)
    files = {test.file for test in tests if test.file.endswith(".py") and (tree / test.file).is_file()}
    vacuous = frozenset(i for file in files for i in asking_nothing((tree / file).read_bytes(), file))
    return tuple(_weighed(test, vacuous) for test in tests)


def _weighed(test: NewTest, vacuous: frozenset[str]) -> NewTest:
    if test.reason in {"assertion", "missing-name"} and test.id.partition("[")[0] in vacuous:
        return replace(test, reason="vacuous", detail="it checks nothing")
    return test


def _read(tree: Path, file: str) -> tuple[SourceTest, ...]:
    path = tree / file
    if not file.endswith(".py") or not path.is_file():
        return ()
    return source_tests(path.read_bytes(), file) or ()


def _ran(case: Case, source: Mapping[str, SourceTest], project: Project, items: tuple[Item, ...]) -> NewTest:
    test = source.get(case.id.partition("[")[0])
    words = test.words if test else case.id
    criteria = tuple(item.id for item in items if names(words, item))
    if case.outcome == "failing":
        why, detail = reason(case, project)
        return NewTest(case.id, case.file, "failing", why, detail, criteria)
    return NewTest(case.id, case.file, "passing" if case.outcome == "passing" else "skipped", criteria=criteria)


def _uncollected(
    case: Case,
    source: Mapping[str, SourceTest],
    baseline: Mapping[str, Outcome],
    project: Project,
    items: tuple[Item, ...],
) -> list[NewTest]:
    why, detail = reason(case, project)
    known = {identifier.partition("[")[0] for identifier in baseline}
    fresh = [test for test in source.values() if test.id not in known]
    if not fresh:
        return (
            []
            if case.id in baseline
            else [NewTest(case.id, case.file, "uncollected", "error", detail, tests_in_source=0)]
        )
    return [
        NewTest(
            test.id,
            case.file,
            "uncollected",
            why,
            detail,
            tuple(item.id for item in items if names(test.words, item)),
        )
        for test in fresh
    ]


def names(words: str, item: Item) -> bool:
    """Whether a test's own words name an item: by a criterion's number, or by the item's id as it is."""
    if re.fullmatch(r"AC-[0-9]+", item.id):
        return names_criterion(words, Criterion(item.id, item.text, 0))
    spelt = re.sub(r"[^A-Za-z0-9]+", "[-_ ]?", re.escape(item.id).replace("\\", ""))
    return bool(re.search(rf"(?<![A-Za-z0-9]){spelt}(?![0-9])", words, re.IGNORECASE))


def accepted_outcomes(cases: Mapping[str, Case], found: Iterable[NewTest]) -> dict[str, Outcome]:
    """What later runs must hold: every reported test, and those a file that could not be loaded has in its source."""
    outcomes: dict[str, Outcome] = {i: case.outcome for i, case in cases.items() if not case.uncollected}
    return outcomes | {test.id: "failing" for test in found if test.outcome == "uncollected" and test.tests_in_source}
