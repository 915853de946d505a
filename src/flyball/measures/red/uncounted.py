"""RED where no gate counts its tests: the new ones are read from their source, and the gates are asked with them and without.

Which of them fails is known where the runner says so as Python's own does; elsewhere they are judged as one. Where a source
does not tell its tests, as a shell script, a new test file is a test of each criterion it names, and the gates are asked about
each criterion alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from flyball.core.model.measurement import NewTest
from flyball.core.model.task import Item
from flyball.core.text.scrubbing import decode
from flyball.measures.examination import Examination, Trial
from flyball.measures.found import Found, changed_tests, measure_changed_files, without_tests
from flyball.measures.gates.junit import Case, TreeIndex
from flyball.measures.red.reasons import Project, reason
from flyball.measures.red.red import without_vacuous
from flyball.measures.sources import (
    LARGEST,
    SourceTest,
    declared_tests,
    is_countable,
    named_criteria,
    names_item,
    parse,
)
from flyball.measures.tampering.protected import changed_paths

_FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", re.MULTILINE)
_RULE = re.compile(r"^={70}$", re.MULTILINE)
_RAN = re.compile(r"^Ran \d+ tests? in ", re.MULTILINE)
_UNREADABLE = re.compile(r"SyntaxError|IndentationError|TabError|[Ss]yntax error|Unexpected token|ParseError")
_PASSES = "every gate ends with 0 with it: it passes already, or no gate runs it"


class NewTests(msgspec.Struct, frozen=True):
    """A file's new tests as its source has them, of which some say themselves that they are skipped.

    `words` are the path and the text of a new file whose tests cannot be told from its source.
    """

    file: str
    tests: tuple[SourceTest, ...]
    skipped: frozenset[str] = frozenset()
    invalid: bool = False
    words: str = ""


def red_uncounted(examination: Examination, trial: Trial) -> Found:
    """New tests as their source has them; the gates must fail with them and pass without."""
    request, workspace = examination.request, examination.workspace
    new = new_in_source(examination)
    fresh = judge_new_tests(
        new,
        passed=trial.round.passed,
        text=trial.round.text,
        index=examination.index,
        project=Project(examination.tree.directory, examination.index.files),
        items=request.items,
    )
    fresh = without_vacuous(fresh, examination.tree.directory)
    fresh += _whole_files(examination, trial, new)
    files = measure_changed_files(examination)
    sha = without_tests(examination, [file.file for file in new])
    failing: tuple[str, ...] = ()
    if sha != workspace.tree_of(request.base):
        examination.use(sha)
        runs = examination.trial().round.runs
        failing = tuple(f"{r.result.name} fails without the new tests, too" for r in runs if not r.result.passed)
    return Found(trial, {}, new_tests=fresh, old_tests_broken=failing, files=files)


def _whole_files(examination: Examination, trial: Trial, new: list[NewTests]) -> tuple[NewTest, ...]:
    """New test files that are a test as a whole: each criterion's own must turn the gates red without the others'."""
    request, workspace = examination.request, examination.workspace
    whole = [file for file in new if file.words]
    named = {item.id: tuple(file.file for file in whole if names_item(file.words, item)) for item in request.items}
    groups = {criterion: files for criterion, files in named.items() if files}
    every = {file for files in groups.values() for file in files} | {file.file for file in new if file.tests}
    rounds = {frozenset(every): trial.round}
    found = []
    for criterion, files in groups.items():
        alone = frozenset(files)
        if trial.round.passed:
            rounds[alone] = trial.round
        elif alone not in rounds:
            without = dict.fromkeys(sorted(every - alone), request.base)
            examination.use(workspace.overlay(request.candidate, without))
            rounds[alone] = examination.trial().round
        ended = rounds[alone]
        project = Project(examination.tree.directory, examination.index.files)
        test = NewTest(f"{files[0]}::{criterion}", files[0], "passing", detail=_PASSES, criteria=(criterion,))
        found.append(test if ended.passed else _as_failing(test, ended.text, project))
    return tuple(found)


def new_in_source(examination: Examination) -> list[NewTests]:
    """Changed test files, and Rust's other files, with the tests each has gained."""
    request, workspace = examination.request, examination.workspace
    tests = changed_tests(examination, request.base, request.candidate)
    paths = (p for p in changed_paths(workspace, request.base, request.candidate) if p in tests or p.endswith(".rs"))
    read = (read_new(p, workspace.read_file(request.base, p), workspace.read_file(request.candidate, p)) for p in paths)
    return [file for file in read if file.tests or file.file in tests]


def read_new(path: str, before: bytes | None, after: bytes | None) -> NewTests:
    old = {test.id for test in declared_tests(path, before or b"")}
    found = tuple(test for test in declared_tests(path, after or b"") if test.id not in old)
    skipped = frozenset(test.id for test in found if test.skipped)
    if path.endswith(".py"):
        return NewTests(path, found, invalid=after is not None and parse(after) is None)
    whole = before is None and after is not None and not is_countable(path)
    return NewTests(path, found, skipped, words=f"{path}\n{decode((after or b'')[:LARGEST])}" if whole else "")


def judge_new_tests(
    files: Iterable[NewTests], *, passed: bool, text: str, index: TreeIndex, project: Project, items: tuple[Item, ...]
) -> tuple[NewTest, ...]:
    """Each new test with how it ended, as far as the gates' exit and their words tell."""
    told = dict(_cases(text, index)) if _RAN.search(text) else None
    found = []
    for file in files:
        if file.invalid:
            invalid = "it is not valid Python"
            found.append(NewTest(file.file, file.file, "uncollected", "error", invalid, tests_in_source=0))
        for test in file.tests:
            criteria = named_criteria(test.words, items)
            new = NewTest(test.id, file.file, "passing", detail=_PASSES, criteria=criteria)
            if test.id in file.skipped:
                new = NewTest(test.id, file.file, "skipped", criteria=criteria)
            elif not passed:
                new = _as_failing(new, text, project) if told is None else _as_told(new, told, project)
            found.append(new)
    return tuple(found)


def _as_failing(test: NewTest, text: str, project: Project) -> NewTest:
    """A test as one of all that are new, where nobody says which of them failed."""
    why, line = reason(Case(test.id, "", "failing", text=text), project)
    if why == "missing-name":
        return replace(test, outcome="failing", reason=why, detail=line)
    if _UNREADABLE.search(text):
        return replace(test, outcome="failing", reason="error", detail=line)
    together = "the gates fail with the new tests; which of them fails cannot be told"
    return replace(test, outcome="failing", reason="assertion", detail=together)


def _as_told(test: NewTest, told: Mapping[str, Case], project: Project) -> NewTest:
    """A test by what was said of it, of its class or of its file; those that passed are not spoken of."""
    parts = test.id.split("::")
    places = ("::".join(parts[:end]) for end in range(len(parts), 0, -1))
    case = next((told[place] for place in places if place in told), None)
    if case is None:
        return test
    why, line = reason(case, project)
    return replace(test, outcome="uncollected" if case.uncollected else "failing", reason=why, detail=line)


def _cases(text: str, index: TreeIndex) -> Iterator[tuple[str, Case]]:
    """What Python's own runner says of each test, class or file that failed."""
    for part in _RULE.split(text):
        if not (found := _FAILED.search(part)):
            continue
        name, place = found[1], found[2]
        if "_FailedTest" in place:
            file, _ = index.module(name)
            yield file, Case(file, file, "failing", text=part, uncollected=True)
            continue
        file, classes = index.module(place.removesuffix(f".{name}"))
        inner = () if name in {"setUpClass", "setUpModule"} else (name,)
        identifier = "::".join((file, *classes, *inner))
        # The line of the exception is the first after the last traceback's frames.
        lines = part.rpartition("Traceback (most recent call last):")[2].splitlines()
        raised = next((line for line in lines if line[:1].strip()), "")
        yield identifier, Case(identifier, file, "failing", raised, part)
