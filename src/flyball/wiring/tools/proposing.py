"""What `init` would write for a repository: found from the files its HEAD holds, its gates tried once, and nothing left behind."""

import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from flyball import process
from flyball.agents.dialects.table import DIALECTS
from flyball.clock import system_clock
from flyball.config import file as config_file
from flyball.config.detect import Proposal, detect
from flyball.config.home import environment
from flyball.core.model.effects import Measure
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.task import Commit, EffectId, Gate, Settings, TaskId
from flyball.documents.work_source import ProjectFacts
from flyball.journal.blobs import FileBlobs
from flyball.measures.gates.outside import outside_environments
from flyball.measures.kept import KeptBaselines
from flyball.measures.measurer import TreeMeasurer
from flyball.ports import Notify
from flyball.wiring.memory import LONGEST_TEXT, regular_text
from flyball.wiring.run.agents import hiding_logins
from flyball.wiring.run.confining import confinement
from flyball.wiring.run.readiness import way_back
from flyball.wiring.run.scm_version import with_version
from flyball.wiring.site import Site
from flyball.workspace.checkpoint import WorkingTree, commit_tree
from flyball.workspace.git import records
from flyball.workspace.sandbox import Unavailable, available
from flyball.workspace.workspace import GitWorkspace

_OUTSIDE_GIT = (".venv/bin/python",)


def propose(site: Site) -> Proposal:
    """Settings that fit the files of HEAD."""
    head = site.repository.require_commit()
    root = site.repository.root
    files = records(site.repository.git().out("ls-tree", "-r", "-z", "--name-only", "--full-tree", head))
    there = [name for name in _OUTSIDE_GIT if (root / name).exists()]
    known = environment()

    def logged_in(agent: str) -> bool | None:
        return DIALECTS[agent].logged_in(known, Path(known.get("HOME", "/"))) if agent in DIALECTS else None

    return detect(
        [*files, *there],
        lambda name: regular_text(root / name, LONGEST_TEXT),
        lambda word: shutil.which(word) is not None,
        logged_in,
    )


def login_wanted(proposal: Proposal) -> str:
    """How a person logs in to the agent that is proposed, where that is still to be done."""
    known = environment()
    dialect = DIALECTS[proposal.agent.value] if proposal.agent else None
    lacking = dialect is not None and dialect.logged_in(known, Path(known.get("HOME", "/"))) is False
    return dialect.login if dialect and lacking else ""


def trial_settings(proposal: Proposal) -> Settings:
    """As much of a task's settings as its gates and QA's tools need."""
    return Settings(
        gates=tuple(Gate(line.key, line.value) for line in proposal.gates),
        setup=proposal.setup.value if proposal.setup else "",
        lint=proposal.lint.value if proposal.lint else "",
        environment_folders=proposal.environment or Settings().environment_folders,
        sandbox="none" if isinstance(available(), Unavailable) else "bwrap",
    )


def try_gates(
    site: Site, settings: Settings, *, environment: Mapping[str, str], notify: Notify, uncommitted: bool = False
) -> Measurement:
    """What the gates say of HEAD, or of the user's files as they are now, after the setup command where there is one."""
    head = Commit(site.repository.require_commit())
    if told := way_back(settings, environment, site.repository.root):
        return Measurement(head, "", gates=(GateResult("gates", "", passed=False, broken=told.rstrip(".")),))
    with tempfile.TemporaryDirectory(prefix="trial-", dir=site.home.folder, ignore_cleanup_errors=True) as made:
        folder = Path(made)
        workspace = GitWorkspace(site.repository, folder, TaskId("000-trial"))
        candidate = _commit_files(workspace, folder, head) if uncommitted else head
        blobs = FileBlobs(site.home.blobs)
        building = with_version(environment, site.repository)
        measurer = TreeMeasurer(
            directory=folder / "gate",
            repository=site.repository.root,
            confine=hiding_logins(confinement(site, settings, workspace, environment), environment),
            blobs=FileBlobs(folder / "blobs") if uncommitted else blobs,
            environment=building,
            nonce=system_clock.nonce,
            outside=partial(outside_environments, environment=building),
            baselines=None
            if uncommitted
            else KeptBaselines(site.home.baselines, blobs, system_clock.now, "flyball init"),
        )
        return measurer.measure(
            Measure(
                EffectId("measure/baseline"),
                kind="baseline",
                candidate=candidate,
                base=candidate,
                accepted=candidate,
                checks=True,
            ),
            settings=settings,
            workspace=workspace,
            folder=folder / "logs",
            stop=process.StopFlag(),
            notify=notify,
        )


def _commit_files(workspace: GitWorkspace, folder: Path, head: Commit) -> Commit:
    """The user's files as they are, committed in the trial's own vault: their index and repository stay as they are."""
    repository, excludes = workspace.repository, folder / "excludes"
    excludes.write_bytes(repository.excludes())
    tree, _ = WorkingTree(workspace.vault, repository.root, folder / "index", workspace.task, excludes).save_tree(head)
    return Commit(commit_tree(workspace.vault, tree, head, message="The files as they are", at=system_clock.now()))


def project_facts(site: Site) -> ProjectFacts:
    """What a constitution can say of a repository: its name, its gates as configured or proposed, the folders of HEAD."""
    root = site.repository.root
    head = site.repository.require_commit()
    folders = records(site.repository.git().out("ls-tree", "-d", "-z", "--name-only", "--full-tree", head))
    file = config_file.read(root)
    gates = [t.command for t in file.gates.values()] if file else [line.value for line in propose(site).gates]
    return ProjectFacts(root.name, tuple(gates), tuple(name for name in folders if not name.startswith(".")))
