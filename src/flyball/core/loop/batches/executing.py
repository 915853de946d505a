"""A batch is begun, worked on side by side, and ends when every lane has ended or waits for a person."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.loop import questions
from flyball.core.loop.batches import choosing, monitoring
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.step import NOTHING, Step, halt, perform, record
from flyball.core.model.batch_events import BatchBegun, BatchEnded, LaneOpened
from flyball.core.model.effects import Integrate
from flyball.core.model.events import Fact, ItemChanged, Moved, TaskStopped
from flyball.core.model.outcomes import Integrated
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Item
from flyball.core.text.quantities import first_few

LESSON = 3


def execute(rules: BatchRules, state: State, lane: Lane) -> Step:
    lanes, known = choosing.subtask_lanes(state), state.batches
    if any(_is_at_work(rules, state, each) for each in lanes):
        return NOTHING
    finished = choosing.in_order(state, (each.item for each in lanes if each.stage == rules.reviewing))
    if finished or known.failures:
        told = f"{first_few(finished, 5)} finished" if finished else "every subtask of the batch failed"
        return record(BatchEnded(known.number, finished), Moved(rules.reviewing, lane.stage, told))
    stage = rules.following(state)
    if stage != lane.stage and not lanes:
        return record(Moved(stage, lane.stage, "nothing is left to do here"))
    chosen = choosing.next_batch(state)
    if not chosen and not lanes and known.parked:
        return questions.put(state, lane, monitoring.parked_question(state))
    if not chosen:
        left = choosing.open_subtasks(state)
        waiting = (f"{item.id} waits for {', '.join(choosing.waits_for(state, item)) or 'a person'}" for item in left)
        return NOTHING if lanes else halt(TaskStopped("blocked", "no subtask is ready", tuple(waiting)))
    return _carry_over(state, lane, chosen) or record(*_begin(rules, state, lane, chosen))


def _carry_over(state: State, lane: Lane, chosen: tuple[Item, ...]) -> Step | None:
    """Earlier work on a subtask is brought onto the tip before its lane begins with it."""
    for item in chosen:
        work, key = state.batches.rework.get(item.id), _carry_id(state, item)
        if work is not None and work.commit and not work.is_approved and key not in lane.outcomes:
            text = f"{item.id}: work that was sent back"
            return perform(Integrate(key, commit=work.commit, base=work.base, onto=state.main.head, message=text))
    return None


def _carry_id(state: State, item: Item) -> EffectId:
    return EffectId(f"carry/{state.batches.number + 1}-{item.id}")


def _is_at_work(rules: BatchRules, state: State, lane: Lane) -> bool:
    """Whether something is still to come of a lane without a person's word: turns, or that it is closed."""
    if choosing.why_dropped(state, lane):
        return True
    return lane.stage != rules.reviewing and not choosing.is_parked(state, lane)


def _begin(rules: BatchRules, state: State, lane: Lane, chosen: tuple[Item, ...]) -> Iterator[Fact]:
    """Each lane starts from the tip as it is now, with what was learnt from earlier attempts; approved work needs no turn, only to be merged."""
    known, tip = state.batches, state.main.head
    yield BatchBegun(known.number + 1, tuple(item.id for item in chosen))
    for item in chosen:
        work = known.rework.get(item.id)
        if item.status != "in-progress":
            yield ItemChanged(item.id, "in-progress")
        if work is None:
            yield LaneOpened(item.id, lane.stage, tip, item.id)
            continue
        if work.is_approved:
            yield LaneOpened(item.id, rules.reviewing, work.base, item.id, work.commit)
            continue
        carried = lane.outcomes.get(_carry_id(state, item))
        start = carried.commit if isinstance(carried, Integrated) else Commit("")
        lesson = work.reasons[:LESSON] if work.rungs else ()
        yield LaneOpened(item.id, lane.stage, tip, item.id, start, work.rungs, lesson)
