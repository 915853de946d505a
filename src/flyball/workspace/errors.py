"""What can stand in the way of work in a git repository, each with the next command to type."""

from flyball.ports import Refusal


class WorkspaceError(Refusal):
    """A sentence that says what happened and, in `remedy`, what the person can type next."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(f"{sentence} {remedy}".strip())
        self.sentence = sentence
        self.remedy = remedy


class GitMissing(WorkspaceError):
    """There is no git program."""


class GitTooOld(WorkspaceError):
    """The installed git lacks what durable checkpoints need."""


class GitFailed(WorkspaceError):
    """Git ended with an error nobody foresaw; the sentence carries its own words."""

    def __init__(self, command: str, code: int, stderr: str) -> None:
        said = stderr.strip() or "it said nothing"
        super().__init__(f"git {command} ended with code {code}: {said}")
        self.code = code
        self.stderr = stderr


class NotARepository(WorkspaceError):
    """The folder is in no git repository."""


class DamagedRepository(WorkspaceError):
    """There is a repository that git itself cannot use; the sentence carries its words."""


class BareRepository(WorkspaceError):
    """The repository has no working tree."""


class DubiousOwnership(WorkspaceError):
    """The repository belongs to somebody else and was not declared safe."""


class UnbornHead(WorkspaceError):
    """There is no commit to start from."""


class HomeInsideRepository(WorkspaceError):
    """Flyball's own folder lies inside the repository, where an agent could reach it."""


class CheckpointExists(WorkspaceError):
    """The label already names a different tree."""


class UnknownCommit(WorkspaceError):
    """The commit is not in the vault."""


class BranchMoved(WorkspaceError):
    """The task's branch in the user's repository is not where flyball left it."""


class BranchCheckedOut(WorkspaceError):
    """The task's branch is checked out, so moving it would confuse that working tree."""


class BranchBlocked(WorkspaceError):
    """The branch name cannot be used beside the branches there are."""


class BaseLost(WorkspaceError):
    """The user's repository no longer holds the commit the task started from."""


class PushRefused(WorkspaceError):
    """The user wanted the branch pushed, and the remote or their git said no."""
