"""The right to work on a task: its lease, and that of the user's documents it edits."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from flyball.clock import system_clock
from flyball.core.model.task import Source, Task, TaskId
from flyball.core.workflows.registry import edits_documents
from flyball.journal.errors import LeaseHeld
from flyball.journal.leases import Lease, this_process, tree_scope
from flyball.journal.records import Holder, task_scope
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site

PATIENCE = 5.0
"""Seconds to wait while the work of a killed controller is being ended: its wardens hold the locks until then."""


class Holding(msgspec.Struct, frozen=True):
    """What a process that works on a task holds; `locks` are for the wardens it starts, to keep others out as long as they live."""

    lease: Lease
    locks: tuple[int, ...]


@contextmanager
def hold_task(site: Site, task: Task) -> Iterator[Holding]:
    with ExitStack() as held:
        lease = held.enter_context(_take_task(site, task.id))
        folders = [site.repository.root / path for path in edited_paths(task.workflow, task.source)]
        leases = [lease, *(held.enter_context(_take_folder(site, folder)) for folder in folders)]
        yield Holding(lease, tuple(each.fileno() for each in leases))


def require_free(site: Site, workflow: str, source: Source | None) -> None:
    """Refuse a task that is not opened yet if another one works on what it would change of the user's."""
    for path in edited_paths(workflow, source):
        _take_folder(site, site.repository.root / path).release()


def edited_paths(workflow: str, source: Source | None) -> tuple[str, ...]:
    """What a task changes of the user's."""
    return (source.path,) if source is not None and (edits_documents(workflow) or source.format) else ()


def _take_task(site: Site, task: TaskId) -> Lease:
    try:
        return _take(site, task_scope(task), site.home.locks)
    except LeaseHeld as held:
        raise LeaseHeld(held.scope, held.holder, what=f"The task {task}", way=_way_on(site, task)) from None


def _way_on(site: Site, task: TaskId) -> str:
    """What to type where the process that holds the task waits for a person; empty where it does not."""
    taken = {word.question for word in site.journal.pending(task)}
    asked = (key for key, each in site.state(task).questions.items() if each.answer is None and key not in taken)
    key = next(asked, "")
    return (
        f"It waits for your answer: flyball answer {task} {key} TEXT. See it with: flyball watch {task}" if key else ""
    )


def _take_folder(site: Site, folder: Path) -> Lease:
    try:
        return _take(site, tree_scope(folder), site.home.shared_locks)
    except LeaseHeld as held:
        task = _worked_on(site, held.holder)
        raise LeaseHeld(held.scope, held.holder, what=f"The folder {folder}", task=task) from None


def _take(site: Site, scope: str, locks: Path) -> Lease:
    until = system_clock.monotonic() + PATIENCE
    while True:
        try:
            return Lease.take(site.journal, locks, scope, this_process(system_clock.now()))
        except LeaseHeld as held:
            if held.holder is None or held.holder.is_alive() or system_clock.monotonic() > until:
                raise
            threading.Event().wait(0.05)


def _worked_on(site: Site, holder: Holder | None) -> str:
    """The task a process works on, where it is one of this repository."""
    if holder is None:
        return ""
    at_work = ((record.id, controller_of(site, record.id)) for record in site.journal.tasks())
    return next((task for task, known in at_work if known and (known.pid, known.host) == (holder.pid, holder.host)), "")
