"""What a task's history keeps of each fact: values cut to what screens and reports show."""

from datetime import datetime
from typing import Literal

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.model.measurement import REMARKS_MEANING, Check, Counts, Remark
from flyball.core.model.outcomes import NOTHING_USED, Usage
from flyball.core.model.task import MAIN, Author
from flyball.core.text.quantities import plural


class Tally(Counts, frozen=True, omit_defaults=False):
    """How many tests ended how; unlike the stored counts it always names every number."""


class FileChanges(msgspec.Struct, frozen=True):
    created: int = 0
    modified: int = 0
    deleted: int = 0


class CoverageSeen(msgspec.Struct, frozen=True):
    """Line coverage as measured, of the tree and of the changed lines; no percentage where there is no line."""

    lines: int
    covered: int
    percent: float | None
    changed_lines: int
    changed_covered: int
    changed_percent: float | None

    def __str__(self) -> str:
        whole = f"{self.percent} % of {plural(self.lines, 'line')}"
        if self.changed_percent is None:
            return f"{whole}; none of them was changed"
        return f"{whole}, {self.changed_percent} % of {plural(self.changed_lines, 'changed line')}"


class CheckMade(Check, frozen=True, omit_defaults=False):
    """One QA criterion and how it ended; it always names its detail."""


class TurnRecord(msgspec.Struct, frozen=True):
    """One agent run; `outcome` is empty while it is under way, `set_aside` says why it was no iteration.

    `model` is the one it was asked for until it has ended, then the one that ran; `authors` wrote what it reviewed.
    `findings` are a reviewer's, with those of earlier looks that it says are not gone; `gone` has the ids of those that are.
    """

    number: int
    stage: str
    iteration: int
    role: str
    agent: str
    model: str
    item: str
    begun_at: datetime
    attempt: int = 1
    ended_at: datetime | None = None
    outcome: str = ""
    detail: str = ""
    seconds: float = 0.0
    usage: Usage = NOTHING_USED
    status: str = ""
    exit_signal: bool = False
    verdict: str = ""
    summary: str = ""
    session: str = ""
    source: str = "none"
    set_aside: str = ""
    authors: tuple[Author, ...] = ()
    findings: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """One iteration as it was weighed; `iteration` counts within the stage."""

    at: datetime
    stage: str
    iteration: int
    turn: int
    counts: Tally
    can_exit: bool
    false_claim: bool
    health: str
    recommendation: str
    confidence: str
    trend: str
    evidence: str
    missing: tuple[str, ...]
    rung: str
    rejected: bool
    disagreements: tuple[str, ...]
    lane: str = MAIN
    batch: bool = False


class Row(msgspec.Struct, frozen=True):
    iteration: int
    attempted: tuple[str, ...]
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    notes: str
    passed_so_far: int
    failed_so_far: int


class CheckpointRecord(msgspec.Struct, frozen=True):
    """A checkpoint, with the last turn of its lane before it, and the trick it holds where it was caught with one.

    `before` is the commit whose tree the lane had before it.
    """

    label: str
    commit: str
    at: datetime
    accepted: bool
    stage: str
    turn: int
    tricked: str = ""
    lane: str = MAIN
    before: str = ""

    @property
    def on_branch(self) -> bool:
        """Whether the task's branch held it: accepted, and not in one of the lanes beside it."""
        return self.accepted and self.lane == MAIN


class Learning(msgspec.Struct, frozen=True):
    """A learning, the turn it came from, and what became of it: its `standing`, and `because` of what.

    `check` names what it depends on that is gone, `superseded_by` the learning that took its place.
    """

    number: int
    kind: Literal["decision", "anti-pattern"]
    title: str
    at: datetime
    stage: str
    turn: int
    context: str = ""
    choice: str = ""
    alternatives: tuple[str, ...] = ()
    consequences: str = ""
    depends_on: tuple[str, ...] = ()
    invalidated_if: str = ""
    item: str = ""
    files: tuple[str, ...] = ()
    commit: str = ""
    supersedes: tuple[str, ...] = ()
    source: str = ""
    standing: str = "proposed"
    because: str = ""
    superseded_by: str = ""
    check: str = ""


class LearningGiven(msgspec.Struct, frozen=True):
    """A learning that stood in prompts: of which turns, why it was chosen, and after which of them the work was rejected all the same."""

    id: str
    kind: str
    title: str
    why: str
    turns: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()


class GateRecord(msgspec.Struct, frozen=True):
    name: str
    command: str
    passed: bool
    exit_code: int | None
    seconds: float
    broken: str
    counts: Tally | None


class Verification(msgspec.Struct, frozen=True):
    at: datetime
    stage: str
    candidate: str
    gates: tuple[GateRecord, ...]
    counts: Tally
    green_runs: int
    checks: tuple[CheckMade, ...]
    files: FileChanges
    condition: str = ""
    coverage: CoverageSeen | None = None
    lane: str = MAIN
    known: tuple[str, ...] = ()
    reused: str = ""


class TrickSeen(msgspec.Struct, frozen=True):
    kind: str
    path: str
    detail: str
    harmless: bool
    at: datetime
    stage: str
    times: int = 1


class RemarksSeen(msgspec.Struct, frozen=True):
    """What the tree that was measured last has for a reviewer to look at, and how many remarks there are beyond those shown."""

    shown: tuple[Remark, ...] = ()
    left: int = 0

    @property
    def count(self) -> int:
        return len(self.shown) + self.left

    @property
    def meaning(self) -> str:
        return REMARKS_MEANING


class QuestionRecord(msgspec.Struct, frozen=True):
    id: str
    name: str
    text: str
    asked_at: datetime
    answer: str | None = None
    answered_at: datetime | None = None
    by: str = ""


class WordRecord(msgspec.Struct, frozen=True):
    at: datetime
    word: str
    text: str
    question: str


class Hold(msgspec.Struct, frozen=True):
    at: datetime
    guard: str
    reason: str
    until: datetime | None
    lane: str = MAIN


class Move(msgspec.Struct, frozen=True):
    at: datetime
    previous: str
    stage: str
    reason: str
    forced: bool
    rejected: bool


class Rollback(msgspec.Struct, frozen=True):
    at: datetime
    stage: str
    commit: str
    undone: str
    lane: str = MAIN


class Consent(msgspec.Struct, frozen=True):
    at: datetime
    paths: tuple[str, ...]
    by: str
    allowed: bool
