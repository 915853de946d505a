"""Notices a client that goes to sleep on a limit inside its own process, so that the wait is the loop's and not the turn's."""

from __future__ import annotations

from flyball.core.limits import long_retry
from flyball.core.text import decode
from flyball.ports import Clock, Stop

KEPT = 8 * 1024


class SleepWatch:
    """The turn's stop, set also when standard error says "Retrying in N" with an N longer than a minute."""

    def __init__(self, stop: Stop, clock: Clock) -> None:
        self._stop, self._clock = stop, clock
        self._recent = b""
        self.sleeping = False

    @property
    def reason(self) -> str:
        return "it went to sleep on a limit" if self.sleeping else getattr(self._stop, "reason", "")

    def is_set(self) -> bool:
        return self.sleeping or self._stop.is_set()

    def set(self, reason: str = "") -> None:
        self._stop.set(reason)

    def take(self, stream: str, chunk: bytes) -> None:
        """Called with every piece of output."""
        if stream != "stderr" or self.sleeping:
            return
        self._recent = (self._recent + chunk)[-KEPT:]
        ended = self._recent[: self._recent.rfind(b"\n") + 1]
        self.sleeping = bool(ended) and long_retry(decode(ended), self._clock.now().astimezone()) is not None
