"""Keeps a picture at the bottom of the terminal, below what was printed, and draws it again when it or the terminal's size has changed.

After each drawing the cursor goes back to the cell behind what was printed. However a terminal folds lines anew when it is resized,
it keeps the cursor on its cell, so "from the cursor down" is always the old picture and nothing else: nobody has to count lines. The
picture stands in the last rows because terminals keep those: what they push out at the top is what was printed, or blank.
"""

import io
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from rich.console import Console, ConsoleDimensions
from rich.text import Text

FRAMES_A_SECOND = 4
_COLOURS: dict[str, Literal["standard", "256", "truecolor"]] = {
    "standard": "standard",
    "256": "256",
    "truecolor": "truecolor",
}
# To erase from the very first cell of the screen makes some terminals scroll it into the past, hence the blank.
_ERASE = "\r\x1b[K \x1b[J\r"
# A line that is too long because the terminal has just become narrower is cut, and still is one line.
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_KEEP, _BACK, _TO_THE_END = "\x1b7", "\x1b8", "\x1b[999B"

Picture = Callable[[int, int], Sequence[Text]]
"""Gives the lines for a width and a height."""


def size_of(console: Console) -> ConsoleDimensions:
    """How large the terminal is now, whatever COLUMNS says: an exported one is as old as the shell."""
    try:
        now = os.get_terminal_size(console.file.fileno())
    except (OSError, ValueError):
        return console.size
    return ConsoleDimensions(now.columns, now.lines) if now.columns and now.lines else console.size


class Painter:
    """Owns the bottom of a terminal between `start` and `stop`; a terminal that has gone does not end the work."""

    def __init__(self, console: Console, picture: Picture, visible: Callable[[], bool] = lambda: True) -> None:
        self._console = console
        self._styles = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system=_COLOURS.get(console.color_system or ""),
            no_color=console.no_color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._picture = picture
        self._visible = visible
        self._lock = threading.RLock()
        self._drawn: tuple[object, ...] | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        with self._lock:
            if self._thread is not None:
                return
            self._done = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(self._done,), name="painter", daemon=True)
            self.refresh()
            self._thread.start()

    def stop(self) -> None:
        """Take the picture away; the cursor stands where it began."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._done.set()
            if self._drawn is not None:
                self._write(_ERASE)
            self._drawn = None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def refresh(self, *, again: bool = False) -> None:
        """Draw what has changed; `again` also what has not, for a terminal that others wrote to."""
        with self._lock:
            if self._thread is None or not self._visible():
                return
            if again:
                self._drawn = None
            size = size_of(self._console)
            lines = self._picture(size.width, size.height)[: max(1, size.height - 1)]
            drawing = "\n".join(self._render(line) for line in lines)
            if (size, drawing) == self._drawn:
                return
            more = len(lines) - 1
            up = f"\x1b[{more}A\r" if more else "\r"
            room = "\n" * more + up
            self._write(f"{_ERASE}{room}{_KEEP}{_TO_THE_END}{up}{_NO_WRAP}{drawing}{_WRAP}{_BACK}")
            self._drawn = (size, drawing)

    def print(self, lines: Sequence[Text]) -> None:
        """Put lines above the picture, to stay."""
        text = "".join(f"{self._render(line)}\n" for line in lines)
        with self._lock:
            self._write(f"{_ERASE}{text}" if self._drawn is not None else text)
            self._drawn = None
            self.refresh()

    @contextmanager
    def hide(self) -> Iterator[None]:
        """Without the picture for a while, in which nobody else prints; then it is drawn again."""
        with self._lock:
            if self._drawn is not None:
                self._write(_ERASE)
            try:
                yield
            finally:
                self.refresh(again=True)

    def _run(self, done: threading.Event) -> None:
        while not done.wait(1 / FRAMES_A_SECOND):
            self.refresh()

    def _render(self, line: Text) -> str:
        with self._styles.capture() as captured:
            self._styles.print(line, end="", no_wrap=True, overflow="ignore", crop=False)
        return captured.get()

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            self._console.file.write(text)
            self._console.file.flush()
