"""What is to be seen of a task outside its journal: whether somebody works on it, and whether its branch was merged."""

from __future__ import annotations

from flyball.core.model.state import State
from flyball.ports import Refusal
from flyball.projections.views.situation import Seen
from flyball.projections.views.standing import is_delivered
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site


def look_around(site: Site, state: State) -> Seen:
    """Look at the task's lock and, once it is done, at the user's branches."""
    controlled = controller_of(site, state.task.id) is not None
    if state.decision != "DONE" or state.prepared is None or not is_delivered(state):
        return Seen(controlled)
    space = site.workspace(state.task)
    try:
        merged = space.merged_into(state.main.head, state.prepared.onto)
        return Seen(controlled, merged, deleted=not merged and not space.in_place and not space.is_published)
    except Refusal:
        return Seen(controlled)
