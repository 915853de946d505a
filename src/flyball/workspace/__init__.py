"""Git plumbing, isolation, checkpoints, the vault and the sandbox."""

from flyball.workspace.checkpoint import CommitAuthor, Snapshot
from flyball.workspace.errors import WorkspaceError
from flyball.workspace.repository import Repository
from flyball.workspace.trees import Lines
from flyball.workspace.workspace import GitWorkspace

__all__ = ["CommitAuthor", "GitWorkspace", "Lines", "Repository", "Snapshot", "WorkspaceError"]
