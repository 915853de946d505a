"""A journal in memory, for tests; it behaves as the one on disk does."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import datetime

from flyball.core.model.events import Event, Fact, Spoken
from flyball.core.model.naming import task_id
from flyball.core.model.task import TaskId
from flyball.journal import codec
from flyball.journal.errors import JournalError, LeaseLost, TaskUnknown
from flyball.journal.records import Holder, LeaseRecord, Opening, TaskRecord, in_utc, task_scope
from flyball.ports import Word

_NAME = "in memory"


class MemoryJournal:
    """Keeps bodies, not objects, so that whatever is read has been through the codec."""

    def __init__(self) -> None:
        self._turn = threading.RLock()
        self._tasks: dict[TaskId, TaskRecord] = {}
        self._rows: dict[TaskId, list[tuple[bytes, int]]] = {}
        self._inbox: dict[int, Word] = {}
        self._words = 0
        self._leases: dict[str, LeaseRecord] = {}

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
        with self._turn:
            number = max([highest_on_disk, *(record.number for record in self._tasks.values())]) + 1
            record = TaskRecord(task_id(number, slug), number, workflow, title, in_utc(at))
            entries, _ = codec.encode(record.id, opening(record.id), after=0, epoch=0, at=at)
            self._tasks[record.id] = record
            self._rows[record.id] = [(entry.body.encode(), entry.crc) for entry in entries]
            return record

    def tasks(self) -> list[TaskRecord]:
        with self._turn:
            return sorted(self._tasks.values(), key=lambda record: record.number)

    def append(
        self, task: TaskId, facts: Sequence[Fact], *, epoch: int, at: datetime, taking: Sequence[int] = ()
    ) -> list[Event]:
        with self._turn:
            rows = self._rows_of(task)
            lease = self._leases.get(task_scope(task))
            if lease is not None and lease.epoch != epoch:
                raise LeaseLost(codec.stale_message(task, epoch, lease.epoch))
            entries, events = codec.encode(task, facts, after=len(rows), epoch=epoch, at=at)
            words = codec.words_taken(events, taking)
            for word in words:
                if word not in self._inbox or self._inbox[word].task != task:
                    raise JournalError(f"Word {word} of task {task} is not waiting in the inbox; nothing was appended.")
            rows += [(entry.body.encode(), entry.crc) for entry in entries]
            for word in words:
                del self._inbox[word]
            return events

    def read(self, task: TaskId, after: int = 0) -> Iterator[Event]:
        while rows := self._rows.get(task, [])[after : after + 512]:
            yield from codec.decode(_NAME, task, rows, after=after)
            after += len(rows)

    def post(self, task: TaskId, word: Spoken, *, text: str = "", question: str = "", at: datetime) -> int:
        codec.check_word(word, text, question)
        with self._turn:
            self._rows_of(task)
            moment = in_utc(at)
            self._words += 1
            self._inbox[self._words] = Word(self._words, task, word, text, question, moment)
            return self._words

    def pending(self, task: TaskId) -> list[Word]:
        with self._turn:
            return [word for word in self._inbox.values() if word.task == task]

    def next_epoch(self, scope: str, holder: Holder) -> int:
        with self._turn:
            in_utc(holder.since)
            last = self._leases.get(scope)
            self._leases[scope] = LeaseRecord(scope, last.epoch + 1 if last else 1, holder)
            return self._leases[scope].epoch

    def lease(self, scope: str) -> LeaseRecord | None:
        return self._leases.get(scope)

    def _rows_of(self, task: TaskId) -> list[tuple[bytes, int]]:
        if task not in self._rows:
            raise TaskUnknown(task)
        return self._rows[task]
