"""Git plumbing, isolation, checkpoints, the vault and the sandbox."""

from flyball.workspace.checkpoint import Author, Snapshot
from flyball.workspace.errors import WorkspaceError
from flyball.workspace.repository import Repository, Survey
from flyball.workspace.trees import Change, Lines
from flyball.workspace.workspace import GitWorkspace

__all__ = ["Author", "Change", "GitWorkspace", "Lines", "Repository", "Snapshot", "Survey", "WorkspaceError"]
