"""Time that begins to pass when a program says that it has begun, so that no limit ends it before."""

import time
from pathlib import Path

import pytest

from flyball.process import running, watch


class HeldClock:
    """Stands in for `time` in the process room; what a busy machine needs to start a program does not count."""

    def __init__(self, begun: Path) -> None:
        self._begun = begun
        self._since: float | None = None

    def monotonic(self) -> float:
        now = time.monotonic()
        if self._since is None and self._begun.exists():
            self._since = now
        return 0.0 if self._since is None else now - self._since


def hold_time(monkeypatch: pytest.MonkeyPatch, begun: Path) -> None:
    """Let no time pass for the limits of a run until the file `begun` is there."""
    clock = HeldClock(begun)
    for module in (running, watch):
        monkeypatch.setattr(module, "time", clock)
