"""What turns used today, in all repositories: read from the journals, where it stands already."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from flyball.clock import local_day
from flyball.core.model.events import Ended
from flyball.core.model.outcomes import DayCounted, TurnEnded, Usage
from flyball.core.model.task import TaskId
from flyball.journal.errors import JournalError
from flyball.journal.sqlite import SqliteJournal


def count_day(home: Path, now: datetime, repository: str = "*") -> DayCounted:
    """All of the present day, or that of one repository; a journal that cannot be read is named."""
    counted = DayCounted(local_day(now)[1], at=now)
    for path in sorted((home / "repos").glob(f"{repository}/journal.sqlite")):
        try:
            with SqliteJournal.open(path) as journal:
                under_way = counted.under_way + journal.count_turns_under_way(local_day(now)[0])
                counted = replace(counted, under_way=under_way)
                counted = counted.plus(*(usage for _, usage in turns_today(journal, now)))
        except JournalError:
            counted = replace(counted, unread=(*counted.unread, path.parent.name))
    return counted


def turns_today(journal: SqliteJournal, now: datetime) -> Iterator[tuple[TaskId, Usage]]:
    """What each turn that ended today used, and its task; of one that was interrupted nobody knows it."""
    for task, event in journal.turns_since(local_day(now)[0]):
        assert isinstance(event.fact, Ended)
        outcome = event.fact.outcome
        yield task, outcome.usage if isinstance(outcome, TurnEnded) else Usage(estimated=True)
