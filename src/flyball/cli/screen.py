"""What `run` and `resume` show: plain lines, JSON lines, or the live view of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, Self

import msgspec

from flyball.cli.output import silence
from flyball.core.events import Event
from flyball.core.state import State
from flyball.projections.banner import banner
from flyball.projections.chronicle import Chronicle
from flyball.projections.lines import json_line, line
from flyball.projections.standing import next_command
from flyball.projections.status import status


class Screen(Protocol):
    """Shows a loop while it runs. `listener` is called in the loop's thread, `notify` from any."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def listener(self, event: Event, state: State) -> None: ...
    def notify(self, kind: str, line: str) -> None: ...
    def closing(self, state: State) -> None: ...
    def suspended(self) -> AbstractContextManager[None]: ...


def screen(*, as_json: bool, terminal: bool, past: Iterable[Event] = ()) -> Screen:
    """The screen that fits; `past` are the task's events so far, which the last line of `--json` needs."""
    chronicle = Chronicle(past)
    if as_json:
        return JsonScreen(chronicle)
    if terminal:
        from flyball.cli.live import LiveScreen, usable

        if usable():
            return LiveScreen(chronicle)
    return PlainScreen(chronicle)


class PlainScreen:
    """One line for each event worth telling; a reader that goes away does not end the work."""

    def __init__(self, chronicle: Chronicle) -> None:
        self.chronicle = chronicle
        self._gone = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def listener(self, event: Event, state: State) -> None:
        self.chronicle.add(event)
        text = line(event, state)
        if text is not None:
            self.write(text)

    def notify(self, kind: str, line: str) -> None:
        """What agents and gates say meanwhile is in the transcript; plain output keeps to facts."""

    def closing(self, state: State) -> None:
        self.write(ending(state, self.chronicle))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        yield

    def write(self, text: str) -> None:
        if self._gone or not text:
            return
        try:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._gone = True
            silence()


class JsonScreen(PlainScreen):
    """One JSON object for each event, and the task's status as the last line."""

    def listener(self, event: Event, state: State) -> None:  # noqa: ARG002 - the port's word
        self.chronicle.add(event)
        self.write(json_line(event).decode())

    def closing(self, state: State) -> None:
        self.write(msgspec.json.encode(status(state, self.chronicle)).decode())


def ending(state: State, chronicle: Chronicle) -> str:
    """What is said last: the banner of an open breaker, what was found, and the next command."""
    stopped = state.stopped
    if stopped is None:
        return ""
    asked = state.questions.get(stopped.question) if stopped.question else None
    if asked is not None and asked.question.name == "breaker":
        return banner(state, chronicle).rstrip("\n")
    parts = [f"  {text}" for text in stopped.evidence[:12]]
    if stopped.kind == "interrupted":
        parts.append(f"resume with `{next_command(state)}`")
    return "\n".join(parts)
