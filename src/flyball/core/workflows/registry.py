"""The workflows there are, by name."""

from __future__ import annotations

from flyball.core.loop.workflow import Workflow
from flyball.core.model.task import Task
from flyball.core.workflows.backlog.workflow import WORKFLOW as BACKLOG
from flyball.core.workflows.quick import WORKFLOW as QUICK
from flyball.core.workflows.tdd.workflow import WORKFLOW as TDD

WORKFLOWS: dict[str, Workflow] = {each.name: each for each in (TDD, BACKLOG, QUICK)}


def register(workflow: Workflow) -> None:
    """Add a workflow of another package; one that is known already stays what it is."""
    WORKFLOWS.setdefault(workflow.name, workflow)


def workflow_of(task: Task) -> Workflow:
    return WORKFLOWS[task.workflow]
