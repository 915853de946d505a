"""The right to work on a task: its lease, and that of what it changes of the user's: the tree in place, or a backlog."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from flyball.clock import system_clock
from flyball.core.task import Task
from flyball.journal.errors import LeaseHeld
from flyball.journal.leases import Lease, this_process, tree_scope
from flyball.journal.records import task_scope
from flyball.wiring.site import Site

PATIENCE = 5.0
"""Seconds to wait while the work of a killed controller is being ended: its wardens hold the locks until then."""


class Holding(msgspec.Struct, frozen=True):
    """What a process that works on a task holds; `locks` are for the wardens it starts, to keep others out as long as they live."""

    lease: Lease
    locks: tuple[int, ...]


@contextmanager
def holding(site: Site, task: Task) -> Iterator[Holding]:
    """Take a task's leases, or say who holds them."""
    root = site.repository.root
    with ExitStack() as held:
        lease = held.enter_context(_taken(site, task_scope(task.id)))
        leases = [lease]
        if task.settings.in_place:
            leases.append(held.enter_context(_taken(site, tree_scope(root))))
        if task.workflow == "backlog" and task.source is not None:
            leases.append(held.enter_context(_taken(site, tree_scope(root / task.source.path))))
        yield Holding(lease, tuple(each.fileno() for each in leases))


def _taken(site: Site, scope: str) -> Lease:
    until = system_clock.monotonic() + PATIENCE
    while True:
        try:
            return Lease.take(site.journal, site.home.locks, scope, this_process(system_clock.now()))
        except LeaseHeld as held:
            if held.holder is None or held.holder.is_alive() or system_clock.monotonic() > until:
                raise
            threading.Event().wait(0.05)
