"""The `plan` workflow: a plan of subtasks, worked in parallel lanes, integrated, reviewed and checkpointed batch by batch."""

from flyball.core.workflows.plan.workflow import WORKFLOW

__all__ = ["WORKFLOW"]
