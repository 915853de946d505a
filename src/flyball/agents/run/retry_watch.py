"""Notices a client that goes to sleep on a limit inside its own process, so that the wait is the loop's and not the turn's."""

from __future__ import annotations

import re

from flyball.core.providers.limits import long_retry
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Clock, Stop

KEPT = 8 * 1024
BRIEF = 300


class SleepWatch:
    """The turn's stop, set also when the program sleeps.

    It does if standard error says "Retrying in N" with an N longer than a minute, or if nothing comes for `silent_s` after a line
    that matches `retrying`.
    """

    def __init__(self, stop: Stop, clock: Clock, retrying: str = "", silent_s: float = 0.0) -> None:
        self._stop, self._clock, self._silent_s = stop, clock, silent_s
        self._retrying = re.compile(retrying) if retrying else None
        self._recent = {"stdout": b"", "stderr": b""}
        self._retried_at: float | None = None
        self._said = ""
        self.sleeping = False

    @property
    def reason(self) -> str:
        told = "it went to sleep on a limit"
        return f"{told}: {self._said}".rstrip(": ") if self.sleeping else getattr(self._stop, "reason", "")

    def is_set(self) -> bool:
        if self._retried_at is not None and self._clock.monotonic() - self._retried_at >= self._silent_s:
            self.sleeping = True
        return self.sleeping or self._stop.is_set()

    def set(self, reason: str = "") -> None:
        self._stop.set(reason)

    def take(self, stream: str, chunk: bytes) -> None:
        """Called with every piece of output."""
        if self.sleeping:
            return
        recent = (self._recent[stream] + chunk)[-KEPT:]
        self._recent[stream] = recent
        ended = decode(recent[: recent.rfind(b"\n") + 1])
        if stream == "stderr":
            self.sleeping = bool(ended) and long_retry(ended, self._clock.now().astimezone()) is not None
        if self._retrying is not None:
            last = ended.rstrip().rpartition("\n")[2]
            self._said = scrub(last)[:BRIEF] if self._retrying.search(last) else ""
            self._retried_at = self._clock.monotonic() if self._said else None
