"""Shows whoever watches what a program says now, at a pace a person can follow."""

from flyball.agents.display.display import Show, live_line
from flyball.agents.reading.jsonl import as_event
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Clock, Notify

EVERY_S = 0.1
LONGEST_LINE = 400
KEPT = 4 * LONGEST_LINE
LONGEST_EVENT = 1024 * 1024
"""A longer line is not shown."""


class LiveView:
    """Passes on the last line of either stream, scrubbed, at most ten times a second; memory is bounded."""

    def __init__(self, notify: Notify, clock: Clock) -> None:
        self._notify, self._clock = notify, clock
        self._next = float("-inf")
        self._unended = {"stdout": b"", "stderr": b""}
        self._line = b""

    def take(self, stream: str, chunk: bytes) -> None:
        recent = self._unended[stream] + chunk[-KEPT:]
        end = max(recent.rfind(b"\n"), recent.rfind(b"\r"))
        self._unended[stream] = recent[end + 1 :][-KEPT:]
        if end > 0:
            lines = recent[:end].replace(b"\r", b"\n").split(b"\n")
            self._line = next((line for line in reversed(lines) if line.strip()), self._line)
        if self._line and self._clock.monotonic() >= self._next:
            self._show()

    def flush(self) -> None:
        self._line = self._unended["stdout"] or self._unended["stderr"] or self._line
        self._unended = {"stdout": b"", "stderr": b""}
        self._show()

    def _show(self) -> None:
        text = scrub(decode(self._line[:KEPT])).strip()[:LONGEST_LINE]
        self._line = b""
        self._next = self._clock.monotonic() + EVERY_S
        if text:
            self._notify("output", text)


class EventView:
    """Passes on what a program's events say, one line each, and its other lines as they are; memory is bounded."""

    def __init__(self, notify: Notify, clock: Clock, show: Show) -> None:
        self._shown = LiveView(notify, clock)
        self._show = show
        self._unended = b""
        self._passing = False

    def take(self, stream: str, chunk: bytes) -> None:
        if stream != "stdout":
            self._shown.take(stream, chunk)
            return
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line, self._unended = self._unended + part, b""
            if self._passing or len(line) > LONGEST_EVENT:
                self._passing = False
            else:
                self._say(line)
        self._unended += rest
        if len(self._unended) > LONGEST_EVENT:
            self._unended, self._passing = b"", True

    def flush(self) -> None:
        if self._unended and not self._passing:
            self._say(self._unended)
        self._shown.flush()

    def _say(self, line: bytes) -> None:
        event = as_event(line)
        text = line if event is None else live_line(self._show(event)).encode("utf-8", "backslashreplace")
        if text.strip():
            self._shown.take("stdout", text + b"\n")
