"""Runs every gate once on the tree that lies in the gate directory, and says what each run is worth."""

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flyball.core.loop.junit_hint import junit_hint
from flyball.core.model.measurement import Counts, GateResult, Trick
from flyball.core.model.task import Gate
from flyball.core.text.quantities import plural
from flyball.measures.gates import coverage
from flyball.measures.gates.commands import CommandRun, Commands
from flyball.measures.gates.coverage import Covered
from flyball.measures.gates.junit import Case, Outcome, ReportUnreadable, TreeIndex, read_report
from flyball.measures.gates.telling import last_line, telling_line

COMMAND_MISSING = "the command was not found"
TIMED_OUT = "timed out"
RUNNER_FAILED = "the runner itself failed"
NO_REPORT = "it ended without a report of its tests"

_PYTEST = re.compile(r"(?:^|[\s;&|(/])(?:py\.test|pytest)(?=$|[\s;&|)])")
_OWN_REPORT = re.compile(r"--junit-?xml(?:=|\s+)(?:'[^']*'|\"[^\"]*\"|[^\s;&|]+)")
_NOT_FOUND = re.compile(
    r"not found|No such file or directory|[Pp]ermission denied|No module named '?(?:pytest|unittest)\b"
)
_UNITTEST = re.compile(r"-m unittest\b")
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_SUMMARY = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s.*$", re.MULTILINE)
_FAILED_IN_SUMMARY = re.compile(r"\b([1-9]\d*) (?:failed|errors?)\b")
_TWO_CODES = re.compile(r"\b(?:phpunit|paratest|pest|make)\b")
"""phpunit ends with 2 where a test had an error, with 1 where all only failed; make with 2 whatever its recipe ended with."""
_READS_TEXT = re.compile(
    r"\b(?:ruff|flake8|pylint|mypy|pyright|black|isort|eslint|biome|oxlint|prettier|tsc|clippy|shellcheck|golangci-lint|go vet|fmt|lint)\b"
)
_NOT_RUN = 126
LONGEST_CHOICE = 20_000


class GateRun(msgspec.Struct, frozen=True):
    """One gate's run: its result, the tests its report holds, and what was wrong with it."""

    result: GateResult
    cases: dict[str, Case]
    text: str
    tricks: tuple[Trick, ...] = ()
    notes: tuple[str, ...] = ()
    covered: Covered | None = None


class Round(msgspec.Struct, frozen=True):
    """All gates, once."""

    runs: tuple[GateRun, ...]

    @property
    def cases(self) -> dict[str, Case]:
        """Every reported test; one that failed in any gate is failing."""
        found: dict[str, Case] = {}
        for run in self.runs:
            for identifier, case in run.cases.items():
                if identifier not in found or case.outcome == "failing":
                    found[identifier] = case
        return found

    @property
    def passed(self) -> bool:
        return bool(self.runs) and all(run.result.passed for run in self.runs)

    @property
    def text(self) -> str:
        """What the gates that did not pass had to say."""
        return "\n".join(run.text for run in self.runs if not run.result.passed)


def runs_pytest(command: str) -> bool:
    return bool(_PYTEST.search(command))


def expects_report(command: str) -> bool:
    """Whether a run of this command without a report says nothing."""
    return "{junit}" in command or runs_pytest(command)


def reads_text(command: str) -> bool:
    """Whether a command judges sources by their text, whatever they do."""
    return bool(_READS_TEXT.search(command))


def choose_tests(command: str, ids: Iterable[str]) -> str:
    """What has pytest run only the tests with these ids; nothing for other runners and where that cannot be said in short."""
    return choose_names(i.partition("[")[0].rpartition("::")[2] for i in ids) if runs_pytest(command) else ""


def choose_names(found: Iterable[str]) -> str:
    names = sorted(set(found))
    choice = " or ".join(names)
    short = 0 < len(choice) < LONGEST_CHOICE and all(re.fullmatch(r"[A-Za-z_][\w.]*", name) for name in names)
    return f"-k '{choice}'" if short else ""


def run_gate(
    gate: Gate,
    index: TreeIndex,
    commands: Commands,
    directory: Path,
    *,
    known: frozenset[str],
    before: int | None,
    baseline: bool,
    options: str,
) -> GateRun:
    """Run one gate on the tree in a directory; `options` are added to every pytest the command starts.

    `known` are the tests that failed before the task began, `before` is how the gate ended with them. Only at the `baseline`
    is a gate without a report broken: later it is a candidate that took it away.
    """
    index = index.near(gate.command)
    folder = commands.fresh_folder(gate.name)
    reports = folder / "report"
    reports.mkdir()
    report, lines = reports / "junit.xml", reports / "coverage.xml"
    place = shlex.quote(str(report))
    command = _OWN_REPORT.sub(lambda _: f"--junitxml={place}", gate.command).replace("{junit}", place)
    command = command.replace(coverage.PLACEHOLDER, shlex.quote(str(lines)))
    wanted = f"--junitxml={place} -o junit_family=xunit1 --continue-on-collection-errors"
    ran = commands.run(
        command, tree=directory, folder=folder, timeout_s=gate.timeout_s,
        variables={"PYTEST_ADDOPTS": f"{wanted} {options}".strip()}, writable=[reports],
    )  # fmt: skip
    run = _with_coverage(_judge(gate, ran, report, index, known, before), gate, lines, index)
    return _without_report(run) if baseline else run


def _with_coverage(run: GateRun, gate: Gate, report: Path, index: TreeIndex) -> GateRun:
    """The run with what it says of coverage, where its command is to write that; what cannot be read is remarked."""
    if coverage.PLACEHOLDER not in gate.command or run.result.broken:
        return run
    try:
        return replace(run, covered=coverage.read_coverage(report, index))
    except FileNotFoundError:
        said = "the run wrote no coverage report"
    except (coverage.CoverageUnreadable, OSError) as error:
        said = f"the coverage report cannot be used: {error}"
    return replace(run, notes=(*run.notes, f"{gate.name}: {said}, so coverage is not measured"))


class ReportRead(msgspec.Struct, frozen=True):
    """A report as far as it could be read; `trouble` says why it is worth nothing."""

    cases: dict[str, Case]
    trouble: str = ""

    @property
    def failing(self) -> frozenset[str]:
        return frozenset(i for i, case in self.cases.items() if case.outcome == "failing")


def _read(report: Path, index: TreeIndex, *, expected: bool) -> ReportRead | None:
    """The report of a run; None where there is none and none was to be expected."""
    if not report.exists() and not report.is_symlink():
        return ReportRead({}, "the run wrote no report") if expected else None
    try:
        return ReportRead(read_report(report, index))
    except ReportUnreadable as error:
        return ReportRead({}, str(error))


def _judge(
    gate: Gate, ran: CommandRun, report: Path, index: TreeIndex, known: frozenset[str], before: int | None
) -> GateRun:
    read = _read(report, index, expected=expects_report(gate.command))
    broken = _why_broken(gate, ran, read)
    tricks = () if broken else _tricks(gate, ran, read, before)
    reported = read is not None and not read.trouble
    result = GateResult(
        gate.name,
        gate.command,
        passed=not broken and not tricks and _has_passed(gate, ran.exit.code, read, known, before),
        exit_code=ran.exit.code,
        seconds=round(ran.exit.seconds, 3),
        broken=broken,
        counts=count(read.cases, known) if read and reported else None,
        output=ran.shown,
        log=str(ran.log),
    )
    return GateRun(result, read.cases if read else {}, ran.text, tricks, _notes(gate, reported=reported))


def _has_passed(
    gate: Gate, code: int | None, read: ReportRead | None, known: frozenset[str], before: int | None
) -> bool:
    """Exit 0 and nothing fails, or only known failures fail and the exit code is the runner's for failed tests."""
    if read is None:
        return code == 0
    if read.trouble or not read.cases or not read.failing <= known:
        return False
    return code in _exits_of_failed_tests(gate, len(read.failing), before) if read.failing else code == 0


def _exits_of_failed_tests(gate: Gate, failing: int, before: int | None) -> frozenset[int]:
    """What a runner may end with when these tests fail: what it ended with `before`, on the untouched tree, and its customs.

    A signal, a command that is not there and pytest's codes for other trouble are never among them.
    """
    if before == 0:
        return frozenset({0})
    if runs_pytest(gate.command):
        return frozenset({1} if before else {0, 1})
    usual = {1, 2} if _TWO_CODES.search(gate.command) else {1}
    # mocha and many scripts end with the number of failed tests.
    codes = usual | {failing} | ({before} if before is not None and before < _NOT_RUN else set())
    return frozenset(codes if before else codes | {0})


def count(cases: Mapping[str, Case | Outcome], known: Iterable[str]) -> Counts:
    ended = {i: c if isinstance(c, str) else c.outcome for i, c in cases.items()}
    failing = {i for i, outcome in ended.items() if outcome == "failing"}
    return Counts(
        total=len(ended),
        passing=sum(outcome == "passing" for outcome in ended.values()),
        failing=len(failing - set(known)),
        skipped=sum(outcome in {"skipped", "xfailed"} for outcome in ended.values()),
        known_failing=len(failing & set(known)),
    )


def _why_broken(gate: Gate, ran: CommandRun, read: ReportRead | None) -> str:
    """Why the gate could not run at all, or an empty string."""
    ended = ran.exit
    if ended.ended_by in {"wall", "idle"}:
        return f"{TIMED_OUT} after {gate.timeout_s:g} s"
    if ended.ended_by == "missing":
        return f"{COMMAND_MISSING}: {ended.detail}"
    missing = _NOT_FOUND.search(ran.text[-2000:])
    if ended.code in {126, 127} or (
        read and read.trouble and ended.code == 1 and missing and "No module" in missing[0]
    ):
        return f"{COMMAND_MISSING}: {last_line(ran.text)}"
    if runs_pytest(gate.command) and ended.code in {3, 4}:
        return f"{RUNNER_FAILED}: {telling_line(ran.text)}"
    return ""


def _without_report(run: GateRun) -> GateRun:
    """The same run, broken if there is no report where one was to be written."""
    if run.result.broken or run.result.counts is not None or not expects_report(run.result.command) or run.tricks:
        return run
    return broken_run(run, f"{NO_REPORT} (exit {run.result.exit_code}): {telling_line(run.text)}")


def broken_run(run: GateRun, broken: str) -> GateRun:
    return replace(run, result=replace(run.result, passed=False, broken=broken))


def _tricks(gate: Gate, ran: CommandRun, read: ReportRead | None, before: int | None) -> tuple[Trick, ...]:
    if read is None:
        silent = ran.exit.code == 0 and _UNITTEST.search(gate.command)
        return _unittest_tricks(gate, ran) if silent else ()
    summary = _SUMMARY.findall(ran.text) if runs_pytest(gate.command) else []
    if read.trouble and ran.exit.code != 0:
        return ()
    if read.trouble and runs_pytest(gate.command) and not summary:
        return (Trick("exit-forced", gate.name, f"the process ended with 0 before its tests did: {read.trouble}"),)
    if read.trouble:
        return (Trick("report-missing", gate.name, f"exit 0, but {read.trouble}"),)
    if ran.exit.code == 0 and read.failing and before:
        found = f"its report says that {plural(len(read.failing), 'test fails', 'tests fail')}, but the process ended with 0"
        return (Trick("exit-forced", gate.name, f"{found}; on the untouched tree it ended with {before}"),)
    told = _FAILED_IN_SUMMARY.search(summary[-1]) if summary else None
    if told and not read.failing:
        return (Trick("report-forged", gate.name, f"the runner said {told[0]}, its report says that nothing failed"),)
    return ()


def _unittest_tricks(gate: Gate, ran: CommandRun) -> tuple[Trick, ...]:
    """Python's own runner writes no report, but says at its end how many tests it ran."""
    told = _RAN.findall(ran.text)
    if not told and not re.search(r"[>|]", gate.command):
        return (Trick("exit-forced", gate.name, "the process ended with 0 before it said how many tests ran"),)
    if told and told[-1] == "0":
        return (Trick("report-missing", gate.name, "exit 0, but no test was run"),)
    return ()


def _notes(gate: Gate, *, reported: bool) -> tuple[str, ...]:
    if reported or expects_report(gate.command):
        several = f"{gate.name} runs pytest more than once; only the tests of the last run are counted"
        return (several,) if len(_PYTEST.findall(gate.command)) > 1 else ()
    alone = f"{gate.name} is judged by its exit code alone: its command writes no report, so tests cannot be counted"
    return (f"{alone}; {junit_hint(gate.command)}",)
