"""The `plan` workflow: GATHER -> PLAN <-> PLAN_REVIEW -> SCAFFOLD/EXECUTE batches -> FINAL_REVIEW -> REPORT.

Each batch goes EXECUTE -> REVIEW -> MONITOR -> CHECKPOINT. The task's own lane does the planning, integrating and reviewing; every
subtask of a batch is worked on in a lane named after it. GATHER, MONITOR and CHECKPOINT are code.

Batches are the kernel's (`core/loop/batches`); `RULES` is what the plan brings to them. Where others plug in:
- a plan that another tool keeps: `sources` reads and marks it; `importing.follow` looks at it between batches, before any other step.
- learnings in prompts: `compose` of the kernel shows them; decisions of a batch are recorded by its lanes' turns.
"""

from collections.abc import Callable, Collection
from functools import partial

from flyball.core.loop import gates, opening, questions
from flyball.core.loop.batches import choosing, executing, integrating, lanes, monitoring, settling
from flyball.core.loop.batches.reviewing import judge_batch, review_by
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, first
from flyball.core.loop.transitions import BY_A_PERSON
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.batch_events import BatchReviewed
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Question
from flyball.core.model.events import Moved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, kept_paths
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan import finishing, importing, planning, wording
from flyball.core.workflows.plan.effects import DraftRead, EntriesMarked, MarkEntries, PlanRead, ReadDraft, ReadPlan
from flyball.core.workflows.plan.facts import FACTS
from flyball.core.workflows.plan.fold import ENDED, FOLDS
from flyball.core.workflows.plan.prompts import CARDS, FIXER, IMPLEMENTER, REVIEWER, SCAFFOLDER, brief
from flyball.core.workflows.plan.record import EMPTY, record_of

SCAFFOLD_REVISIONS = 3


def _stage_of(state: State, lane: Lane) -> Stage:
    """Who works in a lane depends on the subtask, and on whether it was sent back."""
    item = choosing.find(state.items, lane.item)
    first = SCAFFOLDER if item.kind == choosing.SCAFFOLD else IMPLEMENTER
    role = FIXER if lane.item in state.batches.rework else first
    return Stage(lane.stage, role, "green", gates.green_work, brief, product=True)


def _judge(state: State, lane: Lane, batch: Batch) -> BatchReviewed:
    """One reviewer on a disposable copy of the candidate tip has its say on every subtask."""
    said = review_by(state, lane, brief, REVIEWER, commit=integrating.tip(state, batch), purpose="batch")
    return judge_batch(state, batch, said[0].turn, REVIEWER, said[1])


RULES = BatchRules(
    reviewing="REVIEW",
    monitoring="MONITOR",
    settling="CHECKPOINT",
    consenting=REVIEWER,
    brief=brief,
    stage_of=_stage_of,
    judge=_judge,
    following=planning.following,
    kept=lambda state: kept_paths(state.task.source),
    replans=lambda state: importing.source_of(state) is None,
)


def _execute(state: State, lane: Lane) -> Step:
    """A batch after another; a scaffold that is sent back again and again is put to a person."""
    rejections = record_of(state).scaffold_rejections
    if rejections >= SCAFFOLD_REVISIONS and not choosing.subtask_lanes(state):
        why = [f"{item}: {'; '.join(work.reasons)}" for item, work in state.batches.rework.items()]
        text = f"The scaffold was sent back {plural(rejections, 'time')}"
        question = Question("scaffold-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))
        return questions.put(state, lane, question)
    return executing.execute(RULES, state, lane)


STEPS: dict[str, Callable[[State, Lane], Step]] = {
    "GATHER": planning.gather,
    "PLAN": planning.plan,
    "PLAN_REVIEW": planning.review,
    "SCAFFOLD": _execute,
    "EXECUTE": _execute,
    "REVIEW": partial(integrating.integrate, RULES),
    "MONITOR": partial(monitoring.monitor, RULES),
    "CHECKPOINT": partial(settling.settle, RULES),
    "FINAL_REVIEW": finishing.final_review,
    "REPORT": finishing.report,
}
WEIGHTS = {"GATHER": 5, "PLAN": 10, "PLAN_REVIEW": 5, "SCAFFOLD": 10, "EXECUTE": 50, "FINAL_REVIEW": 15}


def next_step(state: State, lane: Lane) -> Step:
    """What comes next in a lane: that of the task, or a subtask's."""
    if lane.name != MAIN:
        return lanes.step(RULES, state, lane)
    first(opening.prepare(state))
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    return importing.follow(state, lane) or STEPS[lane.stage](state, lane)


def _skip(state: State, lane: Lane) -> Moved:
    """A subtask that is skipped is left out; of the task's own stages those with a judgement can be skipped, the others are code."""
    if lane.name != MAIN:
        return Moved(RULES.reviewing, lane.stage, BY_A_PERSON, forced=True, lane=lane.name)
    following = {"REVIEW": "MONITOR", "MONITOR": "CHECKPOINT", "FINAL_REVIEW": "REPORT"}.get(lane.stage, lane.stage)
    if lane.stage in {"PLAN", "PLAN_REVIEW"} and state.items:
        following = planning.following(state)
    return Moved(following, lane.stage, BY_A_PERSON, forced=following != lane.stage or bool(state.batches.parked))


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind for good; batches come and go, so theirs count when the last was accepted."""
    if stage not in {"FINAL_REVIEW", "REPORT"}:
        return sum(WEIGHTS[name] for name in ("GATHER", "PLAN", "PLAN_REVIEW") if name in completed and name != stage)
    return 100 - (WEIGHTS["FINAL_REVIEW"] if stage == "FINAL_REVIEW" else 0)


WORKFLOW = Workflow(
    name="plan",
    stages=tuple(STEPS),
    roles=tuple(card.name for card in CARDS),
    next=next_step,
    skipped=_skip,
    brief=brief,
    reopened=finishing.reopen,
    rolled_back_to="GATHER",
    undo=settling.undo,
    record=EMPTY,
    folds=FOLDS,
    ended=ENDED,
    facts=FACTS,
    effects=(ReadPlan, MarkEntries, ReadDraft),
    outcomes=(PlanRead, EntriesMarked, DraftRead),
    imports=True,
    cards=CARDS,
    author=IMPLEMENTER,
    closing="REPORT",
    planning=frozenset({"GATHER", "PLAN", "PLAN_REVIEW"}),
    percent=lambda _stage, numbers: numbers.tests_percent,
    overall=overall_percent,
    demo=Demo(__package__, "docs/receipts.md"),
    story=wording.story,
    lines=wording.LINES,
    notes=wording.NOTES,
    unverified=finishing.unverified_items,
)
