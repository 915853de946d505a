"""What `init` would write for a repository, found from the files its HEAD holds."""

from __future__ import annotations

import shutil
from pathlib import Path

from flyball.agents.dialects.table import DIALECTS
from flyball.config import file as config_file
from flyball.config.detect import Proposal, detect
from flyball.config.home import environment
from flyball.core.model.task import Gate, Settings
from flyball.documents.work_source import ProjectFacts
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
    known = environment()

    def logged_in(agent: str) -> bool | None:
        return DIALECTS[agent].logged_in(known, Path(known.get("HOME", "/"))) if agent in DIALECTS else None

    return detect(
        [*files, *there], lambda name: _text(root / name), lambda word: shutil.which(word) is not None, logged_in
    )


def login_wanted(proposal: Proposal) -> str:
    """How a person logs in to the agent that is proposed, where that is still to be done."""
    known = environment()
    dialect = DIALECTS[proposal.agent.value] if proposal.agent else None
    lacking = dialect is not None and dialect.logged_in(known, Path(known.get("HOME", "/"))) is False
    return dialect.login if dialect and lacking else ""


def trial_settings(proposal: Proposal) -> Settings:
    """As much of a task's settings as its gates and QA's tools need."""
    confined = not isinstance(available(), Unavailable)
    return Settings(
        gates=tuple(Gate(line.key, line.value) for line in proposal.gates),
        setup=proposal.setup.value if proposal.setup else "",
        lint=proposal.lint.value if proposal.lint else "",
        environment_folders=proposal.environment or Settings().environment_folders,
        sandbox="bwrap" if confined else "none",
    )


def project_facts(site: Site) -> ProjectFacts:
    """What a constitution can say of a repository: its name, its gates as configured or proposed, the folders of HEAD."""
    root = site.repository.root
    head = site.repository.require_commit()
    folders = records(site.repository.git().out("ls-tree", "-d", "-z", "--name-only", "--full-tree", head))
    file = config_file.read(root)
    gates = [t.command for t in file.gates.values()] if file else [line.value for line in proposed(site).gates]
    return ProjectFacts(root.name, tuple(gates), tuple(name for name in folders if not name.startswith(".")))


def _text(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
