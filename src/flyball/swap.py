"""Puts a file in another's place in one step, and loses nothing of what was there.

Between a look at a file and a rename over it somebody may save it. Two names that are exchanged are as much one step to
whoever reads, and what came out can be looked at: it is kept if it is not what was expected. An exchange also leaves the disk
alone, where a rename over a file makes ext4 and its like write the new content out first, in milliseconds each time.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = -100  # AT_FDCWD
_NO_REPLACE = 1
_EXCHANGE = 2
_UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


def swap_in(fresh: str, name: str, *, folder: int | None = None) -> None:
    """Put the file `fresh` at `name`, both in the open `folder` or by their whole paths; what was there is gone."""
    if _rename(fresh, name, folder, _EXCHANGE) == 0:
        os.unlink(fresh, dir_fd=folder)
    else:
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)


def exchange(fresh: str, name: str, *, folder: int | None = None) -> None:
    """Put `fresh` at `name`; what was there is at `fresh` then, whatever it is."""
    trouble = _rename(fresh, name, folder, _EXCHANGE)
    if trouble in _UNABLE:
        _exchange_by_link(fresh, name, folder)
    elif trouble != 0:
        raise OSError(trouble, os.strerror(trouble), name)


def put_if_free(fresh: str, name: str, *, folder: int | None = None) -> bool:
    """Put `fresh` at `name` if nothing is there; says whether that was so."""
    trouble = _rename(fresh, name, folder, _NO_REPLACE)
    if trouble == errno.EEXIST:
        return False
    if trouble in _UNABLE:
        try:
            os.link(fresh, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(fresh, dir_fd=folder)
    elif trouble != 0:
        raise OSError(trouble, os.strerror(trouble), name)
    return True


def _exchange_by_link(fresh: str, name: str, folder: int | None) -> None:
    """Where names cannot be exchanged, a second name holds what is there."""
    out = f"{fresh}.out"
    os.link(name, out, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.rename(out, fresh, src_dir_fd=folder, dst_dir_fd=folder)


def _rename(one: str, other: str, folder: int | None, flags: int) -> int:
    """Rename in a way Python has no words for; the number of what went wrong, 0 for nothing."""
    rename = _renameat2()
    if rename is None:
        return errno.ENOSYS
    at = _HERE if folder is None else folder
    return rename(at, os.fsencode(one), at, os.fsencode(other), flags)


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """The call of Linux that Python has no name for; None elsewhere and with an old C library."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - a hook imports this room's readers and never gets here

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return None
    return lambda *args: 0 if call(*args) == 0 else ctypes.get_errno()
