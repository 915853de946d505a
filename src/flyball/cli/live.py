"""The live view: events scroll by and stay, and below them a picture of the present moment is drawn again and again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from flyball.cli.endings import ending
from flyball.cli.panel import Moment, View, panel
from flyball.clock import system_clock
from flyball.core.events import Event, Judged, Moved, TaskStopped
from flyball.core.quantities import plural
from flyball.core.state import State
from flyball.projections.chronicle import Chronicle
from flyball.projections.lines import PLACE_WIDTH, line
from flyball.projections.situation import situation
from flyball.projections.standing import health, next_command, reason
from flyball.projections.wording import duration

FRAMES_A_SECOND = 4
_STYLES: dict[type, str] = {Moved: "bold green", Judged: "bold"}
_ENDS = {"done": "bold green", "blocked": "bold red", "aborted": "bold red", "error": "bold red"}


def usable(console: Console | None = None) -> bool:
    """Whether this terminal can move its cursor."""
    shown = console or Console()
    return shown.is_terminal and not shown.is_dumb_terminal


class LiveScreen:
    """A view that is replaced as a whole by the loop's thread and drawn by one of its own."""

    def __init__(self, chronicle: Chronicle, console: Console | None = None) -> None:
        self._chronicle = chronicle
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._view: View | None = None
        self._said = ""
        self._command = ""
        self._live: Live | None = None
        self._asking = False

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def listener(self, event: Event, state: State) -> None:
        chronicle = self._chronicle
        evidence = reason(state, chronicle) if chronicle.judgements else ""
        self._view = View(state, chronicle.measured, health(state, chronicle), evidence)
        text = line(event, state)
        if text is None:
            return
        self._said = ""
        self._print(_hanging(text, _style(event)))

    def notify(self, kind: str, line: str) -> None:
        if kind == "stopping":
            self._print(Text(line, "bold yellow"))
        elif kind == "command":
            self._command = line
        else:
            self._said = line

    def closing(self, state: State) -> None:
        self._stop()
        if state.stopped is None:
            return
        self._print(Text(ending(state, self._chronicle)))
        style = _ENDS.get(state.stopped.kind, "bold yellow")
        spent = duration(state.elapsed.total_seconds())
        self._print(Text(f"{situation(state)}: {state.stopped.reason}", style))
        counted = f"{plural(state.iterations, 'iteration')}, {plural(state.turns, 'turn')}, {spent}"
        self._print(Text(counted))
        if next_command(state) and state.stopped.kind != "interrupted":
            self._print(Text.assemble("next: ", (next_command(state), "bold")))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Give the terminal to somebody else for a while; events go on scrolling by."""
        self._stop()
        self._asking = True
        try:
            yield
        finally:
            self._asking = False
            self._start()

    def _start(self) -> None:
        if self._live is not None:
            return
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=FRAMES_A_SECOND,
            transient=True,
        )
        with suppress(OSError):
            self._live.start()
            # A controller may be killed at any moment; a terminal whose cursor was never hidden needs no repair then.
            self._console.show_cursor()

    def _stop(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            with suppress(OSError):
                live.stop()

    def _print(self, what: RenderableType) -> None:
        """A terminal that has gone does not end the work."""
        with suppress(OSError):
            if self._asking:
                # The cursor stands behind the prompt.
                self._asking = False
                self._console.print()
            self._console.print(what)

    def _render(self) -> RenderableType:
        if self._view is None:
            return Text("starting …", "dim")
        moment = Moment(system_clock.now(), self._said, self._command)
        return panel(self._view, moment, self._console.width)


def _hanging(text: str, style: str) -> Table:
    """The place on the left, and beside it what happened, however many lines it takes."""
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(width=PLACE_WIDTH, no_wrap=True)
    row.add_column(ratio=1, overflow="fold")
    row.add_row(Text(text[:PLACE_WIDTH].rstrip(), "dim"), Text(text[PLACE_WIDTH:].lstrip(), style))
    return row


def _style(event: Event) -> str:
    fact = event.fact
    if isinstance(fact, TaskStopped):
        return _ENDS.get(fact.kind, "bold yellow")
    if isinstance(fact, Judged) and fact.false_claim:
        return "bold red"
    return _STYLES.get(type(fact), "")
