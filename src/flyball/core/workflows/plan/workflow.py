"""The `plan` workflow: GATHER -> PLAN <-> PLAN_REVIEW -> SCAFFOLD/EXECUTE batches -> FINAL_REVIEW -> REPORT.

Each batch goes EXECUTE -> REVIEW -> MONITOR -> CHECKPOINT. The task's own lane does the planning, integrating and reviewing; every
subtask of a batch is worked on in a lane named after it. GATHER, MONITOR and CHECKPOINT are code.

Batches are the kernel's (`core/loop/batches`); `batching.RULES` is what the plan brings to them. Where others plug in:
- a plan that another tool keeps: `sources` reads and marks it; `importing.follow` looks at it between batches, before any other step.
- learnings in prompts: `compose` of the kernel shows them; decisions of a batch are recorded by its lanes' turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flyball.core.loop import opening, questions
from flyball.core.loop.batches import integrating, lanes, monitoring, settling
from flyball.core.loop.step import Step
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import Moved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN
from flyball.core.workflows.plan import batching, finishing, importing, planning, source_fold
from flyball.core.workflows.plan.effects import DraftRead, ReadDraft
from flyball.core.workflows.plan.facts import FACTS
from flyball.core.workflows.plan.fold import FOLDS
from flyball.core.workflows.plan.percentages import overall_percent, stage_percent
from flyball.core.workflows.plan.prompts import CARDS, IMPLEMENTER, ROLES, brief
from flyball.core.workflows.plan.record import EMPTY
from flyball.core.workflows.plan.sources.effects import EntriesMarked, MarkEntries, PlanRead, ReadPlan
from flyball.core.workflows.plan.story import story

STEPS: dict[str, Callable[[State, Lane], Step]] = {
    "GATHER": planning.gather,
    "PLAN": planning.plan,
    "PLAN_REVIEW": planning.review,
    "SCAFFOLD": batching.execute,
    "EXECUTE": batching.execute,
    "REVIEW": partial(integrating.integrate, batching.RULES),
    "MONITOR": partial(monitoring.monitor, batching.RULES),
    "CHECKPOINT": partial(settling.settle, batching.RULES),
    "FINAL_REVIEW": finishing.final_review,
    "REPORT": finishing.report,
}


def next_step(state: State, lane: Lane) -> Step:
    """What comes next in a lane: that of the task, or a subtask's."""
    if lane.name != MAIN:
        return lanes.step(batching.RULES, state, lane)
    first = opening.prepare(state)
    if first is not None:
        return first
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    return importing.follow(state, lane) or STEPS[lane.stage](state, lane)


def _skipped(state: State, lane: Lane) -> Moved:
    """A subtask that is skipped is left out; of the task's own stages those with a judgement can be skipped, the others are code."""
    told = "skipped by a person"
    if lane.name != MAIN:
        return Moved(batching.RULES.reviewing, lane.stage, told, forced=True, lane=lane.name)
    following = {"REVIEW": "MONITOR", "MONITOR": "CHECKPOINT", "FINAL_REVIEW": "REPORT"}.get(lane.stage, lane.stage)
    if lane.stage in {"PLAN", "PLAN_REVIEW"} and state.items:
        following = planning.following(state)
    return Moved(following, lane.stage, told, forced=following != lane.stage or bool(state.batches.parked))


WORKFLOW = Workflow(
    name="plan",
    stages=tuple(STEPS),
    roles=tuple(ROLES),
    next=next_step,
    skipped=_skipped,
    brief=brief,
    reopened=finishing.reopened,
    rolled_back_to="GATHER",
    undo=settling.undo,
    record=EMPTY,
    folds={**FOLDS, **source_fold.FOLDS},
    ended=source_fold.ENDED,
    facts=FACTS,
    effects=(ReadPlan, MarkEntries, ReadDraft),
    outcomes=(PlanRead, EntriesMarked, DraftRead),
    imports=True,
    cards=CARDS,
    author=IMPLEMENTER,
    closing="REPORT",
    planning=frozenset({"GATHER", "PLAN", "PLAN_REVIEW"}),
    percent=stage_percent,
    overall=overall_percent,
    demo=Demo(__package__, "docs/receipts.md"),
    story=story,
    unverified=finishing.unverified,
)
