"""Keeps the traceback of an internal error where a person can find it, and says where."""

from __future__ import annotations

import os
import traceback
from errno import EACCES, EDQUOT, EFBIG, EIO, EMFILE, ENAMETOOLONG, ENFILE, ENOSPC, ENXIO, EPERM, EROFS, ESTALE
from pathlib import Path

from flyball.cli.support.exits import INTERNAL, say
from flyball.cli.support.output import tell

_WORLD = frozenset({EACCES, EDQUOT, EFBIG, EIO, EMFILE, ENAMETOOLONG, ENFILE, ENOSPC, ENXIO, EPERM, EROFS, ESTALE})
"""What a system refuses whatever the program: a full disk, a folder nobody may write to."""


def ended(error: BaseException) -> int:
    """Keep the traceback, say one sentence, give the exit code; what the system refuses is no error of ours."""
    if isinstance(error, OSError) and error.errno in _WORLD:
        where = f"{error.filename}: " if isinstance(error.filename, str | os.PathLike) else ""
        say(f"{where}{error.strerror}. What is in the journal is safe. Fix this and try again.")
        return INTERNAL
    text = "".join(traceback.format_exception(error))
    kept = _kept(text)
    name = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    if kept is None:
        tell(text)
        say(f"internal error: {name}. What is in the journal is safe; go on with: flyball resume")
    else:
        say(f"internal error: {name}. The traceback is in {kept}. Go on with: flyball resume")
    return INTERNAL


def _kept(text: str) -> Path | None:
    from flyball.clock import system_clock
    from flyball.config.errors import ConfigError
    from flyball.config.home import home_folder

    try:
        home = home_folder()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = home / f"crash-{system_clock.now():%Y%m%d-%H%M%S-%f}.txt"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ConfigError):
        return None
    return path
