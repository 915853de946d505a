"""Everything that is known of a task now, as pages need it."""

from __future__ import annotations

from flyball.clock import system_clock
from flyball.core.model.task import TaskId
from flyball.journal.records import task_scope
from flyball.projections.pages.summary import Known, Place
from flyball.projections.views.situation import Seen
from flyball.wiring.site import Site
from flyball.wiring.tasks.inbox import waiting
from flyball.wiring.tasks.surroundings import look_around


def known(site: Site, task: TaskId, seen: Seen | None = None) -> Known:
    """The task after its last fact, with what is said to it and what is to be seen around it."""
    view = site.dossier(task)
    around = seen or look_around(site, view.state)
    holder = ""
    if view.state.stopped is None and not around.controlled:
        lease = site.journal.lease(task_scope(task))
        holder = f"pid {lease.holder.pid} on {lease.holder.host} held the task" if lease else ""
    place = Place(site.home.name, site.repository.root.name)
    return Known(place, view.state, view.chronicle, waiting(site, task), around, system_clock.now(), holder)
