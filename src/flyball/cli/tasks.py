"""`flyball list`: the tasks of this repository and where each stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flyball.cli.arguments import AsJson
from flyball.cli.exits import told
from flyball.cli.output import put, put_json

if TYPE_CHECKING:
    from flyball.core.task import TaskId
    from flyball.wiring.site import Site


def list_tasks(as_json: AsJson = False) -> None:
    """List the tasks of this repository and where each stands."""
    from flyball.cli.choosing import listed
    from flyball.wiring.presence import controller_of
    from flyball.wiring.site import Site

    with told():
        site = Site.find(Path.cwd())
        records = site.journal.tasks()
        if as_json:
            put_json([_row(site, record.id) for record in records])
            return
        if not records:
            put('no task yet; start one with: flyball run "…"')
        for record in records:
            here = "  (running now)" if controller_of(site, record.id) else ""
            put(f"{listed(site, record.id)}{here}")


def _row(site: Site, task: TaskId) -> dict[str, object]:
    from flyball.projections.standing import running_state, task_status
    from flyball.wiring.presence import controller_of

    state = site.state(task)
    return {
        "task": task,
        "workflow": state.task.workflow,
        "request": state.task.request,
        "status": task_status(state),
        "state": running_state(state),
        "stage": state.stage,
        "decision": state.decision,
        "running": controller_of(site, task) is not None,
        "started_at": state.task.opened_at,
        "updated_at": state.now,
    }
