"""The workflows there are, by name: those that ship, and those of other packages once they are registered."""

from flyball.core.health.breaker import Strikes
from flyball.core.loop.workflow import Workflow
from flyball.core.model.task import Task
from flyball.core.workflows.backlog.workflow import WORKFLOW as BACKLOG
from flyball.core.workflows.plan import WORKFLOW as PLAN
from flyball.core.workflows.quick import WORKFLOW as QUICK
from flyball.core.workflows.tdd.workflow import WORKFLOW as TDD
from flyball.core.workflows.track import WORKFLOW as TRACK

WORKFLOWS: dict[str, Workflow] = {each.name: each for each in (QUICK, TDD, PLAN, BACKLOG, TRACK)}
DEFAULT, EARLIER_DEFAULT = QUICK.name, TDD.name
UNUSABLE: dict[str, str] = {}
"""Workflows of other packages that cannot be used, and why."""


class WorkflowMissing(Exception):
    """A task wants a workflow that is not there, or cannot be used."""

    def __init__(self, name: str) -> None:
        why = UNUSABLE.get(name, "no installed package offers it; install the one that does and try again")
        super().__init__(f"The workflow {name} is missing: {why}")


def workflow_of(task: Task) -> Workflow:
    found = WORKFLOWS.get(task.workflow)
    if found is None:
        raise WorkflowMissing(task.workflow)
    return found


def works_on_issues(workflow: str) -> bool:
    return WORKFLOWS[workflow].source == "issues"


def for_issues() -> str:
    return next(each.name for each in WORKFLOWS.values() if each.source == "issues")


def for_plans() -> str:
    return next(each.name for each in WORKFLOWS.values() if each.imports)


def for_tracks() -> str:
    return next(each.name for each in WORKFLOWS.values() if each.source == "track")


def for_sessions() -> str:
    return next(each.name for each in WORKFLOWS.values() if each.takes_sessions)


def without_review() -> tuple[str, ...]:
    """The workflows whose table has a way round the review."""
    return tuple(name for name, each in WORKFLOWS.items() if any(row.unreviewed for row in each.transitions))


def edits_documents(workflow: str) -> bool:
    """Whether the workflow edits a folder of the user's as it works: issues, or a track."""
    return WORKFLOWS[workflow].source != "document"


def own_strikes(stage: str) -> Strikes | None:
    """The breaker's thresholds that a workflow has for a stage of its own."""
    return next((each.strikes[stage] for each in WORKFLOWS.values() if stage in each.strikes), None)
