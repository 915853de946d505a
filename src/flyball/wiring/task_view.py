"""What is known of one task and how it came about: one reading of its journal gives both."""

from collections.abc import Iterable, Iterator

from flyball.core.fold.evolve import fold
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.core.model.task import TaskId
from flyball.ports import Journal
from flyball.projections.history.task_history import TaskHistory


class TaskView:
    def __init__(self) -> None:
        self.history = TaskHistory()
        self._state: State | None = None

    @property
    def state(self) -> State:
        assert self._state is not None
        return self._state

    def look(self, journal: Journal, task: TaskId) -> bool:
        after = self._state.seq if self._state else 0
        self._state = fold(self._record(journal.read(task, after)), self._state)
        return self._state is not None

    def take_in(self, event: Event, state: State) -> None:
        self.history.add(event)
        self._state = state

    def _record(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self.history.add(event)
            yield event
