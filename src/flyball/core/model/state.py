"""What is known of a task, grouped by how long it is known.

    State   the task: request, items, checkpoints, learnings, questions, limits, spend, and the workflow's own record
    Batches subtasks side by side: the batch being integrated, what was accepted, sent back or parked
    Lane    one line of work: a workspace, its stage, its head
    Loop    since the stage began: iterations, verdicts, breaker, what was tried
    Turn    one agent run and what was made of it; none between turns
    Panel   reviewers at work on disposable copies of one tree; none when there are none

What ends with a group goes with it in one assignment. Only the fold writes here (`tests/architecture/test_purity.py` looks), and
it writes into a copy of its own; everybody else reads. State holds open work and bounded windows, so folding stays linear however
long a task has run.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import FindingAnswer
from flyball.core.health.breaker import CLOSED, Breaker
from flyball.core.health.history import History
from flyball.core.model import outcomes as oc
from flyball.core.model.batches import Batches
from flyball.core.model.effects import Ask, Effect, Question, Recall, RunAgent
from flyball.core.model.events import FailuresDecided, Held, Judged, LimitHit, TaskStopped
from flyball.core.model.learnings import Learnings
from flyball.core.model.measurement import Measurement, Noticed, Trick
from flyball.core.model.task import MAIN, Author, Commit, EffectId, Item, Player, Task

RECENT_LEARNINGS = 24
"""Those a state remembers itself: what prompts fall back on where no recall was possible."""


class Asked(msgspec.Struct, frozen=True):
    question: Question
    lane: str = MAIN
    answer: str | None = None
    by: Literal["person", "default"] = "person"


class Checkpoint(msgspec.Struct, frozen=True):
    """A saved tree that can be restored, unless it is known to hold a trick; `undone` once an earlier one was restored.

    `files` are those in which it is another than the checkpoint before, where that is known.
    """

    label: str
    commit: Commit
    tree: str
    at: datetime
    accepted: bool = False
    stage: str = ""
    iteration: int = 0
    tricked: bool = False
    lane: str = MAIN
    measured: Measurement | None = None
    judged: Judged | None = None
    undone: bool = False
    files: tuple[str, ...] | None = None


class Undone(msgspec.Struct, frozen=True):
    """A rollback: the turns whose work it undid, why, from which commit to which, and what is known of the tree it went back to."""

    turns: tuple[str, ...]
    reason: str
    commit: Commit
    to: Commit
    measured: Measurement | None = None
    judged: Judged | None = None


class Caught(msgspec.Struct, frozen=True):
    """Tricks of one iteration of the present stage, held against it until an honest one moves."""

    iteration: int
    tricks: tuple[Trick, ...]


class Window(msgspec.Struct, frozen=True):
    started_at: datetime
    calls: int = 0


class Visit(msgspec.Struct, frozen=True):
    stage: str
    started_at: datetime
    completed_at: datetime | None = None
    iterations: int = 0
    exit_reason: str = ""
    forced: bool = False
    unreviewed: bool = False


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a workflow itself remembers of a task; each makes a type of its own and folds it."""


class Turn(msgspec.Struct):
    effect: RunAgent
    ended: oc.TurnEnded | oc.Interrupted | None = None
    saved: oc.Saved | None = None
    measured: Measurement | None = None


class Look(msgspec.Struct, frozen=True):
    """The last time a role reviewed work on an item: the tree, the other one it `saw` before, and what is still held against the work."""

    commit: Commit
    item: str = ""
    saw: Commit = Commit("")
    findings: tuple[Finding, ...] = ()


class Panel(msgspec.Struct):
    """Reviewers of one tree: their turns under way or not yet read, and the answers that count, by role.

    `void` has the findings of those who are asked again, because their reports rested on them.
    """

    turns: dict[EffectId, RunAgent] = {}
    ended: dict[EffectId, oc.TurnEnded | oc.Interrupted] = {}
    answers: dict[str, tuple[RunAgent, oc.TurnEnded]] = {}
    void: dict[str, tuple[Finding, ...]] = {}


class Loop(msgspec.Struct):
    """What is known since the stage began.

    `entry` was measured when it began and `last` by the latest verdict; `restored` is whether a tree was put back since then, and `undone`
    what that undid. A gate that held is `unsignalled` until the agent signals; `signal_asked` is whether it was asked for that. A person's word makes it
    `exiting`, `skipping` or `reset`.
    """

    entry: Measurement | None = None
    iteration: int = 0
    last: Measurement | None = None
    judged: Judged | None = None
    judged_at: datetime | None = None
    best_score: float | None = None
    breaker: Breaker = CLOSED
    history: History = History()
    rungs: tuple[str, ...] = ()
    lesson: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    consent_wanted: tuple[str, ...] = ()
    unsignalled: int = 0
    signal_asked: bool = False
    exiting: bool = False
    skipping: bool = False
    reset: bool = False
    restore_to: Commit = Commit("")
    restored: bool = False
    undone: Undone | None = None
    caught: Caught | None = None

    @property
    def standing(self) -> Measurement | None:
        """What was measured of the tree that the lane stands on, so far as that is known."""
        return (self.last if self.undone is None else self.undone.measured) or self.entry


class Lane(msgspec.Struct):
    """One line of work: it has a workspace of its own that starts from `base`, and no other lane touches it.

    `mend` is what was measured with tricks in it, until they are undone, and `put_back` the paths that were. `authors` wrote what is
    to be reviewed. `outcomes` are those of effects that belong to no turn, since the latest verdict or move. A `failed` effect parks the lane.
    `opened` is how many lanes there have been of this name, this one included.
    `recalled` answers `recall`, the latest of so many `recalls`: the learnings its turns are given.
    `looks` are the last ones of those who review it, by stage and role, `answers` what was said of their findings, by id.
    `day` is the latest of so many `days` counted, none once anything has happened in the lane since.
    """

    name: str
    stage: str
    visits: tuple[Visit, ...] = ()
    base: Commit = Commit("")
    item: str = ""
    head: Commit = Commit("")
    tree: str = ""
    tree_before: str = ""
    tests_accepted: Commit = Commit("")
    tests_ref: str = ""
    best: Checkpoint | None = None
    rejected: Commit = Commit("")
    rejections: int = 0
    mend: Measurement | None = None
    mends: int = 0
    put_back: tuple[str, ...] = ()
    authors: tuple[Author, ...] = ()
    consented: dict[str, Commit] = {}
    refused: tuple[str, ...] = ()
    context: int = 1
    sessions: dict[str, str] = {}
    session_usage: dict[str, oc.Usage] = {}
    crashes: int = 0
    crashed_at: datetime | None = None
    crash_detail: str = ""
    overloads: int = 0
    last_interrupted: Commit = Commit("")
    held: Held | None = None
    to_ask: tuple[Question, ...] = ()
    waits: int = 0
    asks: int = 0
    restores: int = 0
    recall: Recall | None = None
    recalled: oc.Recalled | None = None
    recalls: int = 0
    looks: dict[str, Look] = {}
    answers: dict[str, FindingAnswer] = {}
    day: oc.DayCounted | None = None
    days: int = 0
    outcomes: dict[EffectId, oc.Outcome] = {}
    attempts: dict[EffectId, int] = {}
    failed: tuple[Effect, oc.Failed] | None = None
    loop: Loop = msgspec.field(default_factory=Loop)
    turn: Turn | None = None
    panel: Panel | None = None
    opened: int = 1

    def copy(self) -> Lane:
        """A lane that takes further facts, which this one does not see."""
        mine = replace(self, outcomes=self.outcomes.copy(), attempts=self.attempts.copy(), loop=replace(self.loop))
        if self.turn is not None:
            mine.turn = replace(self.turn)
        if self.panel is not None:
            panel = self.panel
            mine.panel = Panel(panel.turns.copy(), panel.ended.copy(), panel.answers.copy(), panel.void)
        return mine

    @property
    def at_work(self) -> RunAgent | None:
        """The turn under way or not yet judged; of a panel's the first."""
        if self.turn is not None:
            return self.turn.effect
        return next(iter(self.panel.turns.values()), None) if self.panel is not None else None

    def effect_id(self, name: str) -> EffectId:
        """An id that no other lane gives, and none of this name before: the second one's begin with `NAME+2/`."""
        again = f"+{self.opened}" if self.opened > 1 else ""
        return EffectId(name if self.name == MAIN else f"{self.name}{again}/{name}")


class State(msgspec.Struct):
    """Everything `decide` may look at."""

    task: Task
    now: datetime
    lanes: dict[str, Lane]
    record: Record = Record()
    batches: Batches = Batches()
    seq: int = 0
    epoch: int = 0
    session_began_at: datetime | None = None
    session_epoch: int | None = None
    elapsed: timedelta = timedelta(0)
    iterations: int = 0
    turns: int = 0
    open: dict[EffectId, Effect] = {}
    openings: dict[str, int] = {}
    items: tuple[Item, ...] = ()
    items_confirmed: bool = False
    items_own: bool = False
    prepared: oc.Prepared | None = None
    removed: bool = False
    removals: int = 0
    baseline: Measurement | None = None
    noticed: dict[str, Noticed] = {}
    checkpoints: tuple[Checkpoint, ...] = ()
    guidance: tuple[str, ...] = ()
    lane_guidance: dict[str, tuple[str, ...]] = {}
    learnings: Learnings = msgspec.field(default_factory=lambda: Learnings(most=RECENT_LEARNINGS))
    learned: int = 0
    false_claims: int = 0
    absent: tuple[str, ...] = ()
    absent_why: str = ""
    unusable: tuple[Player, ...] = ()
    window: Window | None = None
    limits: dict[str, LimitHit] = {}
    questions: dict[EffectId, Asked] = {}
    usage: oc.Usage = oc.NOTHING_USED
    known_usd: float = 0.0
    unpriced: int = 0
    turns_without_tokens: int = 0
    dearest_turn: oc.Usage = oc.NOTHING_USED
    pausing: bool = False
    aborting: bool = False
    shipped: Commit = Commit("")
    reports: int = 0
    midway: bool = False
    feedback: str = ""
    rounds: int = 0
    reopened: bool = False
    round_base: Commit = Commit("")
    known_failing: int = 0
    failures: FailuresDecided | None = None
    pull_request: str = ""
    stopped: TaskStopped | None = None

    def copy(self) -> State:
        """A state that takes further facts, which this one does not see."""
        lanes = {name: lane.copy() for name, lane in self.lanes.items()}
        return replace(self, lanes=lanes, open=self.open.copy(), learnings=self.learnings.copy())

    @property
    def main(self) -> Lane:
        return self.lanes[MAIN]

    @property
    def waits_for_person(self) -> bool:
        """Whether nothing is under way but questions: that is no time at work."""
        return bool(self.open) and all(isinstance(effect, Ask) for effect in self.open.values())

    @property
    def decision(self) -> str:
        if self.stopped is None or self.stopped.kind in {"limit", "paused", "interrupted"}:
            return "CONTINUE"
        return "DONE" if self.stopped.kind == "done" else "BLOCKED"

    @property
    def work(self) -> tuple[str, ...]:
        """The tests that failed before the task began and are part of the work; `*` stands for all."""
        return self.failures.work if self.failures is not None else ()

    @property
    def regressed(self) -> bool:
        """Whether more tests fail on what a reopened task delivered than before it began: they are excused by nothing."""
        known = self.baseline
        at_round = known is not None and bool(self.round_base) and known.candidate == self.round_base
        return at_round and known is not None and known.counts.known_failing > self.known_failing

    def is_working(self, lane: Lane) -> bool:
        return any(effect.lane == lane.name for effect in self.open.values())
