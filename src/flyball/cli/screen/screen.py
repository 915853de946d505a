"""What `run` and `resume` show: plain lines, JSON lines, or the live view of a terminal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, Self

from flyball.cli.screen.plain import JsonScreen, PlainScreen
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.projections.history.task_history import TaskHistory

if TYPE_CHECKING:
    from flyball.cli.screen.live import Controls


class Screen(Protocol):
    """Shows a loop while it runs. `listener` is called in the loop's thread, `notify` from any."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def listener(self, event: Event, state: State) -> None: ...
    def notify(self, kind: str, line: str, lane: str = MAIN, /) -> None: ...
    def closing(self, state: State) -> None: ...
    def suspended(self) -> AbstractContextManager[None]: ...


def screen(history: TaskHistory, *, as_json: bool, terminal: bool, controls: Controls | None = None) -> Screen:
    """The screen that fits; the history is kept by whoever keeps the task, and knows of an event before its screen does."""
    if as_json:
        return JsonScreen(history)
    if terminal:
        from flyball.cli.screen.live import LiveScreen, usable

        if usable():
            keyboard = sys.stdin.fileno() if controls is not None and sys.stdin.isatty() else None
            return LiveScreen(history, controls=controls, keyboard=keyboard)
    return PlainScreen(history)
