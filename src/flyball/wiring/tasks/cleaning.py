"""Tidying up after finished tasks: what can be made again is removed, what cannot is saved first."""

from pathlib import Path

import msgspec

from flyball.core.model.events import WorkspaceRemoved
from flyball.core.model.state import State
from flyball.core.model.task import Task, TaskId
from flyball.journal.errors import LeaseHeld
from flyball.journal.records import task_scope
from flyball.measures.gates.gate_tree import gate_folder
from flyball.ports import Refusal
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import final_stop
from flyball.wiring.presence import controller_of
from flyball.wiring.run.manual_session import ManualSession, manual_session
from flyball.wiring.site import Site
from flyball.wiring.tasks.surroundings import look_around
from flyball.workspace.files import remove, space_of


class RemovablePart(msgspec.Struct, frozen=True):
    """Something that can be made again, and what it takes up."""

    what: str
    path: str
    bytes: int


class Tidied(msgspec.Struct, frozen=True):
    """What was removed of a task, or would be; `kept_as` is the checkpoint that holds what nobody had saved."""

    task: str
    state: str
    removed: tuple[RemovablePart, ...]
    freed_bytes: int
    kept_as: str = ""


def parts(site: Site, task: Task) -> tuple[RemovablePart, ...]:
    """The checkout, the gate folder and the copies of a task, environments included, as far as they are there."""
    found = (
        RemovablePart(what, str(path), space_of(path))
        for what, paths in _removable(site, task).items()
        for path in paths
    )
    return tuple(part for part in found if part.bytes)


def space(site: Site, task: Task) -> int:
    return sum(part.bytes for part in parts(site, task))


def _removable(site: Site, task: Task) -> dict[str, tuple[Path, ...]]:
    return {**site.workspace(task).removable, "gate folder": gate_folder(site.home.gate_tree(task.id))}


def finished_tasks(site: Site) -> list[TaskId]:
    return [record.id for record in site.journal.tasks() if final_stop(site.state(record.id)) is not None]


def would_clean(site: Site, task: TaskId) -> Tidied:
    """What `clean` would remove; nothing is touched."""
    holder = controller_of(site, task)
    if holder is not None:
        raise LeaseHeld(task_scope(task), holder, what=f"The task {task}")
    state = site.state(task)
    _require_finished(state)
    return _look(site, state)


def clean(site: Site, task: TaskId) -> Tidied:
    """Remove what can be made again of a finished task; its journal, checkpoints, transcripts and branch stay."""
    with manual_session(site, task) as hand:
        _require_finished(hand.state)
        found = _look(site, hand.state)
        if not found.removed:
            return found
        kept = _save_unsaved(hand)
        hand.workspace.keep_lanes()
        parts = tuple(dict.fromkeys(part.what for part in found.removed))
        hand.append(WorkspaceRemoved("cleaned", parts, found.freed_bytes))
        for paths in _removable(site, hand.state.task).values():
            for path in paths:
                remove(path)
        return msgspec.structs.replace(found, kept_as=kept)


def _require_finished(state: State) -> None:
    if final_stop(state) is None:
        task = state.task.id
        raise Refusal(
            f"{task} is not finished, so nothing of it was removed. Go on with it: flyball resume {task};"
            f" or end it: flyball abort {task}"
        )


def _look(site: Site, state: State) -> Tidied:
    found = parts(site, state.task)
    word = situation(state, look_around(site, state))
    return Tidied(state.task.id, word, found, sum(part.bytes for part in found))


def _save_unsaved(hand: ManualSession) -> str:
    """Save what somebody left in the checkout without a checkpoint: its label, or nothing where all was saved."""
    space, state = hand.workspace, hand.state
    if not space.is_made or state.prepared is None or not space.unsaved_files():
        return ""
    label = f"cleaned-{state.seq}"
    return hand.snapshot(label, f"{label}: {state.task.id}").label
