"""Single keys of a terminal, read while a loop runs; its modes are always put back."""

import os
import select
import signal
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

POLL_S = 0.2
_MOST = 3
"""More bytes at once are no keys that a person pressed, but something pasted, or a key with a sequence of its own."""
_LOCAL, _CHARACTERS = 3, 6
"""Where `termios` keeps the local modes and the control characters."""


class Keys:
    """Calls back for each key, in a thread of its own, while this process has the terminal.

    Ctrl-C and Ctrl-Z stay with the terminal: they are signals. A process in the background neither reads nor changes modes, which would
    stop it.
    """

    def __init__(self, terminal: int, press: Callable[[str], None], on_return: Callable[[], None]) -> None:
        self._terminal = terminal
        self._press = press
        self._on_return = on_return
        self._lock = threading.RLock()
        self._modes: list[Any] | None = None
        self._ours: list[Any] = []
        self._suspended = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keys", daemon=True)

    def __enter__(self) -> Self:
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._give_back()

    @contextmanager
    def suspend(self) -> Iterator[None]:
        with self._lock:
            self._suspended += 1
            self._give_back()
        try:
            yield
        finally:
            with self._lock:
                self._suspended -= 1
                self._take()

    def end(self) -> None:
        self._done.set()

    def _foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    def _take(self) -> None:
        """Have keys at once and unseen; what was typed before is no key."""
        with self._lock, suppress(OSError, termios.error):
            if self._suspended or self._modes is not None or not self._foreground():
                return
            modes = termios.tcgetattr(self._terminal)
            wanted = [*modes[:_CHARACTERS], [*modes[_CHARACTERS]]]
            wanted[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
            wanted[_CHARACTERS][termios.VMIN], wanted[_CHARACTERS][termios.VTIME] = 1, 0
            termios.tcsetattr(self._terminal, termios.TCSAFLUSH, wanted)
            self._modes, self._ours = modes, termios.tcgetattr(self._terminal)

    def _give_back(self) -> None:
        """Put the modes back; in the background, where a change stops a process, only while nobody else has changed them."""
        with self._lock, suppress(OSError, termios.error):
            modes, self._modes = self._modes, None
            if modes is None or not (self._foreground() or termios.tcgetattr(self._terminal) == self._ours):
                return
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
            try:
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, modes)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _run(self) -> None:
        while not self._done.is_set():
            for key in self._read():
                self._press(key)

    def _read(self) -> str:
        """The keys that were pressed; after a while none, or when the terminal is somebody else's."""
        with self._lock:
            ready = not self._suspended and self._foreground()
            returned = ready and self._modes is None
            self._take()
        if returned:
            self._on_return()
        if not ready:
            self._done.wait(POLL_S)
            return ""
        try:
            if not select.select([self._terminal], [], [], POLL_S)[0]:
                return ""
            with self._lock:
                if self._modes is None or not self._foreground():
                    return ""
                typed = os.read(self._terminal, 1024)
        except OSError:
            typed = b""
        if not typed:
            self._done.wait(POLL_S)
        return typed.decode("ascii", "ignore") if len(typed) <= _MOST and b"\x1b" not in typed else ""
