"""What is known of a task: open work and bounded windows only, so folding stays linear however long it has run."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from flyball.core.breaker import CLOSED, Breaker
from flyball.core.effects import Effect, Question, RunAgent
from flyball.core.events import Evaluated, Held, ItemSettled, Judged, LearningRecorded, LimitHit, Reviewed, TaskStopped
from flyball.core.measurement import Finding, Measurement, Trick
from flyball.core.observation import History
from flyball.core.outcomes import NOTHING_USED, BacklogRead, Outcome, Prepared, TurnEnded, Usage
from flyball.core.task import Author, Commit, EffectId, Item, Player, Task


class Open(msgspec.Struct, frozen=True):
    """An effect under way."""

    effect: Effect
    attempt: int
    begun_at: datetime


class Asked(msgspec.Struct, frozen=True):
    """A question and, once there is one, its answer."""

    question: Question
    answer: str | None = None
    by: Literal["person", "default"] = "person"


class Checkpoint(msgspec.Struct, frozen=True):
    """A saved tree that can be restored, unless it is known to hold a trick."""

    label: str
    commit: Commit
    tree: str
    at: datetime
    accepted: bool = False
    stage: str = ""
    iteration: int = 0
    tricked: bool = False


class Caught(msgspec.Struct, frozen=True):
    """Tricks of one iteration of the present stage, held against it until an honest one moves."""

    iteration: int
    tricks: tuple[Trick, ...]


class Window(msgspec.Struct, frozen=True):
    """The present hour of calls."""

    started_at: datetime
    calls: int = 0


class Visit(msgspec.Struct, frozen=True):
    """One stay in a stage."""

    stage: str
    started_at: datetime
    completed_at: datetime | None = None
    iterations: int = 0
    exit_reason: str = ""
    forced: bool = False


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a backlog that is being worked through.

    `seen` is forgotten with every edit, so that nothing is decided upon what was read before it; `batches` is the monitor's
    history of whole items, which stages do not begin anew; `stale` counts edits refused in a row on the very same files.
    """

    seen: BacklogRead | None = None
    reads: int = 0
    cycle: int = 0
    idle_cycles: int = 0
    selected: str = ""
    previous: str = ""
    reviews: dict[str, Reviewed] = {}
    passed: bool = False
    settled: ItemSettled | None = None
    evaluated: Evaluated | None = None
    evaluations: int = 0
    completed: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    forgiven: tuple[str, ...] = ()
    rejections: dict[str, tuple[str, ...]] = {}
    proven: Measurement | None = None
    batches: History = History()
    stale: int = 0
    stale_files: dict[str, str] = {}


class Draft(msgspec.Struct):
    """What is known while facts are being added to it.

    What comes and goes with every effect (`open`, `outcomes`, `passing`, `attempts`) is written in place; everything else is
    replaced, never changed.
    """

    task: Task
    now: datetime
    stage: str
    seq: int = 0
    epoch: int = 0
    session_began_at: datetime | None = None
    session_epoch: int | None = None
    elapsed: timedelta = timedelta(0)
    iteration: int = 0
    iterations: int = 0
    turns: int = 0
    context: int = 1
    sessions: dict[str, str] = {}
    session_usage: dict[str, Usage] = {}
    open: dict[EffectId, Open] = {}
    outcomes: dict[EffectId, Outcome] = {}
    pass_effect: RunAgent | None = None
    passing: dict[EffectId, RunAgent] = {}
    attempts: dict[EffectId, int] = {}
    items: tuple[Item, ...] = ()
    work: Work = Work()
    prepared: Prepared | None = None
    removed: bool = False
    removals: int = 0
    baseline: Measurement | None = None
    entry: Measurement | None = None
    last: Measurement | None = None
    judged: Judged | None = None
    judged_at: datetime | None = None
    head: Commit = Commit("")
    tests_accepted: Commit = Commit("")
    tests_ref: str = ""
    rejected: Commit = Commit("")
    checkpoints: tuple[Checkpoint, ...] = ()
    best: Checkpoint | None = None
    best_score: float | None = None
    exiting: bool = False
    restore_to: Commit = Commit("")
    restores: int = 0
    restored: bool = False
    mend: Measurement | None = None
    mends: int = 0
    put_back: tuple[str, ...] = ()
    caught: Caught | None = None
    visits: tuple[Visit, ...] = ()
    breaker: Breaker = CLOSED
    history: History = History()
    tree: str = ""
    tree_before: str = ""
    rungs: tuple[str, ...] = ()
    lesson: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    learnings: tuple[LearningRecorded, ...] = ()
    learned: int = 0
    findings: tuple[Finding, ...] = ()
    qa_attempts: int = 0
    unsignalled: int = 0
    signal_asked: bool = False
    false_claims: int = 0
    crashes: int = 0
    crashed_at: datetime | None = None
    crash_detail: str = ""
    last_interrupted: Commit = Commit("")
    overloads: int = 0
    absent: tuple[str, ...] = ()
    absent_why: str = ""
    authors: tuple[Author, ...] = ()
    unusable: tuple[Player, ...] = ()
    window: Window | None = None
    limits: dict[str, LimitHit] = {}
    held: Held | None = None
    waits: int = 0
    asks: int = 0
    questions: dict[EffectId, Asked] = {}
    to_ask: tuple[Question, ...] = ()
    items_confirmed: bool = False
    items_own: bool = False
    usage: Usage = NOTHING_USED
    known_usd: float = 0.0
    unpriced: int = 0
    untold: int = 0
    dearest_turn: Usage = NOTHING_USED
    consented: dict[str, Commit] = {}
    refused: tuple[str, ...] = ()
    consent_wanted: tuple[str, ...] = ()
    reset: bool = False
    pausing: bool = False
    skipping: bool = False
    aborting: bool = False
    shipped: Commit = Commit("")
    reports: int = 0
    midway: bool = False
    feedback: str = ""
    rounds: int = 0
    reopened: bool = False
    round_base: Commit = Commit("")
    known_failing: int = 0
    pull_request: str = ""
    stopped: TaskStopped | None = None

    @property
    def pass_turn(self) -> int:
        """The number of the present pass's turn; 0 between passes."""
        return self.pass_effect.turn if self.pass_effect else 0

    @property
    def regressed(self) -> bool:
        """Whether more tests fail on what a reopened task delivered than before it began: they are excused by nothing."""
        known = self.baseline
        at_round = known is not None and bool(self.round_base) and known.candidate == self.round_base
        return at_round and known is not None and known.counts.known_failing > self.known_failing

    def settled(self) -> State:
        """The state these facts amount to."""
        return State(*msgspec.structs.astuple(self))


class State(Draft, frozen=True):  # type: ignore[misc]  # a draft that takes no more facts
    """Everything `decide` may look at."""

    def draft(self) -> Draft:
        """A copy that takes further facts, which this state does not see."""
        draft = Draft(*msgspec.structs.astuple(self))
        draft.open = self.open.copy()
        draft.outcomes = self.outcomes.copy()
        draft.passing = self.passing.copy()
        draft.attempts = self.attempts.copy()
        return draft

    @property
    def last_turn(self) -> TurnEnded | None:
        """The turn of the present pass, once it has ended."""
        outcome = self.outcomes.get(EffectId(f"turn/{self.pass_turn}"))
        return outcome if isinstance(outcome, TurnEnded) else None

    @property
    def decision(self) -> str:
        if self.stopped is None or self.stopped.kind in {"limit", "paused", "interrupted"}:
            return "CONTINUE"
        return "DONE" if self.stopped.kind == "done" else "BLOCKED"
