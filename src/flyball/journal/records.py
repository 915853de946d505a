"""The values a journal keeps beside its facts, and the rules every journal shares."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from flyball.core.model.events import Fact
from flyball.core.model.task import TaskId


class TaskRecord(msgspec.Struct, frozen=True):
    id: TaskId
    number: int
    workflow: str
    title: str
    opened_at: datetime


class Holder(msgspec.Struct, frozen=True):
    pid: int
    host: str
    since: datetime

    def is_alive(self) -> bool:
        """Whether the process may still be there; of another machine nobody here can tell."""
        if self.host != os.uname().nodename:
            return True
        try:
            os.kill(self.pid, 0)
        except OSError as error:
            return isinstance(error, PermissionError)
        return True


class LeaseRecord(msgspec.Struct, frozen=True):
    """The last taking of a scope; whether its holder still lives only the lock can tell."""

    scope: str
    epoch: int
    holder: Holder


Opening = Callable[[TaskId], Sequence[Fact]]
"""Given a new task's id, the facts it begins with."""


def task_scope(task: TaskId) -> str:
    """The scope whose epoch fences appends to a task."""
    return f"task:{task}"


def in_utc(at: datetime) -> datetime:
    """The same instant in UTC; a time without a zone is refused, because nobody could say which instant it is."""
    if at.utcoffset() is None:
        raise ValueError(f"{at.isoformat()} has no time zone; the journal keeps aware times only.")
    return at.astimezone(UTC)
