"""How a plan's subtasks are worked on in batches: who works on them, who reviews them, and where it goes on."""

from __future__ import annotations

from flyball.core.loop import gates, questions
from flyball.core.loop.batches import choosing, executing, integrating
from flyball.core.loop.batches.reviewing import review_by, weigh
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step
from flyball.core.model.batch_events import BatchReviewed
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Question
from flyball.core.model.state import Lane, State
from flyball.core.model.task import kept_paths
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan.importing import source_of
from flyball.core.workflows.plan.planning import following
from flyball.core.workflows.plan.prompts import FIXER, IMPLEMENTER, REVIEWER, SCAFFOLDER, brief
from flyball.core.workflows.plan.record import record_of

SCAFFOLD_REVISIONS = 3


def stage_of(state: State, lane: Lane) -> Stage:
    """Who works in a lane depends on the subtask, and on whether it was sent back."""
    item = choosing.find(state.items, lane.item)
    first = SCAFFOLDER if item.kind == choosing.SCAFFOLD else IMPLEMENTER
    role = FIXER if lane.item in state.batches.rework else first
    return Stage(lane.stage, role, "green", gates.green_work, brief, product=True)


def judge(state: State, lane: Lane, batch: Batch) -> Step | BatchReviewed:
    """One reviewer on a disposable copy of the candidate tip has its say on every subtask."""
    said = review_by(state, lane, brief, REVIEWER, commit=integrating.tip(state, batch), purpose="batch")
    return said if isinstance(said, Step) else weigh(state, batch, said[0].turn, said[1])


RULES = BatchRules(
    reviewing="REVIEW",
    monitoring="MONITOR",
    settling="CHECKPOINT",
    consenting=REVIEWER,
    brief=brief,
    stage_of=stage_of,
    judge=judge,
    following=following,
    kept=lambda state: kept_paths(state.task.source),
    replans=lambda state: source_of(state) is None,
)


def execute(state: State, lane: Lane) -> Step:
    """A batch after another; a scaffold that is sent back again and again is put to a person."""
    if record_of(state).scaffold_rejections >= SCAFFOLD_REVISIONS and not choosing.subtask_lanes(state):
        return questions.put(state, lane, _scaffold_rejected(state))
    return executing.execute(RULES, state, lane)


def _scaffold_rejected(state: State) -> Question:
    why = [f"{item}: {'; '.join(work.reasons)}" for item, work in state.batches.rework.items()]
    text = f"The scaffold was sent back {plural(record_of(state).scaffold_rejections, 'time')}"
    return Question("scaffold-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))
