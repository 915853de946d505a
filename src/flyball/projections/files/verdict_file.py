"""`verdict.json`: where a task stands in one small object, for programs that cannot read the journal."""

from datetime import datetime

import msgspec

from flyball.core.model.measurement import GateResult
from flyball.core.model.state import State
from flyball.core.text.scrubbing import scrub
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views import standing
from flyball.projections.views.lanes import missing_conditions
from flyball.projections.views.status import QuestionShown, Subtask, open_questions
from flyball.projections.wording import name_lane, plain

NAME = "verdict.json"
OUTPUT_SHOWN = 6_000


class GateShown(msgspec.Struct, frozen=True):
    """One gate as last measured; `output` is the end of what it said."""

    name: str
    command: str
    passed: bool
    exit_code: int | None
    broken: str
    output: str


class FindingShown(msgspec.Struct, frozen=True):
    severity: str
    message: str
    file: str
    line: int


class TaskVerdict(msgspec.Struct, frozen=True):
    """What flyball decided, why, and what is missing; `stopped` is empty while the loop runs."""

    task: str
    request: str
    workflow: str
    stage: str
    iteration: int
    decision: str
    reason: str
    stopped: str
    health: str
    items: tuple[Subtask, ...]
    missing: tuple[str, ...]
    findings: tuple[FindingShown, ...]
    gates: tuple[GateShown, ...]
    questions: tuple[QuestionShown, ...]
    next_command: str
    updated_at: datetime


def task_verdict(state: State, history: TaskHistory) -> TaskVerdict:
    measured = state.main.loop.last or state.main.loop.entry or state.baseline
    return TaskVerdict(
        task=state.task.id,
        request=state.task.request,
        workflow=state.task.workflow,
        stage=state.main.stage,
        iteration=state.main.loop.iteration,
        decision=state.decision,
        reason=plain(standing.reason(state, history), 1000),
        stopped=state.stopped.kind if state.stopped else "",
        health=standing.health(state, history),
        items=tuple(Subtask(i.id, plain(i.text, 500), i.status) for i in standing.live_items(state)),
        missing=missing_conditions(state),
        findings=tuple(
            FindingShown(f.severity, plain(name_lane(lane.name, f.message), 500), f.file, f.line)
            for lane in state.lanes.values()
            for f in lane.loop.findings
        ),
        gates=tuple(_gate(gate) for gate in measured.gates) if measured else (),
        questions=open_questions(state, history),
        next_command=standing.next_command(state),
        updated_at=history.last_activity or state.task.opened_at,
    )


def _gate(gate: GateResult) -> GateShown:
    said = scrub(gate.output)[-OUTPUT_SHOWN:]
    return GateShown(gate.name, plain(gate.command, 1000), gate.passed, gate.exit_code, plain(gate.broken), said)
