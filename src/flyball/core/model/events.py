"""The facts a journal holds: what was seen and what was judged, with names chosen to be stored for ever."""

from datetime import datetime
from typing import Generic, Literal

import msgspec
from typing_extensions import TypeVar

from flyball.core.claims.findings import Finding
from flyball.core.health.breaker import Breaker
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Verdict
from flyball.core.model.effects import Effect, Question
from flyball.core.model.measurement import GateVerdict
from flyball.core.model.outcomes import Outcome
from flyball.core.model.task import MAIN, Commit, EffectId, Item, Limits, Settings, Task
from flyball.core.text.quantities import plural

Spoken = Literal[
    "answer", "reset", "skip", "abort", "modify", "pause", "resume", "accept", "reopen", "rollback", "keep", "drop"
]
LearningSource = Literal["", "report", "answer", "default", "review", "plan-review", "rollback", "conflict", "adopted"]


class Fact(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="fact"):
    """What a journal holds; those of a workflow stand with it, and `vocabulary` knows all."""


Effect_co = TypeVar("Effect_co", bound=Effect, default=Effect, covariant=True)
Outcome_co = TypeVar("Outcome_co", bound=Outcome, default=Outcome, covariant=True)
Fact_co = TypeVar("Fact_co", bound=Fact, default=Fact, covariant=True)


class TaskOpened(Fact, frozen=True, omit_defaults=True, tag="task.opened"):
    """A person asked for this."""

    task: Task
    stage: str


class SessionStarted(Fact, frozen=True, omit_defaults=True, tag="session.started"):
    """A controller took the task up."""

    pid: int
    host: str
    version: str


class Begun(Fact, Generic[Effect_co], frozen=True, omit_defaults=True, tag="effect.begun"):
    """An effect was asked for and is under way; it carries its date and attempt itself."""

    effect: Effect_co


class Ended(Fact, Generic[Outcome_co], frozen=True, omit_defaults=True, tag="effect.ended"):
    id: EffectId
    outcome: Outcome_co
    attempt: int = 1


class Judged(Fact, frozen=True, omit_defaults=True, tag="iteration.judged"):
    """One iteration was weighed: gates, progress, health, and what follows; a `batch` is a whole item, by its reviews.

    `unconfirmed` are criteria for which the agent names a test or line that is not there; `left` is what it says remains.
    """

    stage: str
    iteration: int
    turn: int
    gate_1: GateVerdict
    gate_2: bool
    observation: Observation
    verdict: Verdict
    breaker: Breaker
    progress: bool = False
    can_exit: bool = False
    false_claim: bool = False
    unsignalled: int = 0
    score: float = 0.0
    best: bool = False
    rejected: bool = False
    rung: str = ""
    restore_to: Commit = Commit("")
    fresh_context: bool = False
    lesson: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    disagreements: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    patterns_applied: tuple[str, ...] = ()
    report_problems: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    consent_wanted: tuple[str, ...] = ()
    batch: bool = False
    lane: str = MAIN


class TurnSetAside(Fact, frozen=True, omit_defaults=True, tag="turn.set_aside"):
    """A turn that is no iteration: limited, crashed, interrupted, one that planned, or a review that rested on `void` findings."""

    turn: int
    why: Literal["limited", "crashed", "interrupted", "planned", "absent", "consent", "void"]
    detail: str = ""
    agent: str = ""
    lane: str = MAIN


class Moved(Fact, frozen=True, omit_defaults=True, tag="stage.moved"):
    """A lane is in another stage now, `completed` with a whole item; `accepts_tests`: those its head holds are protected from then on.

    `unreviewed`: a setting, or what was measured, made the review unnecessary that the stage would have been.
    """

    stage: str
    previous: str
    reason: str
    forced: bool = False
    rejected: bool = False
    completed: bool = False
    accepts_tests: bool = False
    unreviewed: bool = False
    lane: str = MAIN


class Held(Fact, frozen=True, omit_defaults=True, tag="guard.held"):
    """A guard keeps a lane from its next turn."""

    guard: Literal["paused", "provider", "hourly", "budget", "breaker", "crash"]
    reason: str
    until: datetime | None = None
    lane: str = MAIN


class LimitHit(Fact, frozen=True, omit_defaults=True, tag="limit.hit"):
    """An agent's account may not be called before `until`; `backoff` when nobody said so and the wait is ours.

    `since` is then when it was first tried in vain without a turn that counts in between.
    """

    agent: str
    kind: str
    until: datetime
    detail: str = ""
    backoff: bool = False
    since: datetime | None = None


class WindowOpened(Fact, frozen=True, omit_defaults=True, tag="window.opened"):
    """A new hour of calls begins."""

    forced: bool = False


class BreakerChanged(Fact, frozen=True, omit_defaults=True, tag="breaker.changed"):
    """The breaker moved outside an iteration: a cool-down ended, a person reset it."""

    breaker: Breaker
    reason: str
    lane: str = MAIN


class ItemsSet(Fact, frozen=True, omit_defaults=True, tag="items.set"):
    """What the task consists of is known; a review adds to what there was, whoever that was from."""

    items: tuple[Item, ...]
    by: Literal["document", "planner", "tester", "request", "person", "review"]


class ItemChanged(Fact, frozen=True, omit_defaults=True, tag="item.changed"):
    id: str
    status: Literal["not-started", "in-progress", "completed", "blocked"]


class UndeclaredEditsFound(Fact, frozen=True, omit_defaults=True, tag="edits.undeclared"):
    """A piece of work changed files it had not declared: `also_changed` are merged and count as its files from now on.

    Files that were `deleted` want a person's word; `protected` ones were changed with consent; what was `dropped` is only code's to write.
    `shared` maps other items to those of the files that they declared.
    """

    item: str
    also_changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    shared: dict[str, tuple[str, ...]] = {}
    lane: str = MAIN


class LearningRecorded(Fact, frozen=True, omit_defaults=True, tag="learning.recorded"):
    """A decision or anti-pattern for later turns; what became of it since follows from later facts.

    It comes from the turn of a lane, for an `item`, and is about `files` as they are in `commit`. It replaces those it
    `supersedes` once it is kept. `source` is what it was made of: an agent's report, a person's answer (or the default of their
    question), a review that rejected, a rollback, a conflict, or a file of others that a person adopted.
    """

    number: int
    kind: Literal["decision", "anti-pattern"]
    title: str
    context: str = ""
    choice: str = ""
    alternatives: tuple[str, ...] = ()
    consequences: str = ""
    depends_on: tuple[str, ...] = ()
    invalidated_if: str = ""
    item: str = ""
    files: tuple[str, ...] = ()
    commit: Commit = Commit("")
    supersedes: tuple[str, ...] = ()
    source: LearningSource = ""
    turn: int = 0
    lane: str = MAIN


class LearningRevised(Fact, frozen=True, omit_defaults=True, tag="learning.revised"):
    """A reviewer's word about a learning it was shown: it is superseded by the one it `favours`, or it no longer holds."""

    learning: str
    because: str
    by: str
    favours: str = ""
    turn: int = 0
    lane: str = MAIN


class Consented(Fact, frozen=True, omit_defaults=True, tag="change.consented"):
    """A change to protected paths was allowed or refused, and by whom; allowed is what stands in `commit`, nothing later."""

    paths: tuple[str, ...]
    by: str
    allowed: bool = True
    commit: Commit = Commit("")
    lane: str = MAIN


class FailuresDecided(Fact, frozen=True, omit_defaults=True, tag="failures.decided"):
    """Which of the tests that failed at the baseline are part of the work, `*` for all; the others are known failures."""

    work: tuple[str, ...]
    by: Literal["request", "person", "setting", "nobody"]
    failing: int

    @property
    def message(self) -> str:
        if not self.work:
            who = {"nobody": "nobody said that they are part of the work", "person": "a person said so"}
            message = plural(self.failing, "test is a known failure", "tests are known failures")
            return f"{message} since before the task began: {who.get(self.by, 'a setting says so')}"
        count = self.failing if "*" in self.work else len(self.work)
        message = plural(
            count, "test that failed before the task began is", "tests that failed before the task began are"
        )
        why = {"request": "the request asks for it", "person": "a person said so"}.get(self.by, "a setting says so")
        left = f"; {plural(self.failing - count, 'known failure')} beside" if count < self.failing else ""
        return f"{message} part of the work: {why}{left}"


class DocumentSeen(Fact, frozen=True, omit_defaults=True, tag="document.seen"):
    """A file of the user's was read as it was; `notes` say what people did to it."""

    path: str
    sha256: str
    notes: tuple[str, ...] = ()


class PersonSpoke(Fact, frozen=True, omit_defaults=True, tag="person.spoke"):
    """A person's word reached the task; without a lane it is for all of them."""

    word: Spoken
    text: str = ""
    question: str = ""
    inbox: int = 0
    lane: str = ""

    @property
    def is_for_task(self) -> bool:
        return self.lane in {"", MAIN}


class QuestionClosed(Fact, frozen=True, omit_defaults=True, tag="question.closed"):
    """An answer was acted upon."""

    id: EffectId
    name: str
    answer: str
    by: Literal["person", "default"] = "person"
    lane: str = MAIN


class SettingsChanged(Fact, frozen=True, omit_defaults=True, tag="settings.changed"):
    """A person changed what the loop may spend, whether somebody can be asked, or allowed changes of more protected files."""

    limits: Limits
    attended: bool = False
    may_change: tuple[str, ...] = ()

    def change(self, settings: Settings) -> Settings:
        allowed = tuple(dict.fromkeys((*settings.may_change, *self.may_change)))
        return msgspec.structs.replace(settings, limits=self.limits, attended=self.attended, may_change=allowed)


class TaskReopened(Fact, frozen=True, omit_defaults=True, tag="task.reopened"):
    """A finished task goes on from what it delivered: a person's feedback became these items of it."""

    feedback: str
    items: tuple[str, ...] = ()


class WorkspaceRemoved(Fact, frozen=True, omit_defaults=True, tag="workspace.removed"):
    """The task's checkout is gone, `cleaned` away or `found` missing; it is made again, from what was saved, when the task goes on."""

    by: Literal["cleaned", "found"]
    parts: tuple[str, ...] = ()
    freed: int = 0


class TaskStopped(Fact, frozen=True, omit_defaults=True, tag="task.stopped"):
    """The loop ends here; all but `done` and `aborted` can be resumed, and those reopened or rolled back."""

    kind: Literal["done", "blocked", "limit", "paused", "aborted", "no_agent", "error", "interrupted"]
    reason: str
    evidence: tuple[str, ...] = ()
    question: EffectId = EffectId("")


class Event(msgspec.Struct, Generic[Fact_co], frozen=True):
    seq: int
    at: datetime
    epoch: int
    fact: Fact_co
