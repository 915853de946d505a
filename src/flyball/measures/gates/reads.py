"""Which files of a tree are opened while commands run in it, as the kernel tells it: by whatever program, under whatever name."""

import ctypes
import os
import select
import struct
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from flyball.folders import walk

_OPENED = 0x20
_IS_FOLDER = 0x40000000
_LOST = 0x4000
_EVENT = struct.Struct("iIII")
_BUFFER = 256 * 1024
_LOOK_S = 0.2


class Reads:
    """Files that were opened, by their paths in the tree; all of them may have been where the kernel does not tell (`unknown`)."""

    def __init__(self, tree: Path, without: Collection[str]) -> None:
        self.opened: set[str] = set()
        self.unknown = False
        self._folders: dict[int, str] = {}
        self._notes = _call("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
        self.unknown = self._notes < 0 or not self._tells(self._watch(tree, without))

    def _watch(self, tree: Path, without: Collection[str]) -> Path | None:
        """Ask for news of every folder; gives back some file in them."""
        some: Path | None = None
        for above, folders, names in walk(tree):
            folders[:] = [name for name in folders if name not in without]
            number = _call("inotify_add_watch", self._notes, os.fsencode(above), _OPENED)
            self.unknown |= number < 0
            self._folders[number] = os.path.relpath(above, tree)
            some = some or next((path for name in names if (path := Path(above, name)).is_file()), None)
        return some

    def _tells(self, file: Path | None) -> bool:
        """Whether the kernel says that a file was opened, tried once: some file systems do not."""
        if file:
            with file.open("rb"):
                self.take()
        told = bool(self.opened) or not file
        self.opened.clear()
        return told and not self.unknown

    def take(self) -> None:
        while select.select([self._notes], [], [], 0)[0]:
            said = os.read(self._notes, _BUFFER)
            at = 0
            while at < len(said):
                number, what, _, length = _EVENT.unpack_from(said, at)
                name = os.fsdecode(said[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0"))
                at += _EVENT.size + length
                self.unknown |= bool(what & _LOST)
                if name and not what & _IS_FOLDER:
                    self.opened.add(os.path.normpath(f"{self._folders[number]}/{name}"))

    def listen(self, until: threading.Event) -> None:
        """Take what comes, for the kernel keeps only so much of it."""
        while not until.is_set():
            select.select([self._notes], [], [], _LOOK_S)
            self.take()

    def close(self) -> None:
        if self._notes >= 0:
            os.close(self._notes)


@contextmanager
def reads_in(tree: Path, without: Collection[str]) -> Iterator[Reads]:
    """The files of a tree that are opened meanwhile, but for folders of these names; to be looked at afterwards."""
    reads = Reads(tree, without)
    over = threading.Event()
    listener = threading.Thread(target=reads.listen, args=(over,), daemon=True)
    try:
        if not reads.unknown:
            listener.start()
        yield reads
    finally:
        over.set()
        if listener.ident is not None:
            listener.join()
            reads.take()
        reads.close()


def _call(name: str, *args: int | bytes) -> int:
    """A function of the C library; below 0 where it failed or is not there."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    return -1 if function is None else int(function(*args))
