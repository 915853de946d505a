"""What is to be seen of a task outside its journal: whether somebody works on it, and whether its branch was merged; and all that is known of it with that."""

from flyball.clock import system_clock
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.journal.records import task_scope
from flyball.ports import Refusal
from flyball.projections.pages.summary import Known, Place
from flyball.projections.views.situation import Seen
from flyball.projections.views.standing import is_delivered
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.inbox import waiting


def look_around(site: Site, state: State) -> Seen:
    """Look at the task's lock and, once it is done, at the user's branches."""
    controlled = controller_of(site, state.task.id) is not None
    if state.decision != "DONE" or state.prepared is None or not is_delivered(state):
        return Seen(controlled)
    space = site.workspace(state.task)
    try:
        merged = space.merged_into(state.main.head, state.prepared.onto)
        return Seen(controlled, merged, deleted=not merged and not space.is_published)
    except Refusal:
        return Seen(controlled)


def what_is_known(site: Site, task: TaskId, seen: Seen | None = None) -> Known:
    """The task after its last fact, with what is said to it and what is to be seen around it."""
    view = site.view(task)
    around = seen or look_around(site, view.state)
    holder = ""
    if view.state.stopped is None and not around.controlled:
        lease = site.journal.lease(task_scope(task))
        holder = f"pid {lease.holder.pid} on {lease.holder.host} held the task" if lease else ""
    place = Place(site.home.name, site.repository.root.name)
    return Known(place, view.state, view.history, waiting(site, view.state), around, system_clock.now(), holder)
