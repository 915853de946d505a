"""What was read of a long task, kept beside its journal: whoever looks next reads only what was added.

The file is a copy that may be lost at any time. It is used only by the code that wrote it, for the journal it was made from.
"""

import gc
import hashlib
import io
import os
import pickle
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import flyball
from flyball.core.model.task import TaskId
from flyball.wiring.site import Site
from flyball.wiring.task_view import TaskView

MANY = 10_000
"""A task that has grown by fewer facts is read again quicker than it is kept."""
_PURE = ("flyball.core.", "flyball.projections.", "flyball.wiring.task_view")
_OTHERS = frozenset(
    {
        ("collections", "deque"),
        ("datetime", "datetime"),
        ("datetime", "timedelta"),
        ("datetime", "timezone"),
        ("msgspec._utils", "rebuild"),
    }
)


class ViewReader(pickle.Unpickler):
    """Makes values of the pure rooms' own classes and of time, which do nothing; whatever else a file names is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _OTHERS:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module.startswith(_PURE) else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} does not belong into a view")
        return found


def load(site: Site, task: TaskId) -> int:
    """Take up what was kept of a task that was not read yet; the number of facts in it, 0 where there is nothing to use."""
    if task in site.views:
        return 0
    try:
        mark, _, body = _path(site, task).read_bytes().partition(b"\n")
        # So many new values at once are no garbage, and to look among them for some takes most of the time.
        gc.disable()
        view = ViewReader(io.BytesIO(body)).load()
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, TypeError, ValueError, IndexError):
        return 0
    finally:
        gc.enable()
    if not isinstance(view, TaskView) or mark != _mark(site, task, view.state.seq, body):
        return 0
    site.views[task] = view
    return view.state.seq


def keep(site: Site, task: TaskId) -> None:
    view = site.views[task]
    body = pickle.dumps(view, pickle.HIGHEST_PROTOCOL)
    path = _path(site, task)
    fresh = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.touch(0o600)
        fresh.write_bytes(_mark(site, task, view.state.seq, body) + b"\n" + body)
        fresh.replace(path)


def _path(site: Site, task: TaskId) -> Path:
    return site.home.task(task) / "view"


def _mark(site: Site, task: TaskId, seq: int, body: bytes) -> bytes:
    """Of the code, of the last fact that was read, and of the file itself."""
    last = next(iter(site.journal.read(task, seq - 1)), None)
    return f"{_code()} {seq} {crc32(repr(last).encode())} {crc32(body)}".encode()


@cache
def _code() -> str:
    """Differs whenever a file of ours does."""
    found = hashlib.sha256(sys.version.encode())
    for path in sorted(Path(flyball.__file__).parent.rglob("*.py")):
        seen = path.stat()
        found.update(f"{path} {seen.st_size} {seen.st_mtime_ns}".encode())
    return found.hexdigest()
