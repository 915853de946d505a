"""Whether a controller works on a task now, found out without getting in its way."""

import fcntl
import os
from pathlib import Path
from urllib.parse import quote

import msgspec

from flyball.core.model.task import TaskId
from flyball.journal.records import Holder
from flyball.wiring.site import Site


def lock_of(site: Site, task: TaskId) -> Path:
    return site.home.locks / f"task-{quote(task, safe='')}.lock"


def controller_of(site: Site, task: TaskId) -> Holder | None:
    """Who works on the task; None where nobody does.

    A lock file says who holds it and is emptied when released. One that still names somebody is asked with a shared
    lock, which a living holder refuses and a dead one cannot.
    """
    try:
        lock = os.open(lock_of(site, task), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        named = msgspec.json.decode(os.pread(lock, 4096, 0), type=Holder)
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except msgspec.MsgspecError:
        return None
    except BlockingIOError:
        return named
    except OSError:
        return None
    finally:
        os.close(lock)
    return None
