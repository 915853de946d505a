"""Two small workflows on paper: lanes that are integrated, as `plan` will have them, and a panel with fix cycles, as `track` will."""

from flyball.core.loop import gates, kernel, opening, panel, shipping
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import NOTHING, Step, halt, perform, record
from flyball.core.loop.workflow import Workflow
from flyball.core.model.batch_events import LaneClosed, LaneOpened
from flyball.core.model.effects import CloseLane, Integrate, Measure, OpenLane, Save
from flyball.core.model.events import (
    Fact,
    ItemChanged,
    LearningRecorded,
    Moved,
    TaskReopened,
    TaskStopped,
)
from flyball.core.model.outcomes import Conflicted, Integrated, Measured, NothingToIntegrate, Saved, WorkspaceClosed
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item

EVALUATORS = ("ui-ux", "code-quality")
FIXES = 3


def brief(_state: State, lane: Lane, role: str, purpose: str = "") -> str:
    return f"{lane.stage}: {role} {lane.item} {purpose}"


WORK = Stage("WORK", "implementer", "green", gates.green, brief)
EXECUTE = Stage("EXECUTE", "executor", "green", gates.green, brief)
FIX = Stage("FIX", "fixer", "green", gates.green, brief)


def coordinate(state: State) -> Step | None:
    """Open a lane for each subtask that is ready, and go on when all are done."""
    if state.baseline is None or state.main.stage != "EXECUTE":
        return None
    done = {item.id for item in state.items if item.status == "completed"}
    ready = [i for i in state.items if i.status == "not-started" and done.issuperset(i.depends_on)]
    if ready and len(state.lanes) - 1 < (state.task.settings.parallel or 2):
        item = ready[0].id
        return record(ItemChanged(item, "in-progress"), LaneOpened(item, "WORK", state.main.head, item))
    if len(done) == len(state.items) and len(state.lanes) == 1:
        return record(Moved("REPORT", "EXECUTE", "every subtask is integrated"))
    return None


def plan_step(state: State, lane: Lane) -> Step:
    if lane.name == MAIN:
        first = opening.prepare(state)
        if first is None and lane.stage == "REPORT":
            return shipping.ship(state, lane, "gates passed")
        return first or NOTHING
    if not lane.tree:
        return perform(OpenLane(lane.effect_id("open"), base=lane.base, lane=lane.name))
    return _integrate(state, lane) if lane.stage == "INTEGRATE" else _work(state, lane, WORK, "INTEGRATE")


def _work(state: State, lane: Lane, stage: Stage, following: str) -> Step:
    if lane.loop.exiting:
        kernel.accept(state, lane, stage)
        return record(Moved(following, lane.stage, "held", lane=lane.name))
    return kernel.iterate(state, lane, stage)


def _integrate(state: State, lane: Lane) -> Step:
    """One lane at a time, first come first served: merged, measured, reviewed, accepted on the main lane, closed."""
    waiting = [each for each in state.lanes.values() if each.stage == "INTEGRATE"]
    if lane is not min(waiting, key=lambda each: each.visits[-1].started_at):
        return NOTHING
    key = lane.effect_id("integrate")
    merged = lane.outcomes.get(key)
    match merged:
        case Integrated():
            return _reviewed(state, lane, merged)
        case Conflicted():
            lesson = LearningRecorded(state.learned + 1, "anti-pattern", f"{lane.item} met a conflict", merged.detail)
            return _closed(lane, "conflict", lesson, ItemChanged(lane.item, "not-started"))
        case NothingToIntegrate():
            return _closed(lane, "nothing was changed", ItemChanged(lane.item, "completed"))
    return perform(
        Integrate(key, commit=lane.head, base=lane.base, onto=state.main.head, message=lane.item, lane=lane.name)
    )


def _reviewed(state: State, lane: Lane, merged: Integrated) -> Step:
    name = lane.effect_id("measure/integrated")
    measured = lane.outcomes.get(name)
    assert state.prepared is not None
    base = state.prepared.base
    if not isinstance(measured, Measured):
        wanted = Measure(
            name, kind="gates", candidate=merged.commit, base=base, accepted=base, items=state.items, lane=lane.name
        )
        return perform(wanted)
    if measured.measurement.failing:
        return _closed(lane, "the gate is red on the tip", ItemChanged(lane.item, "not-started"))
    answers = panel.convene(state, lane, brief, ("reviewer",), commit=merged.commit)
    if answers["reviewer"][1].claim.verdict != "pass":
        return _closed(lane, "the reviewer rejected it", ItemChanged(lane.item, "not-started"))
    return _accepted(state, lane, merged)


def _accepted(state: State, lane: Lane, merged: Integrated) -> Step:
    name = lane.effect_id("accept")
    if isinstance(state.main.outcomes.get(name), Saved):
        return _closed(lane, "integrated", ItemChanged(lane.item, "completed"))
    return perform(
        Save(name, label=lane.item, message=lane.item, parent=state.main.head, accepted=True, tree=merged.tree)
    )


def _closed(lane: Lane, reason: str, *facts: Fact) -> Step:
    key = lane.effect_id("close")
    if not isinstance(lane.outcomes.get(key), WorkspaceClosed):
        return perform(CloseLane(key, lane=lane.name))
    return record(*facts, LaneClosed(lane.name, reason))


def track_step(state: State, lane: Lane) -> Step:
    first = opening.prepare(state)
    if first is not None:
        return first
    match lane.stage:
        case "EXECUTE":
            return _work(state, lane, EXECUTE, "EVALUATE")
        case "FIX":
            return _work(state, lane, FIX, "EVALUATE")
        case "EVALUATE":
            return _evaluated(state, lane)
    return shipping.ship(state, lane, "every evaluator passed")


def _evaluated(state: State, lane: Lane) -> Step:
    answers = panel.convene(state, lane, brief, EVALUATORS)
    failed = [role for role, (_, turn) in answers.items() if turn.claim.verdict != "pass"]
    if not failed:
        return record(Moved("COMPLETE", "EVALUATE", "every evaluator passed"))
    fixes = sum(visit.stage == "FIX" for visit in lane.visits)
    if fixes >= FIXES:
        return halt(TaskStopped("blocked", f"{', '.join(failed)} failed after {fixes} fixes"))
    return record(Moved("FIX", "EVALUATE", f"{', '.join(failed)} failed", rejected=True))


def _skipped(_state: State, lane: Lane) -> Moved:
    return Moved("COMPLETE", lane.stage, "skipped by a person", forced=True, lane=lane.name)


def _reopened(state: State, lane: Lane) -> Step:
    return record(TaskReopened(state.feedback), Moved("EXECUTE", lane.stage, "reopened by a person"))


PLAN = Workflow(
    "paper-plan", ("EXECUTE", "REPORT"), ("implementer", "reviewer"), plan_step, _skipped, brief, _reopened, coordinate
)
TRACK = Workflow(
    "paper-track",
    ("EXECUTE", "EVALUATE", "FIX", "COMPLETE"),
    ("executor", "fixer", *EVALUATORS),
    track_step,
    _skipped,
    brief,
    _reopened,
)
SUBTASKS = (
    Item("1.1", "model"),
    Item("1.2", "view", depends_on=("1.1",)),
    Item("1.3", "docs"),
    Item("1.4", "tests"),
    Item("1.5", "more docs"),
)
