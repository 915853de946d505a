"""Where a program's output goes: to a file, to whoever watches, and its last bytes to memory."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TAIL = 64 * 1024
OnOutput = Callable[[str, bytes], None]


class Sink:
    """One output stream: spilled to a file up to a limit, its last bytes kept, everything counted."""

    def __init__(self, name: str, fd: int | None, limit: int, on_output: OnOutput | None) -> None:
        self.name = name
        self.count = 0
        self._fd, self._room, self._on_output = fd, limit, on_output
        self._recent = bytearray()

    def take(self, chunk: bytes) -> None:
        self.count += len(chunk)
        self._recent += chunk
        if len(self._recent) > 2 * TAIL:
            del self._recent[:-TAIL]
        if self._fd is not None:
            self._store(self._fd, chunk)
        if self._on_output is not None:
            self._on_output(self.name, chunk)

    def _store(self, fd: int, chunk: bytes) -> None:
        if self._room >= len(chunk):
            self._room -= len(chunk)
            _write_all(fd, chunk)
        elif self._room >= 0:
            _write_all(fd, chunk[: self._room])
            _write_all(fd, b"\n[flyball: the output goes on; its limit is reached and no more of it is kept]\n")
            self._room = -1

    @property
    def tail(self) -> bytes:
        return bytes(self._recent[-TAIL:])


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@contextmanager
def open_sink(name: str, path: Path | None, limit: int, on_output: OnOutput | None) -> Iterator[Sink]:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600) if path is not None else None
    try:
        yield Sink(name, fd, limit, on_output)
    finally:
        if fd is not None:
            os.close(fd)
