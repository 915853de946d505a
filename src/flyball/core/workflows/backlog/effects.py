"""What the `backlog` workflow asks of the world, and how that ends."""

from typing import ClassVar

import msgspec

from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.workflows.backlog.edits import WorkEdit
from flyball.core.workflows.backlog.values import Backlog, Session


class ReadBacklog(Effect, frozen=True, omit_defaults=True, tag="read_backlog"):
    """Read a backlog folder as it is now; `issue` is the one whose whole text is wanted, `ignore` what is no issue file."""

    users_files: ClassVar[bool] = True
    path: str
    issue: str = ""
    ignore: tuple[str, ...] = ()


class EditBacklog(Effect, frozen=True, omit_defaults=True, tag="edit_backlog"):
    """Change a backlog folder, if the files that are changed still are what was read (`seen`: SHA-256 by name)."""

    users_files: ClassVar[bool] = True
    path: str
    seen: dict[str, str]
    edits: tuple[WorkEdit, ...]
    ignore: tuple[str, ...] = ()


class BacklogRead(Outcome, frozen=True, omit_defaults=True, tag="backlog.read"):
    """A backlog folder as it was: its unfinished issues, of which only `issue` has its whole text, and what prompts need.

    `files` are the SHA-256 of all files that may be edited; one that is not there has none.
    """

    backlog: Backlog
    session: Session
    files: dict[str, str] = msgspec.field(default_factory=dict)
    issue: str = ""
    constitution: str = ""
    memory: str = ""
    environment: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
