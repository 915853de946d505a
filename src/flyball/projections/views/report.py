"""The report of a task as a value: what was done, how it was verified, decided, forced and spent, and what is left."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from flyball.core.loop.gates import NOBODY
from flyball.core.loop.shipping import gates_told, missing_review
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import PersonSpoke
from flyball.core.model.state import State
from flyball.core.model.task import Forecast
from flyball.core.text.quantities import plural
from flyball.projections.history import records as rec
from flyball.projections.history.reviews import ReviewRecord, open_findings, reviews
from flyball.projections.history.spend import Spend, TurnSpend, spend, spend_of_turns, total
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views import standing
from flyball.projections.views.lanes import missing_conditions
from flyball.projections.views.status import CheckShown, unverified_parts
from flyball.projections.wording import plain

NOT_IN_CHECKPOINTS = "Checkpoints hold no submodule contents and no ignored files."


class CriterionShown(msgspec.Struct, frozen=True):
    id: str
    text: str
    state: str


class CommitMade(msgspec.Struct, frozen=True):
    label: str
    sha: str
    at: datetime


class StageTime(msgspec.Struct, frozen=True):
    stage: str
    started_at: datetime
    completed_at: datetime | None
    seconds: float
    iterations: int
    exit_reason: str
    forced: bool


class FalseClaim(msgspec.Struct, frozen=True):
    """A turn that signalled exit while the gate did not hold."""

    at: datetime
    stage: str
    iteration: int
    turn: int
    missing: tuple[str, ...]


class Disagreement(msgspec.Struct, frozen=True):
    """Numbers a turn reported that are not what was measured."""

    stage: str
    iteration: int
    turn: int
    numbers: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    """Everything a person needs to judge the work without having watched it."""

    task: str
    workflow: str
    goal: str
    source: str
    outcome: str
    decision: str
    reason: str
    evidence: tuple[str, ...]
    stage: str
    base: str
    branch: str
    head: str
    started_at: datetime
    updated_at: datetime
    elapsed_s: float
    forecast: Forecast | None
    criteria: tuple[CriterionShown, ...]
    commits: tuple[CommitMade, ...]
    files: rec.FileChanges
    verifications: tuple[rec.Verification, ...]
    last_measured: rec.Verification | None
    decisions: tuple[rec.Learning, ...]
    anti_patterns: tuple[rec.Learning, ...]
    learnings_given: tuple[rec.LearningGiven, ...]
    stages: tuple[StageTime, ...]
    forced: tuple[rec.Move, ...]
    unverified: tuple[CheckShown, ...]
    unreviewed: str
    failures: tuple[str, ...]
    tricks: tuple[rec.TrickSeen, ...]
    remarks: rec.RemarksSeen
    false_claims: tuple[FalseClaim, ...]
    disagreements: tuple[Disagreement, ...]
    reviews: tuple[ReviewRecord, ...]
    consents: tuple[rec.Consent, ...]
    rollbacks: tuple[rec.Rollback, ...]
    questions: tuple[rec.QuestionRecord, ...]
    words: tuple[rec.WordRecord, ...]
    waits: tuple[rec.Hold, ...]
    iterations: int
    turns: tuple[TurnSpend, ...]
    spend: tuple[Spend, ...]
    total: Spend
    notes: tuple[str, ...]
    left: tuple[str, ...]
    next_command: str


def _commits(history: TaskHistory) -> Iterator[CommitMade]:
    """What the branch holds, commit by commit: of a batch each subtask's, the last of which is the checkpoint."""
    for checkpoint in history.checkpoints[1:]:
        if not checkpoint.on_branch:
            continue
        pieces = history.pieces.get(checkpoint.label, [])
        for item, commit, at in pieces[:-1]:
            yield CommitMade(f"{checkpoint.label}: {item}", commit, at)
        last = f": {pieces[-1][0]}" if pieces else ""
        yield CommitMade(f"{checkpoint.label}{last}", checkpoint.commit, checkpoint.at)


def report(state: State, history: TaskHistory, said: Sequence[PersonSpoke] = ()) -> Report:
    stopped = state.stopped
    source = state.task.source
    measured = history.measured
    learnings = history.learnings
    return Report(
        task=state.task.id,
        workflow=state.task.workflow,
        goal=state.task.request,
        source=source.path if source else "",
        outcome=_outcome(state),
        decision=state.decision,
        reason=plain(standing.reason(state, history), 2000),
        evidence=tuple(plain(e, 500) for e in stopped.evidence[:20]) if stopped else (),
        stage=state.main.stage,
        base=state.prepared.base if state.prepared else "",
        branch=state.prepared.branch if state.prepared and standing.is_delivered(state) else "",
        head=state.main.head,
        started_at=state.task.opened_at,
        updated_at=history.last_activity or state.now,
        elapsed_s=round(state.elapsed.total_seconds(), 3),
        forecast=state.task.forecast,
        criteria=tuple(CriterionShown(i.id, plain(i.text, 1000), i.status) for i in standing.live_items(state)),
        commits=tuple(_commits(history)),
        files=measured.files if measured else rec.FileChanges(),
        verifications=tuple(history.verified),
        last_measured=_last_measured(state, history),
        decisions=tuple(x for x in learnings if x.kind == "decision"),
        anti_patterns=tuple(x for x in learnings if x.kind == "anti-pattern"),
        learnings_given=history.given,
        stages=_stages(state),
        forced=tuple(m for m in history.moves if m.forced),
        unverified=unverified_parts(state, history),
        unreviewed=missing_review(state),
        failures=standing.failures(state, history),
        tricks=tuple(history.tricks.values()),
        remarks=history.remarks,
        false_claims=tuple(
            FalseClaim(j.at, j.stage, j.iteration, j.turn, j.missing) for j in history.judgements if j.false_claim
        ),
        disagreements=tuple(
            Disagreement(j.stage, j.iteration, j.turn, j.disagreements) for j in history.judgements if j.disagreements
        ),
        reviews=reviews(history.turns, state.task.agents),
        consents=tuple(history.consents),
        rollbacks=tuple(history.rollbacks),
        questions=tuple(history.questions.values()),
        words=tuple(history.words),
        waits=tuple(history.holds),
        iterations=state.iterations,
        turns=spend_of_turns(history.turns),
        spend=spend(history.turns),
        total=total(history.turns),
        notes=(*history.notes, *_project_prompts(state), NOT_IN_CHECKPOINTS),
        left=_left_to_do(state, history),
        next_command=standing.next_command(state, said),
    )


def _last_measured(state: State, history: TaskHistory) -> rec.Verification | None:
    """What was measured last and proved nothing; of lanes that are gone nobody asks that any more."""
    last = history.last_measured
    measured = last if last is not None and last.lane in state.lanes else history.measured
    return None if measured in history.verified else measured


def _outcome(state: State) -> str:
    """One sentence: that gates passed, or which failures remain, and no more than that."""
    forced = ", ".join(standing.forced_stages(state))
    doubt = f"; not verified, skipped by a person: {forced}" if forced else ""
    doubt += f"; {NOBODY}" if missing_review(state) else ""
    message = gates_told(state, state.main, "in all other stages gates passed" if forced else "gates passed")
    passed = f"{message}{doubt}"
    if state.decision == "DONE":
        return f"Done: {passed}."
    if state.stopped is None:
        return f"Closing: {passed}." if standing.is_closing(state) else f"Under way in {state.main.stage}{doubt}."
    kinds = {
        "blocked": "Blocked: a person is needed",
        "aborted": "Aborted by a person",
        "limit": "Stopped at a limit",
        "paused": "Paused",
        "no_agent": "Stopped: no agent is available",
        "error": "Stopped by an internal error",
        "interrupted": "Interrupted",
    }
    return f"{kinds[state.stopped.kind]} in {state.main.stage}{doubt}."


def _stages(state: State) -> tuple[StageTime, ...]:
    return tuple(
        StageTime(
            v.stage,
            v.started_at,
            v.completed_at,
            ((v.completed_at or state.now) - v.started_at).total_seconds(),
            v.iterations if v.completed_at else state.main.loop.iteration,
            plain(v.exit_reason),
            v.forced,
        )
        for v in state.main.visits
    )


def _project_prompts(state: State) -> Iterator[str]:
    if state.task.settings.prompts:
        told = (f"{role} ({plain(own.origin)})" for role, own in state.task.settings.prompts.items())
        yield f"Prompts of the project: {', '.join(told)}."


def _left_to_do(state: State, history: TaskHistory) -> tuple[str, ...]:
    left = [f"{i.id}: {plain(i.text)}" for i in standing.live_items(state) if i.status != "completed"]
    left += (f"the last turn names: {each}" for each in standing.reported_left(state))
    left += missing_conditions(state)
    left += [f"stage {stage} was skipped and is not verified" for stage in standing.forced_stages(state)]
    left += [each.clause for each in unverified_parts(state, history)]
    left += [
        f"{turn.role} in turn {turn.number}, {found.severity}, {found.place or 'no place'}: {found.message}"
        for turn, found in open_findings(history.turns)
    ]
    now = standing.known_failing(state, history)
    if now:
        left.append(f"{plural(now, 'test')} failed before the task began and still {'fails' if now == 1 else 'fail'}")
    if standing.final_stop(state) is not None:
        return tuple(left)
    asked = [f"question {key} waits for an answer" for key, a in state.questions.items() if a.answer is None]
    working = [effect for effect in state.open.values() if isinstance(effect, RunAgent)]
    return (*left, *asked, *(f"turn {w.turn} is under way" for w in working))
