"""Which subtasks are ready, and which of them are worked on side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flyball.core.loop.undeclared import is_declared
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item

SCAFFOLD = "scaffold"
"""The kind of items that all others build on: while one is open, nothing else begins."""
PARALLEL = 2
"""How many lanes there are where nobody has said."""
ROUNDS = 2
"""After so many rounds in which its work could not be integrated, a subtask is worked on alone."""


def open_subtasks(state: State) -> tuple[Item, ...]:
    """What is still to be done: neither completed nor left out by a person."""
    left = state.batches.left_out
    return tuple(item for item in state.items if item.status != "completed" and item.id not in left)


def waits_for(state: State, item: Item) -> tuple[str, ...]:
    """The subtasks that must be accepted before this one: what it depends on, and what those of them depend on that are not open."""
    pending = {each.id for each in open_subtasks(state)}
    passed_on = {each.id: each.depends_on for each in state.items if each.id not in pending}
    found: dict[str, None] = {}
    seen, todo = {item.id}, list(item.depends_on)
    while todo:
        other = todo.pop(0)
        if other in pending:
            found[other] = None
        elif other not in seen:
            seen.add(other)
            todo += passed_on.get(other, ())
    return tuple(found)


def ready(state: State) -> tuple[Item, ...]:
    """Open subtasks that nobody works on and that wait for none; scaffold ones before all others."""
    left = open_subtasks(state)
    first = [item for item in left if item.kind == SCAFFOLD]
    taken = {*state.lanes, *state.batches.parked}
    free = (item for item in first or left if item.id not in taken and item.status != "blocked")
    return tuple(item for item in free if not waits_for(state, item))


def next_batch(state: State) -> tuple[Item, ...]:
    """The ready subtasks to begin now, in the order of the plan: no two touch the same file, and one that names none runs alone."""
    found = ready(state)
    alone = next((item for item in found if _runs_alone(state, item)), None)
    if alone is not None:
        return (alone,)
    chosen: list[Item] = []
    for item in found:
        if len(chosen) < (state.task.settings.parallel or PARALLEL) and not any(
            may_overlap(item, each) for each in chosen
        ):
            chosen.append(item)
    return tuple(chosen)


def _runs_alone(state: State, item: Item) -> bool:
    work = state.batches.rework.get(item.id)
    return work is not None and (work.rounds >= ROUNDS or "smaller-scope" in work.rungs)


def may_overlap(one: Item, other: Item) -> bool:
    """Whether two subtasks may touch the same file; what names no file touches all of them."""
    if not one.files or not other.files:
        return True
    return any(is_declared(a, (b,)) or is_declared(b, (a,)) for a in one.files for b in other.files)


def subtask_lanes(state: State) -> list[Lane]:
    return [lane for lane in state.lanes.values() if lane.name != MAIN]


def is_parked(state: State, lane: Lane) -> bool:
    """Whether a lane can go on only with a person's word, or in a new session."""
    if lane.failed is not None:
        return True
    unanswered = [key for key, asked in state.questions.items() if asked.lane == lane.name and asked.answer is None]
    return any(key not in state.open or state.task.settings.attended for key in unanswered)


def why_dropped(state: State, lane: Lane) -> str:
    """Why a lane is to be closed without its work, or an empty string; what is in a batch stays until that is settled."""
    batch = state.batches.current
    if batch is not None and lane.item in batch.attempted:
        return ""
    if lane.item in state.batches.left_out:
        return "left out by a person"
    if lane.item in state.batches.failures:
        return "given up"
    waiting = waits_for(state, find(state.items, lane.item))
    return f"it waits for {', '.join(waiting)}" if waiting else ""


def in_order(state: State, ids: Iterable[str]) -> tuple[str, ...]:
    wanted = set(ids)
    return tuple(item.id for item in state.items if item.id in wanted)


def waiting_ring(depends: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Subtasks that wait for each other in a ring, by what each depends on; none where an order exists."""
    waiting = dict(depends)
    while free := [id_ for id_, needs in waiting.items() if not any(need in waiting for need in needs)]:
        for id_ in free:
            del waiting[id_]
    path = [*waiting][:1]
    while path:
        following = next(need for need in waiting[path[-1]] if need in waiting)
        if following in path:
            return tuple(path[path.index(following) :])
        path.append(following)
    return ()


def find(items: Sequence[Item], id_: str) -> Item:
    return next(item for item in items if item.id == id_)
