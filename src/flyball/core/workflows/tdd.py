"""The `tdd` workflow: RED -> GREEN -> REFACTOR -> DOCUMENT -> QA -> SHIP; a QA rejection leads back to GREEN."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core import kernel, opening, questions, shipping, stages
from flyball.core.criteria import criteria
from flyball.core.events import ItemsSet, Judged, Moved, TaskReopened, TurnSetAside
from flyball.core.feedback import as_criteria, wishes
from flyball.core.kernel import Stage
from flyball.core.monitor import Cure, change_cure
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.outcomes import Measured
from flyball.core.quantities import plural
from flyball.core.state import State
from flyball.core.task import EffectId, Item
from flyball.core.workflows.table import BOTH_GATES, Workflow

QA_ATTEMPTS = 3
STAGES = {
    "RED": Stage("RED", "tester", "red", stages.red),
    "GREEN": Stage("GREEN", "implementer", "green", stages.green),
    "REFACTOR": Stage("REFACTOR", "refactorer", "refactor", stages.refactor),
    "DOCUMENT": Stage("DOCUMENT", "documenter", "document", stages.document),
    "QA": Stage("QA", "qa", "qa", stages.qa),
}
ORDER = (*STAGES, "SHIP")


def next_effects(state: State) -> Next:
    """What comes next for a tdd task."""
    first = _opening(state) or _asking(state)
    if first is not None:
        return first
    if state.exiting:
        return _leave(state)
    if state.stage == "SHIP":
        return shipping.ship(state, "gates passed")
    if state.stage == "QA":
        return _review(state)
    return _work(state)


def _opening(state: State) -> Next | None:
    """Before any work: a workspace, gates that can run, criteria."""
    first = opening.opened(state, checks=True) or opening.told_apart(state)
    if first is None and not state.items:
        return _plan_criteria(state)
    return first


def _asking(state: State) -> Next | None:
    """What a person, or the reviewer in their place, must say first."""
    if state.to_ask:
        return questions.put(state, state.to_ask[0])
    if state.task.settings.attended and not state.items_confirmed and not state.iterations and not state.pass_turn:
        return questions.put(state, questions.confirm_criteria(state))
    if state.consent_wanted:
        return opening.consent(state, "qa", "the QA reviewer")
    return None


def _plan_criteria(state: State) -> Next:
    """One planner turn writes the acceptance criteria; without an answer the request itself is the criterion."""
    if not state.pass_turn:
        return kernel.spawn(state, role="planner", purpose="criteria")
    turn = kernel.ended_turn(state)
    if isinstance(turn, Next):
        return turn
    found = criteria(turn.claim.plan)
    if found:
        items = tuple(Item(c.id, c.text) for c in found)
        return record(
            ItemsSet(items, "planner"),
            TurnSetAside(state.pass_turn, "planned", plural(len(items), "criterion", "criteria")),
        )
    request = " ".join(state.task.request.split())
    return record(
        ItemsSet((Item("AC-1", request),), "request"),
        TurnSetAside(state.pass_turn, "planned", "no criteria in the planner's report"),
    )


def _work(state: State) -> Next:
    stage = STAGES[state.stage]
    measured = kernel.work(state, stage)
    if isinstance(measured, Next):
        return measured
    return record(*kernel.evaluate(state, stage, measured))


def _leave(state: State) -> Next:
    """Both gates held: keep the tree that was measured, then go on; QA changes none, so there is nothing to keep."""
    saved = None if state.stage == "QA" else kernel.accept(state)
    if isinstance(saved, Next):
        return saved
    signalled = state.judged is not None and state.judged.can_exit
    reason = (
        BOTH_GATES
        if signalled
        else "the gate passed, and a person accepted it though the agent did not say that it is done"
    )
    return record(Moved(_following(state), state.stage, reason))


def _following(state: State) -> str:
    if state.stage == "GREEN" and state.rejected:
        return "QA"
    return ORDER[ORDER.index(state.stage) + 1]


def _review(state: State) -> Next:
    """QA: measure the eleven criteria, then let a reviewer judge a disposable copy with those results before it."""
    stage = STAGES["QA"]
    if state.judged is not None and state.judged.rejected:
        return _rejected_for_good(state)
    name = f"measure/qa-{len(state.visits)}-{state.iteration + 1}"
    measured = state.outcomes.get(EffectId(name))
    if measured is None:
        return perform(kernel.measure(state, stage, name, state.head))
    if not isinstance(measured, Measured):
        return NOTHING
    if measured.measurement.unusable:
        return questions.put(state, questions.tool_unusable(measured.measurement.unusable))
    if not state.pass_turn:
        return kernel.next_turn(state, stage, copy="qa")
    turn = kernel.ended_turn(state)
    if isinstance(turn, Next):
        return turn
    judged, *learned = kernel.evaluate(state, stage, measured.measurement)
    assert isinstance(judged, Judged)
    if judged.rejected and state.qa_attempts + 1 >= QA_ATTEMPTS:
        why = f"QA rejected the work {plural(state.qa_attempts + 1, 'time')}: {'; '.join(judged.gate_1.missing[:1])}"
        return record(replace(judged, verdict=change_cure(judged.verdict, Cure.STOP, why)), *learned)
    if not judged.rejected:
        return record(judged, *learned)
    return record(judged, *learned, Moved("GREEN", "QA", "; ".join(judged.gate_1.missing[:3]), rejected=True))


def _rejected_for_good(state: State) -> Next:
    """After the last rejection only a person's reset leads back to GREEN, and the count goes on."""
    if state.reset:
        return record(Moved("GREEN", "QA", "sent back by a person", rejected=True))
    return questions.put(state, questions.qa_rejected(state))


def _skipped(state: State) -> Moved:
    following = "SHIP" if state.stage == "SHIP" else _following(state)
    return Moved(following, state.stage, "skipped by a person", forced=True)


def _reopened(state: State) -> Next:
    """Feedback is new criteria beside those that are met, and they begin with their tests."""
    new = as_criteria(wishes(state.feedback), state.items)
    met = tuple(replace(item, status="completed") for item in state.items)
    return record(
        TaskReopened(state.feedback, tuple(item.id for item in new)),
        ItemsSet((*met, *new), "person"),
        Moved("RED", state.stage, "reopened by a person"),
    )


WORKFLOW = Workflow(
    name="tdd",
    stages=ORDER,
    roles=("planner", *(s.role for s in STAGES.values())),
    next=next_effects,
    skipped=_skipped,
    reopened=_reopened,
)
