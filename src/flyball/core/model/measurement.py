"""What flyball found out itself: the values a measurement is made of."""

from typing import Literal

import msgspec

from flyball.core.failures.signature import Signature

Scalar = str | int | float | bool | None
MeasurementKind = Literal["baseline", "red", "green", "refactor", "document", "qa", "gates"]
"""What is looked at beyond the gates: the measurer's own words (`measures/kinds.py`), whichever stage asks for it."""


class Counts(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many tests ended how; `known_failing` are those that failed before the task began."""

    total: int = 0
    passing: int = 0
    failing: int = 0
    skipped: int = 0
    known_failing: int = 0

    @property
    def summary(self) -> str:
        """What passed and what remains; never that all passes while something fails."""
        parts = [f"{self.passing} passed"]
        parts += [f"{self.failing} failed"] if self.failing else []
        if self.known_failing:
            parts.append(
                f"{self.known_failing} known {'failure remains' if self.known_failing == 1 else 'failures remain'}"
            )
        return ", ".join(parts)


class GateResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One gate command run against one tree; `broken` says why it could not run at all."""

    name: str
    command: str
    passed: bool
    exit_code: int | None = None
    seconds: float = 0.0
    broken: str = ""
    counts: Counts | None = None
    output: str = ""
    log: str = ""

    @property
    def evidence(self) -> tuple[str, ...]:
        """What was run and how its output ends, for the person who is to mend it."""
        return (f"command: {self.command}", *self.output.splitlines()[-12:])


TrickKind = Literal[
    "test-deleted",
    "test-weakened",
    "test-skipped",
    "test-aided",
    "test-config-changed",
    "runner-shadowed",
    "exit-forced",
    "report-forged",
    "report-missing",
    "canary-missed",
    "wrong-tree",
    "environment-changed",
    "protected-changed",
    "conflict-markers",
]


CHANGES_OF_TESTS: frozenset[TrickKind] = frozenset(
    {"test-deleted", "test-weakened", "test-skipped", "test-config-changed", "protected-changed"}
)
"""Changes of protected files, which a request may need: no measurement tells those from a trick, so none is called one."""


class Trick(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something in the candidate that would have made the gate say more than is true."""

    kind: TrickKind
    path: str
    detail: str
    harmless: bool = False


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something in the change that a reviewer should look at; it never decides anything. Line 0 means the whole file."""

    file: str
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


REMARKS_MEANING = "Worth a look, and no more: a remark proves nothing and decides nothing. Honest code has them, too."


class NewTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A test the baseline did not have: how it ended, why, and which criteria it names."""

    id: str
    file: str
    outcome: Literal["failing", "passing", "skipped", "uncollected"]
    reason: Literal["assertion", "missing-name", "error", "vacuous", ""] = ""
    detail: str = ""
    criteria: tuple[str, ...] = ()
    tests_in_source: int = 1


class Noticed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether any measurement notices the change, and the evidence in one line; `files` hold the product code it is about.

    A `new-test` fails on the product as it was and when the changed code is broken; an `existing-test` only fails when it is broken.
    `unnamed` are the criteria, of several, that no test names; `unstated` the examples that criteria give and no test states.
    `tests` are the first of those that the work added.
    """

    kind: Literal["new-test", "existing-test", "nothing", "no-product", "unprobed"]
    evidence: str = ""
    files: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    unstated: tuple[str, ...] = ()
    tests: tuple[NewTest, ...] = ()


class FailedTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a test failed, in the first line of its message, and the place in the project that it came from."""

    test: str
    message: str
    file: str = ""
    line: int = 0


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One QA criterion: `n/a` is shown as unverified, never as passed."""

    name: str
    status: Literal["pass", "fail", "n/a"]
    blocking: bool
    detail: str = ""


class GateVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Gate 1: whether the measurements satisfy the stage, and what is missing."""

    held: bool
    condition: str
    missing: tuple[str, ...] = ()
    values: dict[str, Scalar] = {}


class Files(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the candidate changed since the task began; `lines` are those added and removed, None where nobody asks for them."""

    created: int = 0
    modified: int = 0
    deleted: int = 0
    documents: int = 0
    decision_records: int = 0
    diagrams: int = 0
    diagrams_valid: int = 0
    diagrams_broken: tuple[str, ...] = ()
    documents_empty: tuple[str, ...] = ()
    lines: int | None = None


class Quality(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers about the changed code; `over_limit` names functions beyond the configured limits."""

    complexity_total: int = 0
    complexity_worst: int = 0
    duplicated_lines: int = 0
    duplication_percent: float = 0.0
    over_limit: tuple[str, ...] = ()
    unmeasured: str = ""


class Coverage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines that can run and those that did, of the tree and of the product code the task changed, as a gate's report has them."""

    lines: int
    covered: int
    changed: int = 0
    changed_covered: int = 0

    @property
    def percent(self) -> float | None:
        return round(100 * self.covered / self.lines, 1) if self.lines else None

    @property
    def changed_percent(self) -> float | None:
        return round(100 * self.changed_covered / self.changed, 1) if self.changed else None


class Measurement(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything measured on one candidate tree in one iteration; one that is `unchanged` holds nobody's work beyond what is accepted.

    `changed` names the first files that differ from what is accepted.
    `failing` is `uncounted` where every entry is a file that cannot be loaded: how many of its tests would pass is not known.
    `known` are the failing tests that are excused because they failed before the task began.

    `unseen` says of a baseline why no new test could be seen to fail there.
    `tools` are what QA uses beside the gates, with how each ran.
    `mended` is the candidate's tree with the paths in `put_back`, which tricks changed, as they were accepted.
    `remarks` are for the reviewer and the report: suspicion without proof, the most telling; `remarks_left` are those beyond them.
    `reused` says when and for which task the same was measured before, where nothing ran this time.
    `shown` says of each test and line that the turn names for a criterion how the test ended, else that it is `there`, else nothing.
    `unparsed` names changed sources that do not parse; `noticed` is None where it was not asked whether a test notices the change.
    """

    candidate: str
    tree: str
    gates: tuple[GateResult, ...] = ()
    counts: Counts = Counts()
    tests_ref: str = ""
    failing: tuple[str, ...] = ()
    failures: tuple[FailedTest, ...] = ()
    uncounted: bool = False
    known: tuple[str, ...] = ()
    failing_ref: str = ""
    missing: tuple[str, ...] = ()
    newly_skipped: tuple[str, ...] = ()
    new_tests: tuple[NewTest, ...] = ()
    old_tests_broken: tuple[str, ...] = ()
    green_runs: int = 0
    flaky: tuple[str, ...] = ()
    passing_on_rejected: tuple[str, ...] = ()
    tricks: tuple[Trick, ...] = ()
    files: Files = Files()
    quality: Quality | None = None
    checks: tuple[Check, ...] = ()
    tools: tuple[GateResult, ...] = ()
    signature: Signature | None = None
    notes: tuple[str, ...] = ()
    commands_s: float = 0.0
    unchanged: bool = False
    changed: tuple[str, ...] = ()
    unseen: str = ""
    put_back: tuple[str, ...] = ()
    mended: str = ""
    coverage: Coverage | None = None
    remarks: tuple[Remark, ...] = ()
    remarks_left: int = 0
    unparsed: tuple[str, ...] = ()
    noticed: Noticed | None = None
    shown: dict[str, str] = {}
    reused: str = ""

    @property
    def caught(self) -> tuple[Trick, ...]:
        """The tricks that keep the gate from holding."""
        return tuple(trick for trick in self.tricks if not trick.harmless)

    @property
    def remark_count(self) -> int:
        return len(self.remarks) + self.remarks_left

    @property
    def failed_gate(self) -> GateResult | None:
        """The first gate that did not pass and said something."""
        return next((g for g in self.gates if not g.passed and g.output), None)

    @property
    def is_known_by_output(self) -> bool:
        """Whether what fails is known by the output alone: a gate failed that counts no tests, or only files that cannot be loaded."""
        if self.failing:
            return self.uncounted
        return any(not g.passed and not g.broken and g.counts is None for g in self.gates)

    @property
    def broken(self) -> str:
        """Why a gate could not run at all, or an empty string."""
        return next((f"{g.name}: {g.broken}" for g in self.gates if g.broken), "")

    @property
    def failed_exits(self) -> dict[str, int]:
        """What each gate whose counted tests failed ended with."""
        return {
            g.name: g.exit_code
            for g in self.gates
            if g.exit_code is not None and g.counts and g.counts.failing + g.counts.known_failing
        }

    @property
    def passes_nothing(self) -> GateResult | None:
        """A gate that counts its tests and in which some fail and none passes."""
        counted = ((g, g.counts) for g in self.gates if g.counts is not None)
        return next((g for g, c in counted if not c.passing and c.failing + c.known_failing), None)

    @property
    def unusable(self) -> GateResult | None:
        """A tool QA needs that could not run, for a reason that is not the candidate's."""
        return next((tool for tool in self.tools if tool.broken), None)

    @property
    def uncounted_failure(self) -> GateResult | None:
        """A gate that fails where no gate counts its tests: nobody could tell what fails anew from what always did."""
        if any(g.counts is not None for g in self.gates):
            return None
        return next((g for g in self.gates if not g.passed), None)
