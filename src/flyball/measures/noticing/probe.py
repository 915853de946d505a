"""Whether a test notices the change: the task's own tests run on the old product and on a broken one, then all of them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice

import msgspec
from msgspec.structs import replace

from flyball.core.model.measurement import NewTest, Noticed, Remark
from flyball.core.model.task import Commit, Gate
from flyball.core.text.quantities import first_few
from flyball.measures.examination import Examination, Trial
from flyball.measures.found import Found, changed_tests
from flyball.measures.gates.running import GateRun, choose_tests, reads_text, runs_pytest
from flyball.measures.noticing.breaking import GARBLED, Broken, break_changes, mark_of
from flyball.measures.noticing.examples import unstated_examples
from flyball.measures.noticing.syntax import NodeCheck, check_syntax
from flyball.measures.planting.plan import Sources, muted_files
from flyball.measures.sources import (
    SourceTest,
    declared_tests,
    ending_with,
    is_code,
    is_criterion,
    is_test_file,
    looks_like_test,
    named_criteria,
    names_item,
    text_of,
)
from flyball.measures.tampering.protected import Protection, changed_paths
from flyball.measures.tampering.sections import inline_tests, with_inline_tests

MOST_REMARKS = 8
MOST_FILES = 200
MOST_TESTS = 40
DETAIL_RUNS = 2
LEAST_PATIENCE_S = 60.0
_KINDS = frozenset({"green", "refactor", "document", "gates"})
_MORE_CODE = re.compile(
    r".*\.(?:sh|bash|zsh|ksh|lua|pl|pm|r|jl|dart|clj|cljs|ex|hs|ml|fs|vue|svelte|mm|m|zig|nim|groovy|cr|tcl|awk)"
)
_NO_PRODUCT = re.compile(
    r"(?:.*/)?(?:setup|noxfile|conftest|versioneer|docs/conf)\.py|.*\.pyi|.*\.d\.[cm]?ts|(?:.*/)?\.[^/]*/.*"
    r"|(?:.*/)?(?:[^/]*\.(?:config|setup)|\.[^/]*rc|gulpfile|Gruntfile)\.[cm]?[jt]s|docs?/.*"
)
"""Code that configures, declares types or explains: it is no product."""
_WITHIN = re.compile(
    r"^\s*(?://[/!]\s*```|>>>\s|#\[(?:\w+::)*test\b|unittest\s*\{|test\s*\"[^\"]*\"\s*(?:\{|do\b))", re.MULTILINE
)
"""How a test begins that stands in a product's source, in the languages that have such."""


def measure_noticed(examination: Examination, protection: Protection, found: Found, tree: str) -> Found:
    """What a green candidate is found to lack: sources that parse and, before product code is accepted, a test that notices it."""
    request = examination.request
    doubted = bool(protection.tricks) or any(not trick.harmless for trick in found.tricks)
    if request.kind not in _KINDS or not found.trial.green or doubted or found.flaky:
        return found
    examination.use(tree)
    probe = _Probe(examination, found.trial, request.since or request.base, Commit(tree), protection.scripts)
    unparsed, notes = probe.unparsed_sources()
    found = replace(found, unparsed=unparsed, notes=(*found.notes, *notes))
    if unparsed or request.kind != "green" or not found.green_runs:
        return found
    key = (probe.since, tree)
    known = examination.made.noticed
    if key not in known:
        known[key] = probe.notice()
    noticed, remarks = known[key]
    return replace(found, noticed=noticed, remarks=(*found.remarks, *remarks))


class _Ran(msgspec.Struct, frozen=True):
    """What some runs showed: the tests that do not pass any more, and what the failing ones say."""

    failed: frozenset[str]
    output: str
    red: bool
    """Whether a gate as a whole ended otherwise."""


class _Probe:
    def __init__(
        self, examination: Examination, trial: Trial, since: Commit, tree: Commit, scripts: frozenset[str]
    ) -> None:
        self.since = since
        self._examination = examination
        self._workspace = examination.workspace
        self._tree = tree
        changed = changed_paths(self._workspace, since, tree)
        self._changed = changed
        self._tests = frozenset({*changed_tests(examination, since, tree), *(p for p in changed if p in scripts)})
        self._product = tuple(
            path for path in changed if path not in self._tests and _is_product(path, self._both(path))
        )
        every = tuple(zip(examination.settings.gates, trial.round.runs, strict=False))
        counted = tuple((gate, run) for gate, run in every if run.result.counts is not None and run.cases)
        self._counted = bool(counted)
        self._gates = counted or tuple((g, run) for g, run in every if not reads_text(g.command))

    def _both(self, path: str) -> tuple[bytes | None, bytes | None]:
        read = self._workspace.read_file
        return read(self.since, path), read(self._tree, path)

    def unparsed_sources(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        examination, read = self._examination, self._workspace.read_file
        examination.lay()
        fresh = [path for path in self._changed if self._both(path)[1] is not None]
        node = NodeCheck(examination.commands, examination.tree.directory)
        syntax = check_syntax(
            [path for path in fresh if path in self._product or path.endswith(".json")],
            lambda path: read(self._tree, path), self._sources_before, node,
        )  # fmt: skip
        faults = {path: fault for path, fault in syntax.faults.items() if not self._was_faulty(path)}
        if faults and self._gates and self._run(dict.fromkeys(faults, b"{[(\n"), stop=True).red:
            # What a gate cannot do without was read by it: another reader knows this syntax.
            faults = {}
        code = [path for path in syntax.unchecked if path in self._product]
        notes = (f"it was not checked whether these parse: {first_few(code, 5)}",) if code else ()
        return tuple(faults.values()), notes

    def _was_faulty(self, path: str) -> bool:
        before = self._workspace.read_file(self.since, path)
        return before is not None and bool(check_syntax([path], lambda _: before, lambda _: [], lambda _: {}).faults)

    def _sources_before(self, suffix: str) -> list[bytes]:
        files = [
            f for f in self._workspace.list_files(self.since) if f.endswith(f".{suffix}") and _is_product(f, (b"",))
        ]
        return [self._workspace.read_file(self.since, path) or b"" for path in files[:MOST_FILES]]

    def notice(self) -> tuple[Noticed, tuple[Remark, ...]]:
        broken = self._broken_files()
        if not broken:
            touched = self._product and not any(self._both(path)[0] is None for path in self._product)
            removed = touched and not any(self._both(path)[1] and self._added_lines(path)() for path in self._product)
            changed = "only comments were changed in product code" if touched else "no product code was changed"
            message = "product code was only removed" if removed else changed
            unstated = () if removed else self._unstated_examples(self._documents)
            seen = () if self._product else self._seen_in_data()
            if seen:
                return Noticed("new-test", f"{min(seen)} fails without the change", unstated=unstated), ()
            return Noticed(
                "no-product", f"{message}: it was not measured whether a test notices this change", unstated=unstated
            ), ()
        noticed, remarks = self._notice(broken)
        unstated = self._unstated_examples()
        unnamed, tests = self._unnamed_criteria(), tuple(islice(self._new_tests(), MOST_TESTS))
        found = replace(noticed, files=tuple(sorted(broken)), unnamed=unnamed, unstated=unstated, tests=tests)
        return found, remarks

    def _notice(self, broken: dict[str, Broken]) -> tuple[Noticed, tuple[Remark, ...]]:
        seen_in_red = self._seen_in_red()
        if seen_in_red:
            return Noticed("new-test", f"{seen_in_red} fails without the change"), ()
        if not self._gates:
            return Noticed("unprobed", "not verified: no gate runs tests that could notice this change"), ()
        if not self._counted:
            return self._by_exit_code(broken), ()
        own = self._own_tests()
        for sources in _levels(broken):
            files = {path: each.source for path, each in sources.items()}
            ran = self._run(files, own) if own else None
            if ran is None or not ran.failed:
                ran = self._run(files, stop=True)
                both = sorted(ran.failed & self._without_change(ran.failed).failed) if ran.failed else []
                if both:
                    # What this test expects was changed: a golden file, a row of data.
                    return Noticed("new-test", f"{both[0]} fails without the change"), self._green(own, ran)
                if ran.failed or ran.red:
                    first = min(ran.failed, default=f"the gate {self._gates[0][0].name}")
                    return Noticed("existing-test", f"{first} fails when the changed code is broken"), self._green(
                        own, ran
                    )
                continue
            without = self._without_change(own).failed
            both = sorted(ran.failed & without)
            remarks = (*self._green(own, ran), *self._unnoticed_functions(sources, own, ran))
            if both:
                return Noticed("new-test", f"{both[0]} fails without the change"), remarks
            return Noticed("existing-test", f"{min(ran.failed)} fails when the changed code is broken"), remarks
        return Noticed("nothing"), self._green(own, _Ran(frozenset(), "", red=False))

    def _by_exit_code(self, broken: dict[str, Broken]) -> Noticed:
        for sources in _levels(broken):
            if not self._run({path: each.source for path, each in sources.items()}).red:
                continue
            name = self._gates[0][0].name
            if self._without_change(frozenset()).red:
                return Noticed("new-test", f"the gate {name} fails without the change")
            within = [path for path in sources if self._has_more_tests_within(path)]
            if within:
                place = f"not verified: the tests of {first_few(within, 3)} stand in the changed source itself"
                return Noticed("unprobed", f"{place}, so it was not measured whether they fail without the change")
            return Noticed("existing-test", f"the gate {name} fails when the changed code is broken")
        # The tree the work began with holds no test of its author.
        self._examination.use(self._workspace.tree_of(self.since))
        ran = self._run({})
        self._examination.use(self._tree)
        if ran.red:
            return Noticed("new-test", f"the gate {self._gates[0][0].name} fails without the change")
        return Noticed("nothing")

    def _has_more_tests_within(self, path: str) -> bool:
        old, new = (len(_WITHIN.findall(text_of(each))) for each in self._both(path))
        return new > old

    def _broken_files(self) -> dict[str, Broken]:
        found = {}
        for path in self._product[:MOST_FILES]:
            old, new = self._both(path)
            each = break_changes(path, old, new, self._added_lines(path)) if new is not None and old != new else None
            if each is None and old is None and not path.endswith("__init__.py"):
                # A new file without code is no work that is done, as long as nothing needs the file.
                each = Broken(GARBLED, coarse=True)
            if each is not None:
                found[path] = each
        return found

    def _added_lines(self, path: str) -> Callable[[], tuple[tuple[int, int], ...]]:
        return lambda: self._workspace.added_lines(self.since, self._tree, path)

    def _seen_in_red(self) -> str:
        """A test that was accepted as failing and passes now: RED has shown what it notices."""
        expected = self._examination.expectations
        passing = {i for _, run in self._gates for i, case in run.cases.items() if case.outcome == "passing"}
        failed = {i for i, outcome in expected.accepted.items() if outcome == "failing"} - expected.known
        shown = (i for i in sorted(passing) if i in failed or i.partition("::")[0] in failed)
        return next(shown, "")

    def _own_tests(self) -> frozenset[str]:
        """The passing tests in files the task changed, those that failed before it began, and new rows of cases."""
        files, expected = {*self._tests, *self._product}, self._examination.expectations
        with_rows = {i.partition("[")[0] for i in expected.baseline if "[" in i}
        # Runners of other languages need not say in which file a test is.
        named = [
            _reported_as(test.id) for path in files if not path.endswith(".py") for test in self._declared_tests(path)
        ]
        return frozenset(
            i
            for _, run in self._gates
            for i, case in run.cases.items()
            if case.outcome == "passing"
            and (
                case.file in files
                or i in expected.known
                or (i not in expected.baseline and i.partition("[")[0] in with_rows)
                or any(pattern.search(i) for pattern in named)
            )
        )

    def _declared_tests(self, path: str, version: int = 1) -> tuple[SourceTest, ...]:
        return declared_tests(path, self._both(path)[version] or b"")

    def _seen_in_data(self) -> frozenset[str]:
        """The task's tests that fail without what it changed beside code: a table of rates, a template."""
        data = tuple(path for path in self._changed if path not in self._tests)
        own = self._own_tests() if data else frozenset()
        return self._without_change(own, data).failed if own else frozenset()

    def _without_change(self, own: frozenset[str], changed: tuple[str, ...] = ()) -> _Ran:
        """The task's tests on the product, or on what is given, as it was; tests within a product's source stay."""
        examination = self._examination
        muted = self._muted_files(own)
        paths = changed or self._product
        within = {path: inline_tests(path, text_of(self._both(path)[1])) for path in paths}
        kept = {
            path: with_inline_tests(path, text_of(self._both(path)[0]), tests).encode()
            for path, tests in within.items()
            if tests and self._both(path)[0] is not None
        }
        tree = self._workspace.overlay(self._tree, dict.fromkeys(paths, self.since), kept)
        examination.use(tree)
        ran = self._run({}, own, muted=muted)
        examination.use(self._tree)
        return ran

    def _run(
        self,
        files: Mapping[str, bytes],
        own: frozenset[str] = frozenset(),
        *,
        stop: bool = False,
        muted: Mapping[str, Mapping[str, bytes]] | None = None,
    ) -> _Ran:
        """The gates with some files as given: of the counted ones only the `own` tests, or all up to the first failure."""
        quiet = self._muted_files(own) if muted is None else muted
        failed: set[str] = set()
        output: list[str] = []
        red = False
        for gate, before in self._gates:
            chosen = {i for i, case in before.cases.items() if case.outcome == "passing" and (not own or i in own)}
            if own and not chosen:
                continue
            given = {**quiet.get(gate.name, {}), **files}
            # A test of speed may take for ever without the change: that is a failure, too.
            patient = replace(gate, timeout_s=min(gate.timeout_s, LEAST_PATIENCE_S + 10 * before.result.seconds))
            run = self._examination.run_planted(
                patient, given, options=_options(gate, before, chosen if own else (), stop=stop)
            )
            failing = [case for case in run.cases.values() if case.outcome == "failing"]
            output += [f"{case.message}\n{case.text}" for case in failing]
            failed |= _lost_tests(run, chosen) if own else {case.id for case in failing if case.id in chosen}
            red = red or not run.result.passed
            if stop and red:
                break
        return _Ran(frozenset(failed), "\n".join(output), red=red)

    def _muted_files(self, own: frozenset[str]) -> dict[str, dict[str, bytes]]:
        """For runners that take no choice of tests: the files of all other tests, in which these do nothing."""
        found: dict[str, dict[str, bytes]] = {}
        for gate, run in self._gates:
            if own and not runs_pytest(gate.command):
                self._examination.lay()
                sources = Sources(self._examination.tree.directory, self._examination.index.files)
                others = [case for case in run.cases.values() if case.id not in own]
                found[gate.name] = muted_files(others, sources)
        return found

    def _green(self, own: Collection[str], ran: _Ran) -> tuple[Remark, ...]:
        """The tests the task added that stay green whatever its code does."""
        remarks = []
        for path in sorted(self._tests):
            old = {test.id for test in self._declared_tests(path, 0)}
            text = text_of(self._both(path)[1])
            for test in self._declared_tests(path):
                pattern, name = _reported_as(test.id), test.id.rpartition("::")[2]
                reported = [i for i in own if pattern.search(i)]
                if test.id not in old and reported and not ran.failed & set(reported):
                    line = text.count("\n", 0, max(0, text.find(name))) + 1
                    remarks.append(Remark(path, line, f"{name} passes whatever the changed code does"))
        return tuple(remarks[:MOST_REMARKS])

    def _unnoticed_functions(self, sources: Mapping[str, Broken], own: frozenset[str], ran: _Ran) -> tuple[Remark, ...]:
        """New functions whose failure no test of the task notices: what raised hid others, so those are tried again."""
        output = ran.output
        left = {
            path: tuple(part for part in each.parts if part.new and mark_of(part) not in output)
            for path, each in sources.items()
        }
        for _ in range(DETAIL_RUNS):
            if not any(left.values()):
                return ()
            files = {}
            for path, parts in left.items():
                old, new = self._both(path)
                names = frozenset(part.name for part in parts)
                each = break_changes(path, old, new or b"", self._added_lines(path), names) if parts else None
                if each is not None:
                    files[path] = each.source
            output = self._run(files, own).output
            fewer = {path: tuple(p for p in parts if mark_of(p) not in output) for path, parts in left.items()}
            if fewer == left:
                break
            left = fewer
        text = "no test of this change fails when {} raises"
        remarks = [Remark(path, p.line, text.format(p.name)) for path, parts in left.items() for p in parts]
        return tuple(remarks[:MOST_REMARKS])

    @property
    def _documents(self) -> tuple[str, ...]:
        """What the task changed and what is no new product: where nothing can be tested, an example may stand there."""
        changed = (path for path in self._changed if not path.startswith("."))
        return tuple(path for path in changed if path not in self._product or self._both(path)[0] is not None)

    def _unstated_examples(self, more: Iterable[str] = ()) -> tuple[str, ...]:
        if not self._counted:
            # A script of the user's may state them, wherever it lies.
            return ()
        others = ((path, self._both(path)[1] or b"") for path in more)
        return unstated_examples(self._examination.request.items, lambda: (*self._test_sources(), *others))

    def _test_sources(self) -> Iterator[tuple[str, bytes]]:
        """The test files, those of the task first."""
        files = self._workspace.list_files(self._tree)
        others = [path for path in files if looks_like_test(path) and path not in self._tests]
        for path in [*sorted(self._tests), *others[:MOST_FILES]]:
            yield path, self._both(path)[1] or b""

    def _new_tests(self) -> Iterator[NewTest]:
        """The tests that the work added, with the criteria each names."""
        items = self._examination.request.items
        for path in sorted(self._tests):
            old = {test.id for test in self._declared_tests(path, 0)}
            for test in self._declared_tests(path):
                if test.id not in old:
                    yield NewTest(test.id, path, "passing", criteria=named_criteria(test.words, items))

    def _unnamed_criteria(self) -> tuple[str, ...]:
        """The criteria, if there are several, that no test names which ran."""
        items = [item for item in self._examination.request.items if is_criterion(item)]
        if len(items) < 2:
            return ()
        words = [i for _, run in self._gates for i, case in run.cases.items() if case.outcome == "passing"]
        for path in sorted(self._tests):
            source = self._both(path)[1] or b""
            declared = declared_tests(path, source)
            words += [test.words for test in declared] or [path, source.decode("utf-8", "replace")]
        return tuple(item.id for item in items if not any(names_item(each, item) for each in words))


def _reported_as(declared: str) -> re.Pattern[str]:
    """How a report names a test: by its whole id in Python, with parameters behind it; elsewhere by an id that ends with its name."""
    if declared.partition("::")[0].endswith(".py"):
        return re.compile(rf"{re.escape(declared)}(?:\[|$)")
    return ending_with(declared.partition("::")[2])


def _levels(broken: dict[str, Broken]) -> Iterator[dict[str, Broken]]:
    """What is broken together: functions first; files as a whole where nothing finer is changed, or could be broken."""
    fine = {path: each for path, each in broken.items() if not each.coarse}
    rest = {path: each for path, each in broken.items() if each.coarse}
    if fine:
        yield fine
        rest = {path: each for path, each in rest.items() if not path.endswith(".py")}
    if rest:
        yield rest


def _lost_tests(run: GateRun, chosen: Iterable[str]) -> set[str]:
    """The tests that pass no more; of a gate that cannot run at all, every one."""
    return {i for i in chosen if run.result.broken or i not in run.cases or run.cases[i].outcome != "passing"}


def _options(gate: Gate, before: GateRun, chosen: Collection[str], *, stop: bool) -> str:
    if not runs_pytest(gate.command):
        return ""
    fails_already = any(case.outcome == "failing" for case in before.cases.values())
    most = 1 if stop and not fails_already else 0
    return f"--maxfail={most} {choose_tests(gate.command, chosen)}".rstrip()


def _is_product(path: str, versions: Iterable[bytes | None]) -> bool:
    """Whether a file holds code that the project is made of: no test, no configuration, no document."""
    held = [each for each in versions if each is not None]
    program = "." not in path.rpartition("/")[2] and any(each.startswith(b"#!") for each in held)
    if not (is_code(path) or _MORE_CODE.fullmatch(path) or program) or _NO_PRODUCT.fullmatch(path):
        return False
    return not is_test_file(path, *held)
