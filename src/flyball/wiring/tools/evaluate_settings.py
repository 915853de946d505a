"""What the configuration around a backlog says of its evaluation."""

from __future__ import annotations

import os

from flyball.core.claims.reviews import EvaluateSettings


def evaluate_settings(root: str | os.PathLike[str]) -> EvaluateSettings:
    """`[evaluate]` of the nearest configuration from `root` up to its repository.

    It runs nothing, so it is taken without trust, and every answer says what it leaves out. The Stop hook asks too: where no
    file can hold settings, nothing is imported that reads one.
    """
    folder = os.path.realpath(root)
    while True:
        if _may_hold_settings(folder):
            from pathlib import Path  # noqa: PLC0415 - see above

            from flyball.config import file as config_file  # noqa: PLC0415 - see above

            known = config_file.read(Path(folder))
            if known is not None:
                return EvaluateSettings(**known.evaluate)
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return EvaluateSettings()
        folder = above


def _may_hold_settings(folder: str) -> bool:
    """Whether there is a file of flyball's own, or one of the whole project that may have settings of flyball among others."""
    if os.path.exists(os.path.join(folder, "flyball.toml")):
        return True
    try:
        with open(os.path.join(folder, "pyproject.toml"), "rb") as shared:
            return b"flyball" in shared.read()
    except OSError:
        return False
