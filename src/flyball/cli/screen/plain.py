"""What every screen of a run can do, and a run as lines: one for each event worth telling, with its time, or one JSON object for each event."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, Self

import msgspec

from flyball.cli.support.output import no_output, silence, tell, time_of_day
from flyball.clock import system_clock
from flyball.core.model.events import Event
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.banner import banner
from flyball.projections.views.lines import json_line, line
from flyball.projections.views.standing import next_command
from flyball.projections.views.status import status


class Screen(Protocol):
    """Shows a loop while it runs. `listener` is called in the loop's thread, `notify` from any."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def listener(self, event: Event, state: State) -> None: ...
    def notify(self, kind: str, line: str, lane: str = MAIN, /) -> None: ...
    def closing(self, state: State) -> None: ...
    def suspend(self) -> AbstractContextManager[None]: ...


class PlainScreen:
    """One line for each event worth telling; an output that takes nothing more does not end the work."""

    def __init__(self, history: TaskHistory) -> None:
        self._history = history
        self._gone = sys.stdout is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def listener(self, event: Event, state: State) -> None:
        text = line(event, state)
        if text is not None:
            self.write(f"{time_of_day(event.at)} {text}")

    def notify(self, kind: str, line: str, _lane: str = MAIN, /) -> None:
        """What agents and gates say meanwhile is in the transcript; plain output keeps to facts and to what a person did."""
        if kind in ("stopping", "waiting"):
            self.write(f"{time_of_day(system_clock.now())} {line}")

    def closing(self, state: State) -> None:
        """The last lines have no time of day: commands among them are there to be copied."""
        self.write(ending(state, self._history))

    @contextmanager
    def suspend(self) -> Iterator[None]:
        yield

    def write(self, text: str) -> None:
        if self._gone or not text:
            return
        try:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        except OSError as error:
            self._gone = True
            silence(sys.stdout)
            if not isinstance(error, BrokenPipeError):
                tell(f"flyball: {no_output(error)}; the work goes on\n")


class JsonScreen(PlainScreen):
    """One JSON object for each event, and the task's status as the last line."""

    def listener(self, event: Event, state: State) -> None:  # noqa: ARG002 - the port's word
        self.write(json_line(event).decode())

    def notify(self, kind: str, line: str, lane: str = MAIN, /) -> None:
        """Programs read facts alone."""

    def closing(self, state: State) -> None:
        self.write(msgspec.json.encode(status(state, self._history)).decode())


def ending(state: State, history: TaskHistory) -> str:
    """What is said last of a run: an open breaker's banner, or what was found and the next command; empty for a task that goes on."""
    stopped = state.stopped
    if stopped is None:
        return ""
    asked = state.questions.get(stopped.question) if stopped.question else None
    if asked is not None and asked.question.name == "breaker":
        return banner(state, history).rstrip("\n")
    parts = [f"  {text}" for text in stopped.evidence[:12]]
    if stopped.kind == "interrupted":
        parts.append(f"resume with `{next_command(state)}`")
    return "\n".join(parts)
