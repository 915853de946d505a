"""The `track` workflow: a track of work with its own plan, evaluators of its kind, fixes, and documents that follow."""

from flyball.core.workflows.track.workflow import WORKFLOW

__all__ = ["WORKFLOW"]
