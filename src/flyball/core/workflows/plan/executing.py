"""SCAFFOLD and EXECUTE: a batch is begun, worked on side by side, and ends when every lane has ended or waits for a person."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.loop import questions
from flyball.core.loop.step import NOTHING, Step, halt, record
from flyball.core.model.effects import Question
from flyball.core.model.events import Fact, ItemChanged, LaneOpened, Moved, TaskStopped
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Item
from flyball.core.text.quantities import listed, plural
from flyball.core.workflows.plan import batches, planning
from flyball.core.workflows.plan.batches import WAITING
from flyball.core.workflows.plan.facts import BatchBegun, BatchEnded
from flyball.core.workflows.plan.record import record_of

SCAFFOLD_REVISIONS = 3


def execute(state: State, lane: Lane) -> Step:
    """Begin a batch, wait for its lanes, hand their work on."""
    lanes, known = batches.subtask_lanes(state), record_of(state)
    if any(batches.is_at_work(state, each) for each in lanes):
        return NOTHING
    finished = batches.in_order(state, (each.item for each in lanes if each.stage == WAITING))
    if finished or known.failures:
        told = f"{listed(finished, 5)} finished" if finished else "every subtask of the batch failed"
        return record(BatchEnded(known.number, finished), Moved(WAITING, lane.stage, told))
    stage = planning.following(state)
    if stage != lane.stage and not lanes:
        return record(Moved(stage, lane.stage, "every subtask is accepted" if stage == "FINAL_REVIEW" else "next"))
    if known.scaffold_rejections >= SCAFFOLD_REVISIONS:
        return questions.put(state, lane, _scaffold_rejected(state))
    chosen = batches.next_batch(state)
    if chosen:
        return record(*_begun(state, lane, chosen))
    return NOTHING if lanes else halt(_nothing_ready(state))


def _begun(state: State, lane: Lane, chosen: tuple[Item, ...]) -> Iterator[Fact]:
    """Each lane starts from the tip as it is now."""
    known = record_of(state)
    yield BatchBegun(known.number + 1, tuple(item.id for item in chosen))
    for item in chosen:
        work = known.rework.get(item.id)
        if item.status != "in-progress":
            yield ItemChanged(item.id, "in-progress")
        yield LaneOpened(item.id, lane.stage, state.main.head, item.id, work.start if work else state.main.head)


def _nothing_ready(state: State) -> TaskStopped:
    waiting = [f"{item.id} waits for {', '.join(item.depends_on)}" for item in batches.open_subtasks(state)]
    return TaskStopped("blocked", "no subtask is ready", tuple(waiting))


def _scaffold_rejected(state: State) -> Question:
    known = record_of(state)
    why = [f"{item}: {'; '.join(work.reasons)}" for item, work in known.rework.items()]
    text = f"The scaffold was sent back {plural(known.scaffold_rejections, 'time')}"
    return Question("scaffold-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))
