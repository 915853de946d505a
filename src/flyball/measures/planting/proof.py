"""Shows that accepted tests can fail: one run with a failure planted in each, and more runs only where something is odd."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from flyball.core.model.measurement import Trick, TrickKind
from flyball.core.model.task import Gate
from flyball.core.text.quantities import first_few, plural
from flyball.measures.gates.junit import Case
from flyball.measures.gates.running import GateRun, choose_names, runs_pytest
from flyball.measures.planting import origins
from flyball.measures.planting.plan import (
    Sources,
    Target,
    hollow_mark,
    mark_of,
    planted_files,
    targets_by_report,
    targets_by_source,
)
from flyball.measures.planting.python_source import Style
from flyball.measures.sources import text_of
from flyball.measures.tampering.probes import NO_PROGRAM, finds_tests

MOST_RUNS = 6
"""Runs of a gate that stops at its first failure, each with what the ones before have not reached."""
HOLLOW = "what it asserts is not what its source says"
MEND = "mend what stands in its way, or ask for a change of the test in protected_changes"
LARGEST_LOG = 64 * 1024 * 1024
_UNITTEST = re.compile(r"-m unittest\b(?!.*\s(?:-f|--failfast)\b)")

End = Literal["proven", "failing", "green", "absent", "hollow"]
_TELLING: tuple[End, ...] = ("green", "proven", "hollow", "absent", "failing")
"""Of a test with several cases: one that stays green tells more than others that fail, one that fails more than others not run."""
_UNSHOWN: tuple[tuple[End, TrickKind, str], ...] = (
    ("green", "report-forged", "stays green"),
    ("absent", "canary-missed", "is not in the report"),
)


class PlantingGround(msgspec.Struct, frozen=True):
    """Where failures are planted: the tree's folder and files, those the task changed, and how a gate is run there."""

    tree: Path
    files: frozenset[str]
    changed: frozenset[str]
    run: Callable[..., GateRun]
    nonce: Callable[[], str]
    environments: tuple[str, ...]
    baseline: bool = False
    whole: bool = False
    """Whether all other tests are run beside those with planted failures, to see them pass once more."""


class Proof(msgspec.Struct, frozen=True):
    """What planted failures show. `others` are the tests without one that ended beside them as they did without any; those in
    `flaky` ended differently in two runs of one and the same tree.
    """

    tricks: tuple[Trick, ...] = ()
    notes: tuple[str, ...] = ()
    others: frozenset[str] = frozenset()
    flaky: tuple[str, ...] = ()


def prove(gates: Iterable[tuple[Gate, GateRun]], ground: PlantingGround) -> Proof:
    ran = tuple(gates)
    tricks: list[Trick] = []
    notes: list[str] = []
    others: set[str] = set()
    flaky: set[str] = set()
    for gate, run in ran:
        if run.result.counts is not None and run.cases:
            counted = _Counted(gate, run, ground)
            found = counted.prove()
            tricks += found[0]
            notes += found[1]
            others |= counted.others
            flaky |= counted.flaky
    if not any(run.result.counts for _, run in ran) and not ground.baseline:
        found = _prove_uncounted(ran, ground)
        tricks += found[0]
        notes += found[1]
    return Proof(tuple(tricks), tuple(notes), frozenset(others), tuple(sorted(flaky)))


class _Counted:
    def __init__(self, gate: Gate, run: GateRun, ground: PlantingGround) -> None:
        self._gate = gate
        self._plain = run
        self._ground = ground
        self.others: set[str] = set()
        self.flaky: set[str] = set()
        self._pytest = runs_pytest(gate.command) or "{junit}" not in gate.command
        self._sources = Sources(ground.tree, ground.files)
        self._targets, self._unplanted = targets_by_report(run.cases, ground.changed, self._sources)
        self._nonce = ground.nonce()
        self._proven = 0
        self._notes: list[str] = []
        self._said: list[str] = []

    def prove(self) -> origins.Found:
        name, targets = self._gate.name, self._targets
        if not targets:
            return (), (f"{name}: no failure could be planted in its tests, so its report is believed as it is",)
        packages = origins.own_packages(self._ground.files, self._ground.tree)
        telling = partial(origins.teller, packages=packages)
        planted = self._run(targets, telling)
        left = self._left_of(targets, planted)
        if self._ground.whole:
            self._compare_others(planted, lambda: self._run(targets, telling))
        found: origins.Found = (), ()
        if any(path.endswith(".py") for target in targets for path, _ in target.places):
            found = origins.judge("\n".join(self._said), name, packages, self._ground.environments)
        for _ in range(MOST_RUNS):
            if not left or (set(left.values()) == {"failing"} and all(t.file.endswith(".py") for t in left)):
                break
            # Where a script's test fails otherwise, what is planted around it may be in the way of a compiler.
            style: Style = "plainly" if all(end == "failing" for end in left.values()) else "around"
            before, left = len(left), self._left_of(tuple(left), self._run(tuple(left), style=style))
            if len(left) == before or "absent" not in left.values():
                break
        return (*found[0], *self._judge(left)), (*found[1], *self._remarks(left))

    def _compare_others(self, planted: GateRun, run_again: Callable[[], GateRun]) -> None:
        """The tests without a planted failure against the run without any; one may fail over what is planted elsewhere, and then does again."""
        chosen = {each for target in self._targets for each in target.ids}
        before = {i: case.outcome for i, case in self._plain.cases.items() if i not in chosen}
        ended = {i: planted.cases[i].outcome for i in before if i in planted.cases}
        self.others = {i for i in ended if ended[i] == before[i]}
        odd = ended.keys() - self.others
        again = run_again().cases if odd else {}
        self.flaky = {i for i in odd if i in again and again[i].outcome == before[i]}

    def _run(
        self, targets: tuple[Target, ...], telling: Callable[[str], str] | None = None, style: Style = "around"
    ) -> GateRun:
        files = planted_files(targets, self._sources, self._nonce, style, telling)
        return self._ground.run(self._gate, files, options=self._options(targets if telling else ()))

    def _options(self, chosen: tuple[Target, ...]) -> str:
        """Have pytest run the planted tests alone, to their end; without a choice, and for the whole, everything."""
        names = (target.name.rpartition("::")[2] for target in chosen if not self._ground.whole)
        return f"--maxfail=0 {choose_names(names)}".rstrip() if self._pytest else ""

    def _left_of(self, targets: tuple[Target, ...], run: GateRun) -> dict[Target, End]:
        """The targets that a run has not shown to fail by what was planted, each with how it ended instead."""
        self._said += [f"{case.message}\n{case.text}" for case in run.cases.values() if case.outcome == "failing"]
        ended = {target: _end(target, run, self._nonce) for target in targets}
        left: dict[Target, End] = {target: end for target, end in ended.items() if end != "proven"}
        self._proven += len(ended) - len(left)
        return left

    def _judge(self, left: Mapping[Target, End]) -> list[Trick]:
        """A test that cannot be made to fail on the untouched tree is nobody's trick; a runner that hides every failure there is broken."""
        suspected = {target: end for target, end in left.items() if end in {"green", "absent", "hollow"}}
        if self._ground.baseline:
            hollow = [target for target, end in left.items() if end == "hollow"]
            sentences = (
                f"{target.shown} cannot fail by itself, so it proves nothing: {self._why(target)}" for target in hollow
            )
            self._notes += [f"{self._gate.name}: {each}" for each in islice(sentences, 5)]
            suspected = {t: end for t, end in suspected.items() if end != "hollow"} if not self._proven else {}
        elif any(target.old for target in suspected):
            old = tuple(target for target in suspected if target.old)
            base = self._ground.run(self._gate, planted_files(old, self._sources, self._nonce, "around"), on_base=True)
            excused = {target for target in old if _end(target, base, self._nonce) != "proven"}
            self._notes += [_remark_on(self._gate, excused)] if excused else []
            suspected = {target: end for target, end in suspected.items() if target not in excused}
        return _tricks_of(self._gate, suspected, self._why)

    def _why(self, target: Target) -> str:
        marks = [hollow_mark(mark_of(self._nonce, place)) for place in target.places]
        said = (
            found[1]
            for text in self._said
            for mark in marks
            if (found := re.search(rf"{mark} ([a-z_][^\n]*?)(?:$|\n)", text))
        )
        return next(said, HOLLOW)

    def _remarks(self, left: Mapping[Target, End]) -> list[str]:
        odd = [target for target, end in left.items() if end == "failing"]
        if self._ground.baseline and self._proven:
            odd = [target for target, end in left.items() if end != "hollow"]
        notes = [*self._notes, *([_remark_on(self._gate, odd)] if odd else [])]
        if self._unplanted:
            notes.append(f"{self._gate.name}: no failure could be planted in {first_few(self._unplanted, 5)}")
        return notes


def _remark_on(gate: Gate, targets: Collection[Target]) -> str:
    shown = first_few(sorted(target.shown for target in targets), 5)
    return f"{gate.name}: {plural(len(targets), 'test')} could not be shown to fail by a planted failure: {shown}"


def _tricks_of(gate: Gate, suspected: Mapping[Target, End], why: Callable[[Target], str]) -> list[Trick]:
    """Tests that do not fail by what was planted, and those that fail by nothing else."""
    found = [
        Trick("report-forged", gate.name, f"{target.shown} cannot fail by itself: {why(target)}; {MEND}")
        for target in [target for target, end in suspected.items() if end == "hollow"][:5]
    ]
    for end, kind, how in _UNSHOWN:
        tests = sorted(target.shown for target, ended in suspected.items() if ended == end)
        if tests:
            what = f"a failure planted in {first_few(tests, 5)} {how}"
            found.append(Trick(kind, gate.name, f"{what}: what is reported is not what these tests do"))
    return found


def _end(target: Target, run: GateRun, nonce: str) -> End:
    """How a target ended in a run; a parametrised one as its most telling case did."""
    marks = {mark_of(nonce, place) for place in target.places}
    if run.result.broken or (not run.cases and run.result.exit_code != 0):
        return "failing"
    unloaded = any(case.uncollected and case.file == target.file for case in run.cases.values())
    if not target.file.endswith(".py"):
        if any(_carries(case, marks) for case in run.cases.values()):
            return "proven"
        if any(_carries(case, {hollow_mark(mark) for mark in marks}) for case in run.cases.values()):
            return "hollow"
    ends = {_case_end(run.cases.get(each), marks, unloaded=unloaded) for each in target.ids}
    return next((end for end in _TELLING if end in ends), "absent")


def _case_end(case: Case | None, marks: set[str], *, unloaded: bool) -> End:
    if case is None:
        return "failing" if unloaded else "absent"
    if case.outcome != "failing":
        return "green"
    if _carries(case, marks):
        return "proven"
    return "hollow" if _carries(case, {hollow_mark(mark) for mark in marks}) else "failing"


def _carries(case: Case, marks: set[str]) -> bool:
    return case.outcome == "failing" and any(mark in case.message or mark in case.text for mark in marks)


def _prove_uncounted(ran: tuple[tuple[Gate, GateRun], ...], ground: PlantingGround) -> origins.Found:
    """Where nothing is counted a gate must turn red; which tests fail is known where Python's own runner says so."""
    sources = Sources(ground.tree, ground.files)
    targets = targets_by_source(ground.changed, sources)
    if all(target.old for target in targets):
        return (), ()
    nonce = ground.nonce()
    packages = origins.own_packages(ground.files, ground.tree)
    files = planted_files(targets, sources, nonce, "around", partial(origins.teller, packages=packages))
    runs = [(gate, ground.run(gate, files)) for gate, _ in ran]
    if all(run.result.passed for _, run in runs):
        new = sorted({target.file for target in targets if not target.old})
        # A gate has to do with tests if it starts a runner that finds them, or fails where they are no programs.
        if not any(
            finds_tests(gate.command) or not ground.run(gate, dict.fromkeys(new, NO_PROGRAM)).result.passed
            for gate, _ in ran
        ):
            return (), (f"no gate runs the tests in {first_few(new, 5)}",)
        told = f"failures planted in {first_few(new, 5)} do not turn any gate red"
        return (Trick("canary-missed", ran[0][0].name, f"{told}: what passes is not what these tests do"),), ()
    own = [(gate, run) for gate, run in runs if _UNITTEST.search(gate.command) and not run.result.broken]
    if len(own) < len(runs):
        return (), ()
    taken = [
        trick
        for gate, run in own
        for trick in origins.judge(text_of(_log(run)), gate.name, packages, ground.environments)[0]
        if trick.kind == "report-forged"
    ]
    by_log = (trick for gate, run in own for trick in _tricks_by_log(gate, run, targets, nonce))
    return (*taken, *by_log), ()


def _log(run: GateRun) -> bytes:
    log = Path(run.result.log)
    return log.read_bytes() if log.is_file() and log.stat().st_size < LARGEST_LOG else b""


def _tricks_by_log(gate: Gate, run: GateRun, targets: tuple[Target, ...], nonce: str) -> list[Trick]:
    """The tests of unittest that a log does not have with their marks; a log without any mark says nothing of failures."""
    said = _log(run)
    if not any(mark_of(nonce, place).encode() in said for target in targets for place in target.places):
        return []
    quiet: dict[Target, End] = {
        target: "hollow" if any(hollow_mark(mark_of(nonce, p)).encode() in said for p in target.places) else "green"
        for target in targets
        if target.file.endswith(".py") and "::" in target.name and not target.old
        if not any(mark_of(nonce, place).encode() in said for place in target.places)
    }
    return _tricks_of(gate, quiet, lambda _: HOLLOW)
