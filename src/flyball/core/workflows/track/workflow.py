"""The `track` workflow: PLAN -> EVALUATE_PLAN -> EXECUTE -> EVALUATE_EXECUTION <-> FIX -> BUSINESS_SYNC -> COMPLETE.

EXECUTE works in batches (`core/loop/batches`): INTEGRATE, MONITOR and CHECKPOINT are the steps of one, and code. Evaluators are a
panel. The documents of the track are the user's: they are read each time, and edited by effects that name what they want to be true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from flyball.core.loop import opening, questions
from flyball.core.loop.batches import integrating, lanes, monitoring, settling
from flyball.core.loop.step import Step, halt
from flyball.core.loop.transitions import BY_A_PERSON
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import Moved, TaskStopped
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN
from flyball.core.workflows.track import evaluating, executing, finishing, planning, wording
from flyball.core.workflows.track.effects import EFFECTS, OUTCOMES
from flyball.core.workflows.track.facts import FACTS
from flyball.core.workflows.track.fold import BEGUN, ENDED, FOLDS
from flyball.core.workflows.track.prompts import CARDS, EVALUATORS, EXECUTOR, PLAN_EVALUATOR, ROLES, brief
from flyball.core.workflows.track.record import EMPTY, record_of

MOST_ITERATIONS = 50
WEIGHTS = {"PLAN": 10, "EVALUATE_PLAN": 5, "EXECUTE": 55, "EVALUATE_EXECUTION": 20, "BUSINESS_SYNC": 10}

STEPS: dict[str, Callable[[State, Lane], Step]] = {
    "PLAN": planning.plan,
    "EVALUATE_PLAN": planning.evaluate,
    "EXECUTE": executing.execute,
    "INTEGRATE": partial(integrating.integrate, executing.RULES),
    "MONITOR": partial(monitoring.monitor, executing.RULES),
    "CHECKPOINT": partial(settling.settle, executing.RULES),
    "EVALUATE_EXECUTION": evaluating.evaluate,
    "FIX": finishing.fix,
    "BUSINESS_SYNC": finishing.sync,
    "COMPLETE": finishing.complete,
}
_SKIPPED = {
    "PLAN": "EXECUTE",
    "EVALUATE_PLAN": "EXECUTE",
    "INTEGRATE": "MONITOR",
    "MONITOR": "CHECKPOINT",
    "EVALUATE_EXECUTION": "COMPLETE",
    "FIX": "COMPLETE",
    "BUSINESS_SYNC": "COMPLETE",
}
"""Where a person's `skip` leads; a plan cannot be skipped before there is one, nor can the work or the end."""


def next_step(state: State, lane: Lane) -> Step:
    """What comes next in a lane: that of the task, or a task of the plan's."""
    if lane.name != MAIN:
        return lanes.step(executing.RULES, state, lane)
    first = opening.prepare(state)
    if first is not None:
        return first
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    if lane.loop.consent_wanted:
        return opening.consent(state, lane, brief, PLAN_EVALUATOR, "the evaluator")
    if _is_spent(state) and lane.turn is None and lane.panel is None and lane.stage != "COMPLETE":
        told = f"iteration limit of a track reached ({state.iterations} of {MOST_ITERATIONS})"
        return halt(TaskStopped("limit", f"{told}; to go on: flyball resume {state.task.id} --max-iterations N"))
    return STEPS[lane.stage](state, lane)


def _is_spent(state: State) -> bool:
    """Whether the iterations of a track are used up; a limit that a person set is seen to before every turn instead."""
    return state.task.settings.limits.max_iterations is None and state.iterations >= MOST_ITERATIONS


def _skip(state: State, lane: Lane) -> Moved:
    if lane.name != MAIN:
        return Moved(executing.RULES.reviewing, lane.stage, BY_A_PERSON, forced=True, lane=lane.name)
    following = _SKIPPED.get(lane.stage, lane.stage)
    if lane.stage in {"PLAN", "EVALUATE_PLAN"} and not state.items:
        following = lane.stage
    return Moved(following, lane.stage, BY_A_PERSON, forced=following != lane.stage)


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind; what a failed evaluation leads back to is ahead again."""
    return sum(weight for name, weight in WEIGHTS.items() if name in completed and name != stage)


WORKFLOW = Workflow(
    name="track",
    stages=tuple(STEPS),
    roles=(*ROLES, *EVALUATORS),
    next=next_step,
    skipped=_skip,
    brief=brief,
    reopened=finishing.reopen,
    rolled_back_to="EXECUTE",
    undo=settling.undo,
    record=EMPTY,
    folds=FOLDS,
    begun=BEGUN,
    ended=ENDED,
    facts=FACTS,
    effects=EFFECTS,
    outcomes=OUTCOMES,
    cards=CARDS,
    author=EXECUTOR,
    source="track",
    closing="COMPLETE",
    percent=lambda _stage, numbers: numbers.tests_percent,
    overall=overall_percent,
    demo=Demo(__package__, "conductor/tracks/coupons_20260105"),
    story=wording.story,
    lines=wording.LINES,
    notes=wording.NOTES,
    limit=lambda state: ("max_iterations", state.iterations) if _is_spent(state) else ("", 0),
    unverified=lambda state: record_of(state).unverified,
)
