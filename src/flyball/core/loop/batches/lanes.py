"""A subtask's lane: a workspace from the tip, turns until the gates hold and the agent says so, then it waits to be integrated."""

from __future__ import annotations

import re

from msgspec.structs import replace

from flyball.core.health.verdict import Health
from flyball.core.loop import kernel, opening
from flyball.core.loop.batches import choosing
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.step import NOTHING, Step, perform, record
from flyball.core.model.batch_events import LaneClosed, SubtaskDeferred, SubtaskFailed
from flyball.core.model.effects import CloseLane, Measure, OpenLane
from flyball.core.model.events import Moved
from flyball.core.model.outcomes import WorkspaceClosed
from flyball.core.model.state import Lane, State
from flyball.core.text.manifests import may_share_environment
from flyball.core.text.quantities import plural

CRASHES = 3
"""A failed process is started again twice at once; the third failure is the subtask's."""
REPLAN = "re-plan"


def step(rules: BatchRules, state: State, lane: Lane) -> Step:
    if state.baseline is None or state.removed:
        return NOTHING
    dropped = choosing.why_dropped(state, lane)
    if dropped and lane.turn is None:
        return _close(state, lane, dropped)
    if lane.stage == rules.reviewing:
        return NOTHING
    if not lane.tree:
        shares = may_share_environment(choosing.find(state.items, lane.item).files)
        key = lane.effect_id(f"open/{state.batches.number}")
        return perform(OpenLane(key, base=lane.head, lane=lane.name, shares=shares))
    opening.ask_first(state, lane, rules.brief, rules.consenting, f"the {rules.consenting}")
    return (_give_up(rules, state, lane) if lane.turn is None else None) or _work(rules, state, lane)


def _give_up(rules: BatchRules, state: State, lane: Lane) -> Step | None:
    """What a lane that does not move is ended with; None where it goes on, or a person is asked."""
    if lane.crashes >= CRASHES:
        told = f"the agent crashed {plural(lane.crashes, 'time')} in a row: {lane.crash_detail}"
        return record(SubtaskFailed(lane.item, told))
    judged = lane.loop.judged
    if lane.loop.breaker.state != "OPEN" or judged is None or lane.loop.reset:
        return None
    if judged.verdict.health is Health.BLOCKED:
        return _defer(state, lane, tuple(b.description for b in judged.verdict.blockers if b.type == "dependency"))
    work = state.batches.rework.get(lane.item)
    if not rules.replans(state) or (work is not None and REPLAN in work.rungs):
        return None
    why = "\n".join((judged.verdict.evidence, *judged.gate_1.missing[:3]))
    return record(SubtaskFailed(lane.item, why, spent=True))


def _defer(state: State, lane: Lane, blockers: tuple[str, ...]) -> Step | None:
    """A dependency that another open subtask will provide is resolved by the order of work."""
    words = {word.strip(".") for text in blockers for word in re.findall(r"[\w.~@-]+", text)}
    others = [item for item in choosing.open_subtasks(state) if item.id != lane.item]
    wanted = tuple(item.id for item in others if item.id in words and not _needs(state, item.id, lane.item))
    return record(SubtaskDeferred(lane.item, wanted, blockers[0])) if wanted else None


def _needs(state: State, item: str, other: str) -> bool:
    """Whether an item waits for another one, through however many."""
    seen: set[str] = set()
    front = [item]
    while front:
        one = front.pop()
        seen.add(one)
        found = next((each for each in state.items if each.id == one), None)
        front += [need for need in (found.depends_on if found else ()) if need not in seen]
    return other in seen


def _work(rules: BatchRules, state: State, lane: Lane) -> Step:
    stage = rules.stage_of(state, lane)
    if lane.loop.exiting:
        kernel.accept(state, lane, stage)
        return record(Moved(rules.reviewing, lane.stage, kernel.why_left(lane), lane=lane.name))

    def narrow(wanted: Measure) -> Measure:
        """What is measured in a lane is its own subtask's work."""
        items = (choosing.find(state.items, lane.item),)
        return replace(wanted, items=items, tests_may_grow=True, kept=rules.kept(state))

    return kernel.iterate(state, lane, stage, narrow)


def _close(state: State, lane: Lane, reason: str) -> Step:
    """Give a lane's workspace back, then the lane; all it saved stays. A lane of this name in a later batch has an effect of its own."""
    key = lane.effect_id(f"close/{state.batches.number}")
    if not isinstance(lane.outcomes.get(key), WorkspaceClosed):
        return perform(CloseLane(key, lane=lane.name))
    return record(LaneClosed(lane.name, reason))
