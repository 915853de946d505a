"""What every journal must do, as tests: subclass `JournalSuite` in a pytest module and give it a fixture named `journal`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from threading import Thread
from typing import Any, Protocol

import pytest

from flyball.core.model import events as ev
from flyball.core.model.effects import Wait
from flyball.core.model.outcomes import Waited
from flyball.core.model.task import EffectId, TaskId
from flyball.journal.errors import JournalError, LeaseLost, TaskUnknown
from flyball.journal.records import Holder, LeaseRecord, Opening, TaskRecord, task_scope
from flyball.ports import Journal, Word

AT = datetime(2026, 1, 5, 9, 0, 0, 123456, tzinfo=UTC)
MOVED = ev.Moved("GREEN", "RED", "the new tests fail as they should")


class WholeJournal(Journal, Protocol):
    """All that wiring asks of a journal; the engine needs only `ports.Journal` and `ports.Inbox`."""

    def open_task(
        self, slug: str, *, workflow: str, title: str, at: datetime, highest_on_disk: int = 0, opening: Opening = ...
    ) -> TaskRecord: ...
    def tasks(self) -> Sequence[TaskRecord]: ...
    def post(self, task: TaskId, word: ev.Spoken, *, text: str = "", question: str = "", at: datetime) -> int: ...
    def pending(self, task: TaskId) -> Sequence[Word]: ...
    def next_epoch(self, scope: str, holder: Holder) -> int: ...
    def lease(self, scope: str) -> LeaseRecord | None: ...


def a_task(journal: WholeJournal, slug: str = "it-works", opening: Opening = lambda _: ()) -> TaskId:
    return journal.open_task(slug, workflow="tdd", title="make it work", at=AT, opening=opening).id


def facts_of(events: Iterable[ev.Event]) -> list[ev.Fact]:
    return [event.fact for event in events]


class AppendingAndReading:
    """Facts come back as they went in, in order, all or none."""

    def test_what_is_appended_is_read_back_in_order(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        wait = Wait(EffectId("wait/1"), AT + timedelta(hours=1), "usage limit")
        facts: list[ev.Fact] = [ev.SessionStarted(1, "here", "0"), ev.Begun(wait), ev.Ended(wait.id, Waited()), MOVED]
        first = journal.append(task, facts[:2], epoch=3, at=AT)
        second = journal.append(task, facts[2:], epoch=3, at=AT + timedelta(seconds=1))
        events = list(journal.read(task))
        assert events == first + second
        assert facts_of(events) == facts
        assert [event.seq for event in events] == [1, 2, 3, 4]
        assert [event.at for event in events] == [AT, AT, AT + timedelta(seconds=1), AT + timedelta(seconds=1)]
        assert {event.epoch for event in events} == {3}

    def test_reading_can_begin_after_an_event(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        journal.append(task, [MOVED] * 5, epoch=0, at=AT)
        assert [event.seq for event in journal.read(task, after=3)] == [4, 5]
        assert list(journal.read(task, after=5)) == []

    def test_a_journal_longer_than_a_page_is_read_whole(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        journal.append(task, [ev.TurnSetAside(turn, "planned") for turn in range(2000)], epoch=0, at=AT)
        assert [event.seq for event in journal.read(task)] == list(range(1, 2001))

    def test_tasks_do_not_see_each_other(self, journal: WholeJournal) -> None:
        one, two = a_task(journal, "one"), a_task(journal, "two")
        journal.append(one, [MOVED], epoch=0, at=AT)
        journal.append(two, [ev.SessionStarted(1, "here", "0")], epoch=0, at=AT)
        assert facts_of(journal.read(one)) == [MOVED]
        assert [event.seq for event in journal.read(two)] == [1]

    def test_a_time_is_kept_to_the_microsecond_and_in_utc(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        there = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
        (event,) = journal.append(task, [MOVED], epoch=0, at=there)
        assert event.at == AT
        assert event.at.utcoffset() == timedelta(0)

    def test_a_time_without_a_zone_is_refused(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        with pytest.raises(ValueError, match="time zone"):
            journal.append(task, [MOVED], epoch=0, at=AT.replace(tzinfo=None))
        assert list(journal.read(task)) == []

    def test_text_of_any_kind_survives(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        odd = ev.Moved("GREEN", "RED", "zero \0, escape \x1b[31m, quote ' \" \\, 漢字, 🎛\u2028\n")
        journal.append(task, [odd], epoch=0, at=AT)
        assert facts_of(journal.read(task)) == [odd]

    def test_a_fact_that_could_not_be_read_back_is_refused_with_all_its_neighbours(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        wrong: Any = "not a number"
        unreadable = (ev.TurnSetAside(wrong, "planned"), ev.Moved("GREEN", "RED", "half a character \ud800"))
        for fact in unreadable:
            with pytest.raises(JournalError, match="cannot be stored"):
                journal.append(task, [MOVED, fact], epoch=0, at=AT)
        assert list(journal.read(task)) == []

    def test_an_unknown_task_is_named(self, journal: WholeJournal) -> None:
        with pytest.raises(TaskUnknown, match="007-bond"):
            journal.append(TaskId("007-bond"), [MOVED], epoch=0, at=AT)
        with pytest.raises(TaskUnknown, match="007-bond"):
            journal.post(TaskId("007-bond"), "pause", at=AT)
        assert list(journal.read(TaskId("007-bond"))) == []

    def test_threads_that_append_together_leave_no_gap(self, journal: WholeJournal) -> None:
        task = a_task(journal)

        def append() -> None:
            for _ in range(25):
                journal.append(task, [MOVED, MOVED], epoch=0, at=AT)

        threads = [Thread(target=append) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [event.seq for event in journal.read(task)] == list(range(1, 201))


class NumberingTasks:
    """Every task has a number of its own, above those of the folders on disk."""

    def test_tasks_are_numbered_one_after_another(self, journal: WholeJournal) -> None:
        assert [a_task(journal, slug) for slug in ("a", "b")] == ["001-a", "002-b"]

    def test_a_number_used_by_a_folder_is_not_given_again(self, journal: WholeJournal) -> None:
        a_task(journal)
        record = journal.open_task("later", workflow="plan", title="later", at=AT, highest_on_disk=41)
        assert (record.id, record.number) == ("042-later", 42)
        assert a_task(journal, "next") == "043-next"

    def test_a_task_is_listed_with_what_it_was_opened_with(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        assert list(journal.tasks()) == [TaskRecord(task, 1, "tdd", "make it work", AT)]

    def test_the_first_facts_come_with_the_task(self, journal: WholeJournal) -> None:
        task = a_task(journal, opening=lambda task: [ev.Moved("RED", "", f"{task} begins")])
        assert facts_of(journal.read(task)) == [ev.Moved("RED", "", "001-it-works begins")]
        assert [event.seq for event in journal.append(task, [MOVED], epoch=0, at=AT)] == [2]

    def test_a_task_whose_first_facts_are_refused_does_not_exist(self, journal: WholeJournal) -> None:
        wrong: Any = None
        with pytest.raises(JournalError, match="cannot be stored"):
            a_task(journal, opening=lambda _: [ev.TurnSetAside(wrong, "planned")])
        assert list(journal.tasks()) == []

    def test_a_slug_that_could_leave_its_folder_is_refused(self, journal: WholeJournal) -> None:
        for slug in ("", "../up", "a/b", ".hidden"):
            with pytest.raises(ValueError, match="is not a task id"):
                a_task(journal, slug)


class Fencing:
    """Only the epoch that holds the lease appends."""

    def test_an_append_of_an_older_epoch_is_refused(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        old = journal.next_epoch(task_scope(task), Holder(1, "here", AT))
        journal.append(task, [MOVED], epoch=old, at=AT)
        new = journal.next_epoch(task_scope(task), Holder(2, "there", AT))
        with pytest.raises(LeaseLost, match=f"epoch {new}; this one has {old}"):
            journal.append(task, [MOVED], epoch=old, at=AT)
        journal.append(task, [MOVED], epoch=new, at=AT)
        assert [event.epoch for event in journal.read(task)] == [old, new]

    def test_epochs_of_one_scope_rise_and_leave_others_alone(self, journal: WholeJournal) -> None:
        holder = Holder(1, "here", AT)
        assert [journal.next_epoch("tree:abc", holder) for _ in range(3)] == [1, 2, 3]
        assert journal.next_epoch("tree:def", holder) == 1

    def test_the_last_holder_is_known(self, journal: WholeJournal) -> None:
        assert journal.lease("tree:abc") is None
        journal.next_epoch("tree:abc", Holder(1, "here", AT))
        journal.next_epoch("tree:abc", Holder(2, "there", AT))
        assert journal.lease("tree:abc") == LeaseRecord("tree:abc", 2, Holder(2, "there", AT))


class PassingWordsOn:
    """A person's word reaches its task exactly once."""

    def test_a_word_waits_until_it_is_taken(self, journal: WholeJournal) -> None:
        task, other = a_task(journal, "one"), a_task(journal, "two")
        first = journal.post(task, "answer", text="yes", question="ask/1", at=AT)
        second = journal.post(task, "pause", at=AT)
        journal.post(other, "skip", at=AT)
        assert list(journal.pending(task)) == [
            Word(first, task, "answer", "yes", "ask/1", AT),
            Word(second, task, "pause", "", "", AT),
        ]
        journal.append(task, [ev.PersonSpoke("answer", "yes", "ask/1", first)], epoch=0, at=AT, taking=[first])
        assert [word.id for word in journal.pending(task)] == [second]

    def test_a_word_cannot_be_taken_twice(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        word = journal.post(task, "skip", at=AT)
        spoke = ev.PersonSpoke("skip", inbox=word)
        journal.append(task, [spoke], epoch=0, at=AT, taking=[word])
        with pytest.raises(JournalError, match="not waiting in the inbox"):
            journal.append(task, [MOVED, spoke], epoch=0, at=AT, taking=[word])
        assert facts_of(journal.read(task)) == [spoke]

    def test_a_word_of_another_task_cannot_be_taken(self, journal: WholeJournal) -> None:
        task, other = a_task(journal, "one"), a_task(journal, "two")
        word = journal.post(other, "skip", at=AT)
        with pytest.raises(JournalError, match="not waiting in the inbox"):
            journal.append(task, [ev.PersonSpoke("skip", inbox=word)], epoch=0, at=AT, taking=[word])
        assert [word.id for word in journal.pending(other)] == [word]

    def test_a_word_is_not_taken_when_its_facts_are_refused(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        word = journal.post(task, "skip", at=AT)
        epoch = journal.next_epoch(task_scope(task), Holder(1, "here", AT))
        with pytest.raises(LeaseLost):
            journal.append(task, [ev.PersonSpoke("skip", inbox=word)], epoch=epoch - 1, at=AT, taking=[word])
        assert [waiting.id for waiting in journal.pending(task)] == [word]

    def test_taking_a_word_without_saying_it_is_refused_and_the_other_way_round(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        word = journal.post(task, "skip", at=AT)
        with pytest.raises(ValueError, match="lost or doubled"):
            journal.append(task, [MOVED], epoch=0, at=AT, taking=[word])
        with pytest.raises(ValueError, match="lost or doubled"):
            journal.append(task, [ev.PersonSpoke("skip", inbox=word)], epoch=0, at=AT)
        assert list(journal.read(task)) == []

    def test_a_word_that_could_not_become_a_fact_is_refused(self, journal: WholeJournal) -> None:
        task = a_task(journal)
        unknown: Any = "dance"
        with pytest.raises(JournalError, match="cannot be passed on"):
            journal.post(task, unknown, at=AT)
        with pytest.raises(JournalError, match="cannot be passed on"):
            journal.post(task, "modify", text="half a character \ud800", at=AT)
        assert list(journal.pending(task)) == []


class JournalSuite(AppendingAndReading, NumberingTasks, Fencing, PassingWordsOn):
    """The whole suite."""
