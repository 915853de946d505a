"""Keeps `.loop/NNN-slug/` in step with the journal, for people in the repository and for agents in their tree."""

from __future__ import annotations

from pathlib import Path

from flyball.core.events import Event
from flyball.core.state import State
from flyball.core.task import TaskId
from flyball.documents.loop_folder import LoopFolder
from flyball.projections.chronicle import Chronicle
from flyball.projections.loop_files import STATUS_LOG, phase_status, render, shows
from flyball.wiring.site import Site


class Rendering:
    """A listener of the loop; what it writes can always be rendered again."""

    def __init__(self, site: Site, task: TaskId, tree: Path) -> None:
        memory = site.home.rendered(task)
        roots = dict.fromkeys((site.repository.root, tree))
        self._folders = {
            root: LoopFolder(root, task, memory=memory.with_suffix(f".{n}.json")) for n, root in enumerate(roots)
        }
        self._chronicle = Chronicle(site.journal.read(task))

    def __call__(self, event: Event, state: State) -> None:
        self._chronicle.add(event)
        if not shows(event):
            return
        files = render(state, self._chronicle)
        block = phase_status(state, event)
        for root, folder in self._folders.items():
            if not root.is_dir():
                continue
            folder.render(files)
            if block:
                folder.append(STATUS_LOG, block)
