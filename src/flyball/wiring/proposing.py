"""What `init` would write for a repository, found from the files its HEAD holds."""

from __future__ import annotations

import shutil
from pathlib import Path

from flyball.config.detect import Proposal, detect
from flyball.core.task import Gate, Settings
from flyball.wiring.site import Site
from flyball.workspace.git import records
from flyball.workspace.sandbox import Unavailable, available

_LARGEST = 1024 * 1024
_OUTSIDE_GIT = (".venv/bin/python",)


def proposed(site: Site) -> Proposal:
    """Settings that fit the files of HEAD."""
    head = site.repository.require_commit()
    root = site.repository.root
    files = records(site.repository.git().out("ls-tree", "-r", "-z", "--name-only", "--full-tree", head))
    there = [name for name in _OUTSIDE_GIT if (root / name).exists()]
    return detect([*files, *there], lambda name: _text(root / name), lambda word: shutil.which(word) is not None)


def trial_settings(proposal: Proposal) -> Settings:
    """As much of a task's settings as its gates need."""
    confined = not isinstance(available(), Unavailable)
    return Settings(
        gates=tuple(Gate(line.key, line.value) for line in proposal.gates),
        setup=proposal.setup.value if proposal.setup else "",
        environment_folders=proposal.environment or Settings().environment_folders,
        sandbox="bwrap" if confined else "none",
    )


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
