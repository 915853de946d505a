"""The journal in one SQLite file: what is acknowledged survives a crash, and only the lease's holder appends."""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from flyball import faults
from flyball.core.model.events import Event, Fact, Spoken
from flyball.core.model.naming import task_id
from flyball.core.model.task import TaskId
from flyball.journal import codec, statements
from flyball.journal.database import Database
from flyball.journal.errors import JournalCorrupt, JournalError, LeaseLost, TaskUnknown
from flyball.journal.records import Holder, LeaseRecord, Opening, TaskRecord, in_utc, task_scope
from flyball.ports import Word

_PAGE = 512
"""Events read at a time: no transaction stays open while the reader thinks, and memory stays bounded."""


class SqliteJournal:
    """Facts of many tasks; threads may share one, processes open their own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._secrets: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, *, patience_s: float = 10.0) -> Self:
        """Open the journal, or make it; `patience_s` is how long to wait for another process's transaction."""
        return cls(Database.open(path, patience_s=patience_s))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hide(self, secrets: tuple[str, ...]) -> None:
        """Store these values no more: whatever is made of the journal does not have them either."""
        self._secrets = secrets

    def open_task(
        self,
        slug: str,
        *,
        workflow: str,
        title: str,
        at: datetime,
        highest_on_disk: int = 0,
        opening: Opening = lambda _: (),
    ) -> TaskRecord:
        """Give a new task the next free number and its first facts, in one transaction whoever else is asking."""
        faults.point("journal.open_task.before")
        with self._database.write() as connection:
            last = connection.execute(statements.LAST_NUMBER).fetchone()[0]
            number = max(int(last), highest_on_disk) + 1
            record = TaskRecord(task_id(number, slug), number, workflow, title, in_utc(at))
            values = (record.id, number, workflow, title, record.opened_at.isoformat())
            connection.execute(statements.ADD_TASK, values)
            _add(connection, record.id, codec.encode(record.id, opening(record.id), after=0, epoch=0, at=at)[0])
            faults.point("journal.open_task.inside")
        faults.point("journal.open_task.after")
        return record

    def tasks(self) -> list[TaskRecord]:
        rows = self._database.select(statements.READ_TASKS)
        return [TaskRecord(task, number, flow, title, self._moment(at, task)) for task, number, flow, title, at in rows]

    def append(
        self, task: TaskId, facts: Sequence[Fact], *, epoch: int, at: datetime, taking: Sequence[int] = ()
    ) -> list[Event]:
        """Add facts, all or none, and mark the words they carry as taken; the events are what a reader will see."""
        faults.point("journal.append.before")
        with self._database.write() as connection:
            # The task's last seq, if this epoch may add to it; a task nobody ever took a lease on takes any.
            row = connection.execute(statements.FENCE, (task_scope(task), task)).fetchone()
            if row is None:
                raise TaskUnknown(task)
            last, current = row
            if current is not None and current != epoch:
                raise LeaseLost(codec.stale_message(task, epoch, current))
            after = int(last or 0)
            entries, events = codec.encode(task, facts, after=after, epoch=epoch, at=at, secrets=self._secrets)
            _add(connection, task, entries)
            for word, seq in codec.words_taken(events, taking).items():
                if connection.execute(statements.TAKE_WORD, (seq, word, task)).rowcount != 1:
                    raise JournalError(f"Word {word} of task {task} is not waiting in the inbox; nothing was appended.")
            faults.point("journal.append.inside")
        faults.point("journal.append.after")
        return events

    def read(self, task: TaskId, after: int = 0) -> Iterator[Event]:
        """The events that follow `after`, each checked; those appended meanwhile are read too."""
        while rows := self._database.select(statements.READ_EVENTS, (task, after, _PAGE)):
            yield from codec.decode(str(self._database.path), task, rows, after=after)
            after += len(rows)

    def read_of(self, task: TaskId, kinds: Sequence[str], after: int = 0) -> Iterator[Event]:
        """The events of some kinds that follow `after`, without those of turns and measurements, which are the bulk of a journal."""
        names = msgspec.json.encode(list(kinds)).decode()
        while rows := self._database.select(statements.READ_EVENTS_OF, (task, after, names, _PAGE)):
            yield from codec.decode_some(str(self._database.path), task, rows)
            after = rows[-1][0]

    def turns_since(self, at: datetime) -> Iterator[tuple[TaskId, Event]]:
        """The ends of turns of all tasks behind the last event before `at`; of a task without later ones only its last is looked at."""
        for task, *row in self._database.select(statements.READ_TURNS_SINCE, (in_utc(at).isoformat(),)):
            for event in codec.decode_some(str(self._database.path), task, [tuple(row)]):
                yield task, event

    def count_turns_under_way(self, at: datetime) -> int:
        """How many turns of all tasks began behind the last event before `at` and have not ended."""
        [(count,)] = self._database.select(statements.COUNT_TURNS_UNDER_WAY, (in_utc(at).isoformat(),))
        return int(count)

    def post(self, task: TaskId, word: Spoken, *, text: str = "", question: str = "", at: datetime) -> int:
        """Put a person's word into the inbox; it is durable when this returns."""
        codec.check_word(word, text, question)
        faults.point("journal.post.before")
        with self._database.write() as connection:
            if connection.execute(statements.FIND_TASK, (task,)).fetchone() is None:
                raise TaskUnknown(task)
            values = (task, word, text, question, in_utc(at).isoformat())
            number = int(connection.execute(statements.ADD_WORD, values).fetchall()[0][0])
        faults.point("journal.post.after")
        return number

    def version(self) -> tuple[int, int]:
        """Differs from what it was whenever anybody has written since; costs no look at any table."""
        (seen,) = self._database.select("PRAGMA data_version")
        return int(seen[0]), self._database.changes

    def pending(self, task: TaskId) -> list[Word]:
        rows = self._database.select(statements.READ_WORDS, (task,))
        return [Word(key, task, word, text, asked, self._moment(at, task)) for key, word, text, asked, at in rows]

    def _moment(self, text: str, task: str) -> datetime:
        try:
            return datetime.fromisoformat(text)
        except (ValueError, TypeError) as error:
            raise JournalCorrupt(str(self._database.path), f"a time of task {task} cannot be read: {text!r}") from error

    def next_epoch(self, scope: str, holder: Holder) -> int:
        """Begin a new epoch of a scope; from now on appends of earlier ones are refused."""
        faults.point("journal.epoch.before")
        with self._database.write() as connection:
            values = (scope, msgspec.json.encode(holder).decode(), in_utc(holder.since).isoformat())
            epoch = int(connection.execute(statements.TAKE_LEASE, values).fetchall()[0][0])
        faults.point("journal.epoch.after")
        return epoch

    def lease(self, scope: str) -> LeaseRecord | None:
        for found, epoch, holder in self._database.select(statements.READ_LEASE, (scope,)):
            return LeaseRecord(found, epoch, msgspec.json.decode(holder, type=Holder))
        return None


def _add(connection: sqlite3.Connection, task: TaskId, entries: Sequence[codec.StoredEvent]) -> None:
    connection.executemany(statements.ADD_EVENT, [(task, *entry) for entry in entries])
