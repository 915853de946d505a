"""What can stand in the way of work in a git repository, each with the next command to type."""

from flyball.ports import Refusal


class WorkspaceError(Refusal):
    """A sentence that says what happened, and another with what the person can type next."""

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(f"{sentence} {remedy}".strip())
        self.sentence = sentence


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


class UnknownCommit(WorkspaceError):
    """The commit is not in the vault."""
