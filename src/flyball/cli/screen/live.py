"""The live view: events scroll by and stay, below them a picture of the present moment is drawn, and keys are answered."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any, Self

import msgspec
from rich.console import Console
from rich.text import Text

from flyball.cli.screen.keys import Keys
from flyball.cli.screen.painter import Painter, size_of
from flyball.cli.screen.panel import Moment, View, fold_text, panel
from flyball.cli.screen.plain import JsonScreen, PlainScreen, Screen, ending
from flyball.clock import system_clock
from flyball.core.model.batch_events import LaneClosed
from flyball.core.model.events import Begun, Ended, Event, Judged, Moved, PersonSpoke, TaskStopped
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views import standing
from flyball.projections.views.lines import PLACE_WIDTH, line
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import next_command, reason
from flyball.projections.wording import duration

REMEMBERED = 8
"""Lines of a turn that `detail` may show."""
_STYLES: dict[type, str] = {Moved: "bold green", Judged: "bold"}
_ENDS = {"done": "bold green", "blocked": "bold red", "aborted": "bold red", "error": "bold red"}


class Controls(msgspec.Struct, frozen=True):
    """What keys can do to the loop; None where that is not possible."""

    pause: Callable[[bool], None] | None = None
    leave: Callable[[], None] | None = None
    stops: bool = True
    """Whether Ctrl-C stops the loop; who looks on only leaves."""


def usable(console: Console | None = None) -> bool:
    shown = console or Console()
    return shown.is_terminal and not shown.is_dumb_terminal


class LiveScreen:
    """A view that is replaced as a whole by the loop's thread and drawn by one of its own; a third reads keys."""

    def __init__(
        self,
        history: TaskHistory,
        console: Console | None = None,
        *,
        controls: Controls | None = None,
        keyboard: int | None = None,
    ) -> None:
        self._history = history
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._controls = controls or Controls()
        self._painter = Painter(self._console, self._picture, _in_foreground)
        self._keys = (
            Keys(keyboard, self._press, lambda: self._painter.refresh(again=True)) if keyboard is not None else None
        )
        self._lock = threading.RLock()
        self._left: PlainScreen | None = None
        self._view: View | None = None
        self._said: deque[str] = deque(maxlen=REMEMBERED)
        self._heard: dict[str, str] = {}
        self._command = self._note = ""
        self._failing: tuple[str, ...] = ()
        self._pausing: bool | None = None
        self._detail = self._help = self._asking = False
        self._held = ExitStack()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            before: Any = signal.signal(signal.SIGTSTP, self._on_stop)
            self._held.callback(signal.signal, signal.SIGTSTP, before)
        if self._keys is not None:
            self._held.enter_context(self._keys)
        self._painter.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._painter.stop()
        self._held.close()

    def listener(self, event: Event, state: State) -> None:
        with self._lock:
            if self._left is not None:
                self._left.listener(event, state)
                return
            self._see(event, state)
            text = line(event, state)
            if text is not None:
                self._print(*self._hanging(text, _style(event)))

    def notify(self, kind: str, line: str, lane: str = MAIN, /) -> None:
        with self._lock:
            if self._left is not None:
                self._left.notify(kind, line, lane)
            elif kind in ("stopping", "waiting"):
                self._print(*fold_text(Text(line, "bold yellow"), size_of(self._console).width))
            elif lane != MAIN:
                self._heard[lane] = line
            elif kind == "command":
                self._command = line
            elif not self._said or self._said[-1] != line:
                self._said.append(line)

    def closing(self, state: State) -> None:
        if self._left is not None:
            self._left.closing(state)
            return
        self._painter.stop()
        if state.stopped is None:
            return
        width = size_of(self._console).width
        said = ending(state, self._history)
        style = _ENDS.get(state.stopped.kind, "bold yellow")
        counted = f"{plural(state.iterations, 'iteration')}, {plural(state.turns, 'turn')}, {duration(state.elapsed.total_seconds())}"
        self._print(*(part for each in said.splitlines() for part in fold_text(Text(each), width)))
        self._print(*fold_text(Text(f"{situation(state)}: {state.stopped.reason}", style), width), Text(counted))
        following = next_command(state, merged=state.task.settings.merge)
        if following and state.stopped.kind != "interrupted":
            self._print(Text.assemble("next: ", (following, "bold")))

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Give the terminal to somebody else for a while; events go on scrolling by."""
        self._painter.stop()
        self._asking = True
        try:
            with self._keys.suspend() if self._keys else nullcontext():
                yield
        finally:
            self._asking = False
            self._painter.start()

    def _see(self, event: Event, state: State) -> None:
        history, fact = self._history, event.fact
        if isinstance(fact, Ended) and isinstance(fact.outcome, Measured):
            self._failing = fact.outcome.measurement.failing
        if isinstance(fact, LaneClosed | Begun):
            self._heard.pop(fact.lane if isinstance(fact, LaneClosed) else fact.effect.lane, None)
        if isinstance(fact, PersonSpoke):
            self._pausing = None
            self._note = ""
        evidence = reason(state, history) if history.judgements else ""
        health, stuck = standing.health(state, history), standing.stuck(state, history)
        self._view = View(state, history.last_measured, health, stuck, evidence, self._failing)

    def _print(self, *lines: Text) -> None:
        if self._asking:
            # The cursor stands behind the prompt.
            self._asking = False
            lines = (Text(), *lines)
        self._painter.print(lines)

    def _picture(self, width: int, height: int) -> list[Text]:
        view = self._view
        if view is None:
            return [Text("starting …", "dim")]
        moment = Moment(
            system_clock.now(),
            tuple(self._said),
            self._command,
            self._offered_keys(),
            self._note,
            self._detail,
            self._help,
            self._heard.copy(),
        )
        return panel(view, moment, width, height)

    def _offered_keys(self) -> str:
        if self._keys is None:
            return ""
        pause = ["p cancel pause" if self._is_pausing() else "p pause"] if self._controls.pause else []
        leave = ["q leave running"] if self._controls.leave else []
        return " · ".join([*pause, "d detail", "? help", *leave, *(["Ctrl-C stop"] if self._controls.stops else [])])

    def _is_pausing(self) -> bool:
        return self._pausing if self._pausing is not None else self._view is not None and self._view.state.pausing

    def _press(self, key: str) -> None:
        match key.lower():
            case "p" if self._controls.pause is not None:
                self._pausing = not self._is_pausing()
                self._controls.pause(self._pausing)
                ends = "pausing when this iteration ends; p cancels"
                self._note = ends if self._pausing else "pause cancelled"
            case "d":
                self._detail, self._help = not self._detail, False
            case "?" | "h":
                self._help = not self._help
            case "q" if self._controls.leave is not None:
                self._leave(self._controls.leave)
            case "q" | "p":
                self._note = "this run cannot be paused or left; Ctrl-C ends it"
        self._painter.refresh()

    def _leave(self, leave: Callable[[], None]) -> None:
        """Let the loop go on without this terminal; from here on it is told in plain lines, to a log."""
        with self._lock:
            self._painter.stop()
            try:
                with self._keys.suspend() if self._keys else nullcontext():
                    leave()
            except OSError as error:
                self._note = f"this run cannot be left: {error.strerror}: {error.filename}"
                self._painter.start()
                return
            self._left = PlainScreen(self._history)
            if self._keys is not None:
                self._keys.end()

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: leave the terminal as it was, stop, and take it up again when continued."""
        with self._painter.hide(), self._keys.suspend() if self._keys else nullcontext():
            os.kill(os.getpid(), signal.SIGSTOP)

    def _hanging(self, text: str, style: str) -> list[Text]:
        """The place on the left, and beside it what happened, however many lines it takes."""
        width = size_of(self._console).width
        indent = PLACE_WIDTH + 1 if width >= 4 * PLACE_WIDTH else 2
        place, told = Text.assemble((text[:PLACE_WIDTH].rstrip(), "dim")), Text(text[PLACE_WIDTH:].lstrip(), style)
        if indent == 2:
            place.append(" ").append_text(told)
            first, *rest = fold_text(place, width - indent)
            return [first, *(Text("  ").append_text(each) for each in rest)]
        first, *rest = fold_text(told, width - indent)
        place.pad_right(indent - len(place))
        return [place.append_text(first), *(Text(" " * indent).append_text(each) for each in rest)]


def _in_foreground() -> bool:
    """Whether the terminal is this process group's to draw on; a stream that is no terminal always is."""
    with suppress(OSError, ValueError):
        return os.tcgetpgrp(sys.stdout.fileno()) == os.getpgrp()
    return True


def _style(event: Event) -> str:
    fact = event.fact
    if isinstance(fact, TaskStopped):
        return _ENDS.get(fact.kind, "bold yellow")
    if isinstance(fact, Judged) and fact.false_claim:
        return "bold red"
    return _STYLES.get(type(fact), "")


def screen(history: TaskHistory, *, as_json: bool, terminal: bool, controls: Controls | None = None) -> Screen:
    """The screen that fits; the history is kept by whoever keeps the task, and knows of an event before its screen does."""
    if as_json:
        return JsonScreen(history)
    if terminal and usable():
        keyboard = sys.stdin.fileno() if controls is not None and sys.stdin.isatty() else None
        return LiveScreen(history, controls=controls, keyboard=keyboard)
    return PlainScreen(history)
