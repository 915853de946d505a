"""A subtask's lane: a workspace from the tip, turns until the gates hold and the agent says so, then it waits to be integrated."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.claims.claims import Claim
from flyball.core.loop import gates, kernel, opening, questions
from flyball.core.loop.gates import Weighed
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import NOTHING, Step, perform, record
from flyball.core.model.effects import CloseLane, Effect, Measure, OpenLane
from flyball.core.model.events import Fact, LaneClosed, Moved
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import WorkspaceClosed
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan import batches
from flyball.core.workflows.plan.batches import WAITING
from flyball.core.workflows.plan.facts import SubtaskFailed
from flyball.core.workflows.plan.grammar import SCAFFOLD
from flyball.core.workflows.plan.prompts import FIXER, IMPLEMENTER, REVIEWER, SCAFFOLDER, brief
from flyball.core.workflows.plan.record import record_of

CRASHES = 3
"""A failed process is started again twice at once; the third failure is the subtask's."""


def _worked(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """As for every green tree; but a tree that is what it was before is no work."""
    weighed = gates.green(state, lane, measured, claim)
    if not measured.unchanged:
        return weighed
    missing = (*weighed.gate.missing[: gates.SHOWN - 1], "no relevant change")
    return replace(weighed, gate=replace(weighed.gate, held=False, missing=missing))


def stage_of(state: State, lane: Lane) -> Stage:
    """The row of the table for a lane: who works there depends on the subtask and on whether it was sent back."""
    item = batches.find(state.items, lane.item)
    role = FIXER if lane.item in record_of(state).rework else SCAFFOLDER if item.kind == SCAFFOLD else IMPLEMENTER
    return Stage(lane.stage, role, "green", _worked, brief, product=True)


def step(state: State, lane: Lane) -> Step:
    """What comes next in a subtask's lane."""
    known = record_of(state)
    if state.baseline is None or state.removed:
        return NOTHING
    if lane.item in known.left_out:
        return close(lane, "left out by a person")
    if lane.item in known.failures:
        return close(lane, "given up")
    if lane.stage == WAITING:
        return NOTHING
    if not lane.tree:
        return perform(OpenLane(lane.effect_id(f"open/{known.number}"), base=lane.head, lane=lane.name))
    if lane.to_ask:
        return questions.put(state, lane, lane.to_ask[0])
    if lane.loop.consent_wanted:
        return opening.consent(state, lane, brief, REVIEWER, "the reviewer")
    if lane.crashes >= CRASHES and lane.turn is None:
        told = f"the agent crashed {plural(lane.crashes, 'time')} in a row: {lane.crash_detail}"
        return record(SubtaskFailed(lane.item, told))
    return _work(state, lane)


def _work(state: State, lane: Lane) -> Step:
    stage = stage_of(state, lane)
    if lane.loop.exiting:
        saved = kernel.accept(state, lane, stage)
        done = Moved(WAITING, lane.stage, kernel.why_left(lane), lane=lane.name)
        return saved if isinstance(saved, Step) else record(done)
    measured = kernel.work(state, lane, stage)
    if isinstance(measured, Step):
        return measured._replace(effects=tuple(_narrowed(state, lane, effect) for effect in measured.effects))
    return record(*kernel.evaluate(state, lane, stage, measured))


def _narrowed(state: State, lane: Lane, effect: Effect) -> Effect:
    """What is measured in a lane is its own subtask's work."""
    if not isinstance(effect, Measure):
        return effect
    return replace(effect, items=(batches.find(state.items, lane.item),), tests_may_grow=True)


def close(lane: Lane, reason: str, *facts: Fact) -> Step:
    """Remove a lane's workspace, then the lane; all it saved stays."""
    key = lane.effect_id("close")
    if not isinstance(lane.outcomes.get(key), WorkspaceClosed):
        return perform(CloseLane(key, lane=lane.name))
    return record(*facts, LaneClosed(lane.name, reason))
