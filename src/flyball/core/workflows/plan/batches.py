"""Which subtasks are ready, and which of them are worked on side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item
from flyball.core.workflows.plan.grammar import SCAFFOLD
from flyball.core.workflows.plan.record import record_of

WAITING = "REVIEW"
"""The stage of a lane whose work is done and waits for the others of its batch."""
PARALLEL = 2
"""How many lanes there are where nobody has said."""
ROUNDS = 2
"""After so many rounds in which its work could not be integrated, a subtask is worked on alone."""


def open_subtasks(state: State) -> tuple[Item, ...]:
    """What is still to be done: neither completed nor left out by a person."""
    left = record_of(state).left_out
    return tuple(item for item in state.items if item.status != "completed" and item.id not in left)


def ready(state: State) -> tuple[Item, ...]:
    """Open subtasks that nobody works on and whose dependencies are complete; scaffold ones first and alone."""
    open_ = open_subtasks(state)
    pending = {item.id for item in open_}
    scaffold = [item for item in open_ if item.kind == SCAFFOLD]
    return tuple(
        item
        for item in scaffold or open_
        if item.id not in state.lanes and item.status != "blocked" and not pending.intersection(item.depends_on)
    )


def next_batch(state: State) -> tuple[Item, ...]:
    """The ready subtasks to begin now, in the order of the plan: no two touch the same file, and one that names none runs alone."""
    found = ready(state)
    rework = record_of(state).rework
    alone = [item for item in found if item.id in rework and rework[item.id].rounds >= ROUNDS]
    if alone:
        return (alone[0],)
    chosen: list[Item] = []
    for item in found:
        if len(chosen) < (state.task.settings.parallel or PARALLEL) and not any(overlap(item, each) for each in chosen):
            chosen.append(item)
    return tuple(chosen)


def overlap(one: Item, other: Item) -> bool:
    """Whether two subtasks may touch the same file; what names no file touches all of them."""
    if not one.files or not other.files:
        return True
    return any(_meet(a, b) for a in one.files for b in other.files)


def _meet(one: str, other: str) -> bool:
    return one == other or _covers(one, other) or _covers(other, one)


def _covers(pattern: str, path: str) -> bool:
    folder = pattern.rstrip("/") + "/"
    return path.startswith(folder) or fnmatchcase(path, pattern)


def names(files: Iterable[str], path: str) -> bool:
    """Whether a path is among declared files and folders."""
    return any(_meet(path, declared) for declared in files)


def outside(item: Item, changed: Iterable[str]) -> tuple[str, ...]:
    """The changed files that a subtask had not declared; one that declared none may touch all."""
    if not item.files:
        return ()
    return tuple(path for path in changed if not names(item.files, path))


def subtask_lanes(state: State) -> list[Lane]:
    """The lanes subtasks are worked on in."""
    return [lane for lane in state.lanes.values() if lane.name != MAIN]


def is_at_work(state: State, lane: Lane) -> bool:
    """Whether something is still to come of a lane without a person's word: turns, or that it is closed."""
    known = record_of(state)
    if lane.item in known.left_out or lane.item in known.failures:
        return True
    return lane.stage != WAITING and not is_parked(state, lane)


def is_parked(state: State, lane: Lane) -> bool:
    """Whether a lane can go on only with a person's word, or in a new session."""
    if lane.failed is not None:
        return True
    unanswered = [key for key, asked in state.questions.items() if asked.lane == lane.name and asked.answer is None]
    return any(key not in state.open or state.task.settings.attended for key in unanswered)


def in_order(state: State, ids: Iterable[str]) -> tuple[str, ...]:
    """Ids in the order of the plan."""
    wanted = set(ids)
    return tuple(item.id for item in state.items if item.id in wanted)


def find(items: Sequence[Item], id_: str) -> Item:
    return next(item for item in items if item.id == id_)
