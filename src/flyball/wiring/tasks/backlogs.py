"""A backlog task looked at while nobody works on it: with its folder as it is now."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.core.workflows.backlog.cycles import folder
from flyball.core.workflows.backlog.effects import ReadBacklog
from flyball.core.workflows.backlog.record import record_of
from flyball.core.workflows.registry import works_on_issues
from flyball.documents.backlog_folder import BacklogFolders
from flyball.wiring.site import Site


def looked_at(site: Site, state: State) -> State:
    """What a prompt would be made of now; other workflows have no such folder."""
    if not works_on_issues(state.task.workflow):
        return state
    request = ReadBacklog(EffectId("read/now"), folder(state), state.main.item, state.task.settings.evaluate.ignore)
    seen = BacklogFolders(site.repository.root).read(request)
    return replace(state, record=replace(record_of(state), seen=seen))
