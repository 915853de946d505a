"""The `quick` workflow: IMPLEMENT -> REVIEW -> SHIP, for work that needs no more than one role and one look at it."""

from flyball.core.workflows.quick.workflow import WORKFLOW

__all__ = ["WORKFLOW"]
