"""The object of `status --json`: every field is always there, whatever its value."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec.structs import asdict

from flyball.core.loop.guards import HOUR
from flyball.core.loop.shipping import unnoticed_work
from flyball.core.model.effects import Option, RunAgent
from flyball.core.model.events import PersonSpoke
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.records import CoverageSeen, RemarksSeen
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views import standing
from flyball.projections.views.lanes import hold_of, most_stuck
from flyball.projections.views.situation import AT_WORK, Seen, Word, situation
from flyball.projections.wording import plain

SUBTASK = "subtask "


class CheckpointShown(msgspec.Struct, frozen=True):
    label: str
    sha: str
    at: datetime
    accepted: bool
    stage: str


class QuestionShown(msgspec.Struct, frozen=True):
    id: str
    name: str
    text: str
    detail: str
    options: tuple[Option, ...]
    default: str | None
    asked_at: datetime | None
    deadline_at: datetime | None


class BreakerShown(msgspec.Struct, frozen=True):
    state: str
    no_progress: int
    same_error: int
    reason: str
    lane: str


class UsageShown(msgspec.Struct, frozen=True):
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    estimated: bool
    known_usd: float


class Subtask(msgspec.Struct, frozen=True):
    id: str
    name: str
    state: str


class StoppedShown(msgspec.Struct, frozen=True):
    kind: str
    reason: str
    evidence: tuple[str, ...]


class HeldShown(msgspec.Struct, frozen=True):
    guard: str
    reason: str
    until: datetime | None
    lane: str


class Forced(msgspec.Struct, frozen=True):
    stage: str
    at: datetime
    reason: str


NOTICE = "notice"
"""The check whether a test notices the change."""


class CheckShown(msgspec.Struct, frozen=True):
    """A check that failed and blocks nothing, or was not made, by its name; or `subtask ID`, which is done by a person's tick alone."""

    name: str
    detail: str

    @property
    def clause(self) -> str:
        if self.name == NOTICE:
            return self.detail
        ticked = self.name.startswith(SUBTASK)
        return f"{self.name} was {self.detail} and is not verified" if ticked else f"check {self.name} was not made"


class TrickShown(msgspec.Struct, frozen=True):
    kind: str
    path: str
    detail: str
    stage: str
    times: int


class LimitsShown(msgspec.Struct, frozen=True):
    """What the loop may spend, and what of the present hour is spent; null is no limit."""

    calls_per_hour: int
    calls_this_hour: int
    window_ends_at: datetime | None
    max_iterations: int | None
    max_turns: int | None
    max_cycles: int | None
    max_hours: float | None
    budget_usd: float | None
    budget_tokens: int | None
    budget_usd_per_day: float | None
    budget_tokens_per_day: int | None


class TurnShown(msgspec.Struct, frozen=True):
    number: int
    stage: str
    role: str
    agent: str
    model: str
    begun_at: datetime


class Status(msgspec.Struct, frozen=True):
    task: str
    request: str
    workflow: str
    state: Word
    stage: str
    stage_iteration: int
    decision: str
    reason: str
    health: str
    progress_percent: int
    iterations: int
    turns: int
    running_turns: tuple[TurnShown, ...]
    false_claims: int
    branch: str
    head: str
    merged_into: str
    pull_request: str
    subtasks: tuple[Subtask, ...]
    checkpoints: tuple[CheckpointShown, ...]
    questions: tuple[QuestionShown, ...]
    breaker: BreakerShown
    usage: UsageShown
    elapsed_s: float
    limits: LimitsShown
    held: HeldShown | None
    stopped: StoppedShown | None
    forced: tuple[Forced, ...]
    unverified: tuple[CheckShown, ...]
    warnings: tuple[CheckShown, ...]
    failures: tuple[str, ...]
    tricks: tuple[TrickShown, ...]
    remarks: RemarksSeen
    left: tuple[str, ...]
    coverage: CoverageSeen | None
    next_command: str
    started_at: datetime
    updated_at: datetime


def status(state: State, history: TaskHistory, said: Sequence[PersonSpoke] = (), *, seen: Seen = AT_WORK) -> Status:
    """The status of a task after its last event; `said` are a person's words that it takes in with the next one."""
    answered = {word.question for word in said if word.word == "answer"}
    stuck, held, stopped = most_stuck(state), hold_of(state), state.stopped
    breaker = stuck.loop.breaker
    return Status(
        task=state.task.id,
        request=state.task.request,
        workflow=state.task.workflow,
        state=situation(state, seen, answered),
        stage=state.main.stage,
        stage_iteration=state.main.loop.iteration,
        decision=standing.decision(state),
        reason=plain(standing.reason(state, history), 2000),
        health=standing.health(state, history),
        progress_percent=progress_percent(state),
        iterations=state.iterations,
        turns=state.turns,
        running_turns=_running_turns(state),
        false_claims=state.false_claims,
        branch=state.prepared.branch if state.prepared else "",
        head=state.main.head,
        pull_request=state.pull_request,
        merged_into=seen.merged_into if state.decision == "DONE" else "",
        subtasks=tuple(Subtask(i.id, plain(i.text, 1000), i.status) for i in standing.live_items(state)),
        checkpoints=tuple(CheckpointShown(c.label, c.commit, c.at, c.on_branch, c.stage) for c in history.checkpoints),
        questions=tuple(q for q in open_questions(state, history) if q.id not in answered),
        breaker=BreakerShown(breaker.state, breaker.no_progress, breaker.same_error, breaker.reason, stuck.name),
        usage=_usage(state),
        elapsed_s=round(state.elapsed.total_seconds(), 3),
        limits=_limits(state),
        held=HeldShown(held.guard, plain(held.reason), held.until, held.lane) if held else None,
        stopped=StoppedShown(stopped.kind, plain(stopped.reason, 2000), tuple(plain(e, 1000) for e in stopped.evidence))
        if stopped
        else None,
        forced=tuple(
            Forced(v.stage, v.completed_at, v.exit_reason) for v in state.main.visits if v.forced and v.completed_at
        ),
        unverified=unverified_parts(state, history),
        failures=standing.failures(state, history),
        warnings=tuple(
            CheckShown(c.name, plain(c.detail))
            for c in (history.checked.checks if history.checked else ())
            if c.status == "fail" and not c.blocking
        ),
        tricks=tuple(
            TrickShown(t.kind, t.path, t.detail, t.stage, t.times) for t in history.tricks.values() if not t.harmless
        ),
        remarks=history.remarks,
        left=standing.reported_left(state),
        coverage=history.measured.coverage if history.measured else None,
        next_command=standing.next_command(state, said, merged=bool(seen.merged_into), deleted=seen.deleted),
        started_at=state.task.opened_at,
        updated_at=state.now,
    )


def _usage(state: State) -> UsageShown:
    """Tokens and money as they were told; None is not known, which is not nothing."""
    usage = state.usage
    known = usage.tokens or not state.turns_without_tokens
    tokens_in, tokens_out = (usage.input_tokens, usage.output_tokens) if known else (None, None)
    return UsageShown(tokens_in, tokens_out, usage.usd, usage.estimated, state.known_usd)


def progress_percent(state: State) -> int:
    if state.decision == "DONE":
        return 100
    completed = {visit.stage for visit in state.main.visits if visit.completed_at is not None}
    return workflow_of(state.task).overall(state.main.stage, state.main.loop.iteration, completed)


def open_questions(state: State, history: TaskHistory) -> tuple[QuestionShown, ...]:
    """Questions without an answer, oldest first; a task that is over for good awaits none."""
    if standing.final_stop(state) is not None:
        return ()
    return tuple(_question(key, state, history) for key, asked in state.questions.items() if asked.answer is None)


def _question(key: EffectId, state: State, history: TaskHistory) -> QuestionShown:
    question = state.questions[key].question
    put = history.questions.get(key)
    return QuestionShown(
        id=key,
        name=question.name,
        text=plain(question.text, 4000),
        detail="\n".join(plain(line, 1000) for line in question.details[:60]),
        options=tuple(Option(plain(o.key), plain(o.meaning)) for o in question.options),
        default=question.default,
        asked_at=put.asked_at if put else None,
        deadline_at=question.deadline_at,
    )


def unverified_parts(state: State, history: TaskHistory) -> tuple[CheckShown, ...]:
    """Checks that were not made, as of the last time QA was measured, and items that a person ticked."""
    checks = history.checked.checks if history.checked else ()
    ticked = workflow_of(state.task).unverified(state)
    return (
        *(CheckShown(c.name, plain(c.detail)) for c in checks if c.status == "n/a"),
        *(CheckShown(f"{SUBTASK}{id}", "ticked by a person") for id in ticked),
        *(CheckShown(NOTICE, plain(told)) for told in unnoticed_work(state)),
    )


def _running_turns(state: State) -> tuple[TurnShown, ...]:
    return tuple(
        TurnShown(effect.turn, effect.stage, effect.role, effect.agent, effect.model, effect.begun_at)
        for effect in state.open.values()
        if isinstance(effect, RunAgent) and standing.final_stop(state) is None
    )


def _limits(state: State) -> LimitsShown:
    set_by_user, window = asdict(state.task.settings.limits), state.window
    shown = {name: set_by_user[name] for name in LimitsShown.__struct_fields__ if name in set_by_user}
    ends_at = window.started_at + HOUR if window else None
    return LimitsShown(**shown, calls_this_hour=window.calls if window else 0, window_ends_at=ends_at)
