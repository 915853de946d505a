"""Shows whoever watches what a program says now, at a pace a person can follow."""

from __future__ import annotations

from flyball.core.text import decode, scrub
from flyball.ports import Clock, Notify

EVERY_S = 0.1
LONGEST_LINE = 400
KEPT = 4 * LONGEST_LINE


class LiveView:
    """Passes on the last line of either stream, scrubbed, at most ten times a second; memory is bounded."""

    def __init__(self, notify: Notify, clock: Clock) -> None:
        self._notify, self._clock = notify, clock
        self._next = float("-inf")
        self._unended = {"stdout": b"", "stderr": b""}
        self._line = b""

    def take(self, stream: str, chunk: bytes) -> None:
        """Called with every piece of output, however large."""
        recent = self._unended[stream] + chunk[-KEPT:]
        end = max(recent.rfind(b"\n"), recent.rfind(b"\r"))
        self._unended[stream] = recent[end + 1 :][-KEPT:]
        if end > 0:
            lines = recent[:end].replace(b"\r", b"\n").split(b"\n")
            self._line = next((line for line in reversed(lines) if line.strip()), self._line)
        if self._line and self._clock.monotonic() >= self._next:
            self._show()

    def flush(self) -> None:
        """Show what came last."""
        self._line = self._unended["stdout"] or self._unended["stderr"] or self._line
        self._unended = {"stdout": b"", "stderr": b""}
        self._show()

    def _show(self) -> None:
        text = scrub(decode(self._line[:KEPT])).strip()[:LONGEST_LINE]
        self._line = b""
        self._next = self._clock.monotonic() + EVERY_S
        if text:
            self._notify("output", text)
