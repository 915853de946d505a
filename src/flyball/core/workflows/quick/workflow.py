"""The stages of `quick`: one role works until the gates hold and it says so, another model looks at it once, and it ships.

A rejection leads back to IMPLEMENT with the findings; the third one is put to a person. Accepted tests may grow, not weaken.
"""

from collections.abc import Collection
from functools import partial

from msgspec.structs import replace

from flyball.core.loop import gates, kernel, opening, panel, questions, shipping
from flyball.core.loop.feedback import reopen_at, requested_criteria
from flyball.core.loop.kernel import Stage
from flyball.core.loop.progress import StageNumbers
from flyball.core.loop.step import Step, first, record
from flyball.core.loop.transitions import HELD, LEFT_OUT, REJECTED, Transition, move, skip
from flyball.core.loop.workflow import Demo, Workflow
from flyball.core.model.events import ItemsSet
from flyball.core.model.state import Lane, State
from flyball.core.workflows.quick.prompts import CARDS, brief

IMPLEMENTER, REVIEWER = "implementer", "reviewer"
REJECTIONS = 3
WEIGHTS = {"IMPLEMENT": 70, "REVIEW": 30}


IMPLEMENT = Stage("IMPLEMENT", IMPLEMENTER, "green", gates.green_work, brief, product=True)
REVIEW = Stage("REVIEW", REVIEWER, "gates", gates.review, brief)
TRANSITIONS = (
    Transition("IMPLEMENT", HELD, "REVIEW"),
    Transition("REVIEW", HELD, "SHIP"),
    Transition("REVIEW", LEFT_OUT, "SHIP", unreviewed=True),
    Transition("REVIEW", REJECTED, "IMPLEMENT", rejected=True),
)


def next_step(state: State, lane: Lane) -> Step:
    first(opening.prepare(state))
    if not state.items:
        return record(ItemsSet(requested_criteria(state.task.request), "request"))
    opening.ask_first(state, lane, brief, REVIEWER, "the reviewer")
    return {"IMPLEMENT": _implement, "REVIEW": _review, "SHIP": _ship}[lane.stage](state, lane)


def _implement(state: State, lane: Lane) -> Step:
    if lane.loop.exiting:
        kernel.accept(state, lane, IMPLEMENT)
        return record(move(TRANSITIONS, lane, HELD, kernel.why_left(lane)))
    return kernel.iterate(state, lane, IMPLEMENT, lambda wanted: replace(wanted, tests_may_grow=True))


def _review(state: State, lane: Lane) -> Step:
    """One reviewer on a disposable copy; what was measured when the work was accepted is before it."""
    if lane.loop.exiting:
        return record(move(TRANSITIONS, lane, HELD, kernel.why_left(lane)))
    if lane.loop.judged is not None and lane.loop.judged.rejected:
        # Back to work with the findings; from the last rejection on only a person's reset leads there.
        assert lane.loop.judged is not None
        if lane.rejections < REJECTIONS or lane.loop.reset:
            why = "; ".join(lane.loop.judged.gate_1.missing[:3]) or "rejected"
            return record(move(TRANSITIONS, lane, REJECTED, why))
        return questions.put(state, lane, questions.work_rejected(state, lane, "Review"))
    assert lane.loop.entry is not None
    unneeded = gates.left_out(state, lane, lane.loop.entry)
    if unneeded and not lane.loop.iteration and lane.panel is None:
        return record(move(TRANSITIONS, lane, LEFT_OUT, unneeded))
    if lane.panel is None:
        first(kernel.ask_for_signal(state, lane))
    answers = panel.convene(state, lane, brief, (REVIEWER,), purpose=kernel.purpose_of(lane))
    return record(*kernel.verdict_on(state, lane, REVIEW, *answers[REVIEWER], lane.loop.entry))


def _ship(state: State, lane: Lane) -> Step:
    approved = "" if shipping.missing_review(state) else " and the review approved"
    return shipping.ship(state, lane, f"{shipping.gates_told(state, lane)}{approved}")


def stage_percent(stage: str, numbers: StageNumbers) -> int:
    """How far a stage is, 0 to 100: the tests that pass, and at the review what the reviewer says."""
    if stage == "IMPLEMENT":
        return numbers.tests_percent
    return 100 if numbers.approved else 0


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind; what a rejection leads back to is ahead again."""
    return sum(weight for name, weight in WEIGHTS.items() if name in completed and name != stage)


WORKFLOW = Workflow(
    name="quick",
    stages=("IMPLEMENT", "REVIEW", "SHIP"),
    transitions=TRANSITIONS,
    roles=(IMPLEMENTER, REVIEWER),
    next=next_step,
    skipped=lambda _state, lane: skip(TRANSITIONS, lane),
    brief=brief,
    reopened=partial(reopen_at, "IMPLEMENT"),
    cards=CARDS,
    author=IMPLEMENTER,
    verifying=frozenset({"IMPLEMENT", "REVIEW"}),
    closing="SHIP",
    percent=stage_percent,
    overall=overall_percent,
    demo=Demo(__package__, "docs/discount.md"),
)
