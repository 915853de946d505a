"""A task looked at while nobody works on it, as its next turn would find it."""

from msgspec.structs import replace

from flyball.clock import system_clock
from flyball.core.loop.remembering import recall_first
from flyball.core.loop.reviewing import commits_shown
from flyball.core.memory.recalling import recall
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, EffectId
from flyball.core.workflows.backlog.cycles import folder
from flyball.core.workflows.backlog.effects import ReadBacklog
from flyball.core.workflows.backlog.record import record_of
from flyball.core.workflows.registry import workflow_of, works_on_issues
from flyball.documents.backlog_folder import BacklogFolders
from flyball.wiring.memory import FolderTree, JournalLearnings, changes
from flyball.wiring.site import Site


def as_next_turn(site: Site, state: State, role: str) -> State:
    """What a prompt of the role would be made of now: the learnings that fit it, and a backlog's folder as it is."""
    if works_on_issues(state.task.workflow):
        request = ReadBacklog(EffectId("read/now"), folder(state), state.main.item, state.task.settings.evaluate.ignore)
        seen = BacklogFolders(site.repository.root).read(request)
        state = replace(state, record=replace(record_of(state), seen=seen))
    reviewing = any(card.reviews for card in workflow_of(state.task).cards if card.name == role)
    head = state.main.head
    shown = commits_shown(state, state.main, role, "", head) if reviewing else {}
    lane = replace(state.main, recall=None)
    wanted = recall_first(state, lane, reviewing=reviewing, commit=head if reviewing else "", shown=shown)
    assert wanted is not None
    space = site.workspace(state.task)
    root = space.root if space.root.is_dir() else site.repository.root
    dated = replace(wanted, at=system_clock.now())
    recalled = recall(dated, state.task.id, JournalLearnings(site.journal).tasks(), FolderTree(root, space.vault))
    recalled = replace(recalled, changes=changes(space, dated))
    return replace(state, lanes={**state.lanes, MAIN: replace(state.main, recall=dated, recalled=recalled)})
