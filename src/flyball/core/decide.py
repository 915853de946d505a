"""What next? One pure function from what is known to facts and effects.

Each lane is asked in turn, and the first that has something to record or to begin is answered; the driver asks again after every
append, until nobody has. A lane that cannot go on waits for the others: the task stops when none can.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from msgspec.structs import replace

from flyball.core.loop.step import NOTHING, ComesFirst, Step, halt, perform, record
from flyball.core.loop.workflow import Workflow
from flyball.core.model.effects import Ask, Effect, Prepare, PutBack, Restore, Save, Wait
from flyball.core.model.events import Begun, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Failed
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit
from flyball.core.workflows.registry import workflow_of


def decide(state: State) -> Step:
    """The facts to record and the effects to have under way now; nothing when the loop has stopped or must wait."""
    if state.stopped is not None:
        return NOTHING
    if state.aborting:
        return record(TaskStopped("aborted", "aborted by a person"))
    if state.pausing and _is_idle(state):
        return record(TaskStopped("paused", "paused by a person"))
    workflow = workflow_of(state.task)
    if state.feedback and not _is_rewritten(state, state.main):
        return _without_begun(state, _ask(workflow.reopened, state, state.main))
    stops: list[TaskStopped] = []
    for step in _steps(state, workflow):
        wanted = _without_begun(state, step)
        if wanted.facts or wanted.effects:
            return wanted
        stops += [step.halt] if step.halt is not None else []
    return record(stops[0]) if stops and not state.open else NOTHING


def _is_idle(state: State) -> bool:
    """Whether nothing is under way that is more than waiting, and no turn waits for its verdict."""
    waiting = all(isinstance(effect, Wait | Ask) for effect in state.open.values())
    return waiting and all(lane.at_work is None for lane in state.lanes.values())


def _without_begun(state: State, step: Step) -> Step:
    """What is to be recorded and begun; what is under way already is not asked for again."""
    return Step(tuple(effect for effect in step.effects if effect.id not in state.open), step.facts)


def _steps(state: State, workflow: Workflow) -> Iterator[Step]:
    """What the workflow wants for the task as a whole, then what each lane wants; in a pause only turns that run are seen through."""
    if not state.pausing:
        yield _ask(workflow.coordinate, state)
    for lane in state.lanes.values():
        if lane.failed is not None:
            yield halt(_stop_after(state, *lane.failed))
        elif not state.pausing or lane.at_work is not None:
            yield _lane_step(state, lane, workflow)


def _lane_step(state: State, lane: Lane, workflow: Workflow) -> Step:
    """A person's skip, a tree to restore and one to mend come before the workflow's own steps."""
    if _is_rewritten(state, lane):
        return NOTHING
    if lane.loop.skipping and not state.is_working(lane):
        return record(workflow.skipped(state, lane))
    if lane.loop.restore_to:
        judged = lane.loop.judged
        own = judged is not None and judged.restore_to == lane.loop.restore_to
        reason = judged.verdict.evidence if judged is not None and own else "a person asked"
        key = lane.effect_id(f"restore/{lane.restores + 1}")
        restore = Restore(key, to=lane.loop.restore_to, reason=reason, lane=lane.name)
        return NOTHING if state.is_working(lane) else perform(restore)
    if lane.mend is not None and not lane.loop.consent_wanted:
        return NOTHING if state.is_working(lane) else perform(_put_back(state, lane, lane.mend))
    return _ask(workflow.next, state, lane)


def _ask(question: Callable[..., Step | None], *known: State | Lane) -> Step:
    try:
        return question(*known) or NOTHING
    except ComesFirst as waiting:
        return waiting.step


def _put_back(state: State, lane: Lane, measured: Measurement) -> PutBack:
    """Protected files as accepted, but for those whose change was consented to since they were measured."""
    allowed = tuple(path for path, commit in lane.consented.items() if commit == measured.candidate)
    number = lane.mends + 1
    return PutBack(
        lane.effect_id(f"put-back/{number}"),
        lane=lane.name,
        candidate=Commit(measured.candidate),
        tree=measured.mended,
        label=f"put-back-{number}",
        message=f"put-back-{number}: {state.task.id}",
        paths=tuple(path for path in measured.put_back if path not in allowed),
        allowed=allowed,
        doubtful=any(trick.path not in measured.put_back for trick in measured.caught),
    )


def _stop_after(state: State, effect: Effect, failed: Failed) -> TaskStopped:
    """What a person has to see to: a workspace that cannot be made, files of theirs that cannot be used. The rest is an error."""
    if effect.users_files:
        told = failed.detail.removeprefix(f"{effect.id}: ").rstrip(".")
        return TaskStopped("blocked", f"{told}. Once that is mended: flyball resume {state.task.id}")
    return TaskStopped("blocked" if isinstance(effect, Prepare) else "error", failed.detail)


def _is_rewritten(state: State, lane: Lane) -> bool:
    """Whether the lane's own tree is being saved, restored or mended: nobody may work in it meanwhile.

    A rollback whose process was killed leaves such an effect open, and no workflow expects it.
    """
    return any(e.lane == lane.name and isinstance(e, Save | Restore | PutBack) for e in state.open.values())


def begin(state: State, effect: Effect, at: datetime) -> Begun:
    """An effect with its date and attempt; one that is begun again keeps the date it was first begun at."""
    known = state.open.get(effect.id)
    if known is not None:
        return Begun(replace(known, attempt=known.attempt + 1))
    attempt = state.lanes[effect.lane].attempts.get(effect.id, 0) + 1
    return Begun(replace(effect, attempt=attempt, at=at))
