"""A backlog as it was last read, in a file of flyball's own: to read a long one takes longer than all else a hook does.

It is kept with a digest of all it was read from, so that it is never taken for another; and with one of itself, so that a
file which is torn, or was written by two at once, is as good as none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from flyball import __version__
from flyball.core.backlog import Backlog
from flyball.documents.own_files import keep, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_BYTES = 16 * 1024 * 1024


class KeptBacklog:
    """The last backlog that was read, in the file at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def of(self, files: Mapping[str, bytes], read: Callable[[], Backlog]) -> Backlog:
        """What `read` makes of these files: as it is kept, or read now and kept."""
        key = key_of(__version__, *(part for file in files.items() for part in file))
        known = self._known(key)
        if known is None:
            known = read()
            self._keep(key, known)
        return known

    def _known(self, key: str) -> Backlog | None:
        try:
            with open(self._path, "rb") as file:
                head, _, body = file.read(MAX_BYTES).partition(b"\n")
            if head.decode() == f"{key} {key_of(body)}":
                return msgspec.json.decode(body, type=Backlog)
        except (OSError, ValueError, msgspec.DecodeError):
            pass  # it is read anew
        return None

    def _keep(self, key: str, backlog: Backlog) -> None:
        try:
            body = msgspec.json.encode(backlog)
        except UnicodeEncodeError:
            return  # a file's name is not UTF-8
        whole = f"{key} {key_of(body)}\n".encode() + body
        if len(whole) <= MAX_BYTES:
            keep(self._path, whole)
