"""One reading of a journal gives state and history, and nobody who has it reads the journal again."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.support.simulator import Honest, Simulator

from flyball.core.fold.evolve import evolve, fold
from flyball.core.model.events import Event, Moved
from flyball.core.model.task import TaskId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.wiring.task_view import TaskView

TASK = TaskId("001-it-works")


class Counted:
    """A journal that knows what was read of it."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.read_so_far: list[int] = []

    def append(self, *_: object, **__: object) -> list[Event]:
        raise NotImplementedError

    def read(self, task: TaskId, after: int = 0) -> Iterable[Event]:
        assert task == TASK
        for event in self.events[after:]:
            self.read_so_far.append(event.seq)
            yield event


def a_journal() -> list[Event]:
    simulator = Simulator(Honest())
    simulator.run()
    return simulator.events


def test_state_and_history_come_from_one_reading():
    events = a_journal()
    journal, view = Counted(events), TaskView()
    assert view.look(journal, TASK)
    assert journal.read_so_far == [event.seq for event in events]
    assert view.state == fold(events)
    assert report(view.state, view.history) == report(view.state, TaskHistory(events))


@pytest.mark.parametrize("known", [1, 2, 17])
def test_a_second_look_reads_only_what_was_added(known: int):
    events = a_journal()
    journal, view = Counted(events[:known]), TaskView()
    view.look(journal, TASK)
    journal.events = events
    view.look(journal, TASK)
    assert journal.read_so_far == [event.seq for event in events]
    assert view.state == fold(events)
    assert report(view.state, view.history) == report(view.state, TaskHistory(events))


def test_what_is_heard_while_it_happens_is_not_read_again():
    events = a_journal()
    journal, view = Counted(events[:5]), TaskView()
    view.look(journal, TASK)
    journal.events = events
    for event in events[5:]:
        view.take_in(event, evolve(view.state, event))
    view.look(journal, TASK)
    assert journal.read_so_far == [1, 2, 3, 4, 5]
    assert view.state == fold(events)
    assert len(view.history.moves) == sum(isinstance(event.fact, Moved) for event in events)


def test_a_journal_without_events_has_no_view():
    assert not TaskView().look(Counted([]), TASK)
