"""What the configuration around a backlog says of its evaluation."""

from __future__ import annotations

import os
from pathlib import Path

from flyball.core.model.task import EvaluateSettings


def evaluate_settings(root: str | os.PathLike[str]) -> EvaluateSettings:
    """`[evaluate]` of the nearest configuration from `root` up to its repository.

    It runs nothing, so it is taken without trust, and every answer says what it leaves out. The Stop hook asks too: where no
    file can hold settings, nothing is imported that reads one.
    """
    for folder in (start := Path(os.path.realpath(root)), *start.parents):
        if (folder / "flyball.toml").exists() or _shares(folder / "pyproject.toml"):
            from flyball.config import file as config_file  # noqa: PLC0415 - see above

            known = config_file.read(folder)
            if known is not None:
                return EvaluateSettings(**known.evaluate)
        if (folder / ".git").exists():
            break
    return EvaluateSettings()


def _shares(path: Path) -> bool:
    """Whether a file of the whole project may have settings of flyball among others."""
    try:
        return b"flyball" in path.read_bytes()
    except OSError:
        return False
