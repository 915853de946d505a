"""The word that running work must end."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flyball import ports


class StopFlag:
    """A word that running work must end: set once, from any thread or signal handler, seen by every run that has it."""

    def __init__(self) -> None:
        self.reason = ""
        self._set = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        weakref.finalize(self, _close, self._reader, self._writer)

    def set(self, reason: str = "") -> None:
        # No lock: a signal handler may interrupt this very method in the same thread.
        if not self._set:
            self.reason = reason
            self._set = True
            os.write(self._writer, b"!")

    def is_set(self) -> bool:
        return self._set

    def fileno(self) -> int:
        """Readable as soon as the stop is set, and ever after."""
        return self._reader


def _close(*fds: int) -> None:
    for fd in fds:
        os.close(fd)


def stop_words(stop: ports.Stop) -> str:
    reason = getattr(stop, "reason", "")
    return f"asked to stop ({reason})" if reason else "asked to stop"
