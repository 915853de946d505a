"""A lane's environment: lent where nothing in it is written, set up once in a pooled workspace, again when a manifest changes."""

from pathlib import Path

import pytest

from flyball.core.model.task import Settings
from flyball.core.text.manifests import may_share_environment
from flyball.folders import environment_folders
from flyball.measures.gates.commands import clean_environment
from flyball.process import StopFlag
from flyball.wiring.run.environments import Environments
from flyball.workspace.sandbox import Confined, Unconfined

SETUP = "mkdir -p .venv && echo run >> .venv/runs && echo $UV_LINK_MODE > .venv/links"


class Tried(Environments):
    """Notes where set-up would run."""

    trees: tuple[Path, ...] = ()

    def _run(self, tree: Path, folder: Path, stop: StopFlag) -> str:  # type: ignore[override]
        self.trees = (*self.trees, tree)
        return ""


class Project:
    """The user's repository, the task's own tree and a lane's, all from the same commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.own, self.lane = (folder / name for name in ("project", "task/tree", "task/lanes/1/tree"))
        for tree in (self.root, self.own, self.lane):
            tree.mkdir(parents=True)
            (tree / "pyproject.toml").write_text("[project]\n")
            (tree / "a.py").write_text("a = 1\n")

    def environments(
        self, setup: str = SETUP, *, sandbox: bool = False, kind: type[Environments] = Environments
    ) -> Environments:
        confined = Confined("bwrap", self.root, (), environments=environment_folders(self.root, (".venv",)))
        return kind(
            Settings(setup=setup),
            confine=confined if sandbox else Unconfined(),
            environment=clean_environment({"PATH": "/usr/bin:/bin"}),
            hold_fds=(),
            root=self.root,
            own=self.own,
            gates=self.folder / "gate",
        )

    def open(self, setup: str = SETUP, *, sandbox: bool = False, shares: bool = False) -> str:
        made = self.environments(setup, sandbox=sandbox)
        return made.for_lane(self.lane, self.folder / "setup", StopFlag(), shares=shares)

    @property
    def runs(self) -> int:
        """How often set-up ran in the lane."""
        log = self.lane / ".venv" / "runs"
        return log.read_text().count("run") if log.exists() else 0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_set_up_runs_once_in_a_pooled_workspace_and_again_when_a_manifest_changes(project: Project) -> None:
    assert [project.open() for _ in range(3)] == ["", "", ""]
    assert project.runs == 1
    assert (project.lane / ".venv" / "links").read_text() == "copy\n", "uv links no file that others use"
    (project.lane / "a.py").write_text("a = 2\n")
    project.open()
    assert project.runs == 1
    (project.lane / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    project.open()
    assert project.runs == 2
    (project.lane / "uv.lock").write_text("1\n")
    project.open()
    assert project.runs == 3


def test_set_up_that_makes_more_than_the_environment_runs_each_time(project: Project) -> None:
    """A reset keeps environment folders and nothing else, so what lay beside them would be missing."""
    for _ in range(3):
        assert project.open(f"{SETUP} && date +%N > generated.py") == ""
    assert project.runs == 3


def test_a_set_up_that_failed_says_so_and_is_made_again(project: Project) -> None:
    assert "no such package" in project.open(f"{SETUP} && echo no such package >&2 && exit 3")
    assert project.open() == ""
    assert project.runs == 2


def test_the_users_environment_is_lent_where_it_was_installed_from_the_same_manifests(project: Project) -> None:
    assert project.environments()(project.own, project.folder / "setup", StopFlag()) == ("", "")
    (project.root / ".venv").mkdir()
    assert project.open(sandbox=True, shares=True) == ""
    assert project.runs == 0
    (project.lane / ".venv").mkdir()
    assert project.open(sandbox=True, shares=True) == "", "the empty folder the sandbox mounts it on changes nothing"
    assert project.runs == 0


@pytest.mark.parametrize("why", ["it may write", "another manifest", "none installed", "more than that", "no sandbox"])
def test_an_environment_that_does_not_fit_is_not_lent(project: Project, why: str) -> None:
    setup = f"{SETUP} && date > generated.py" if why == "more than that" else SETUP
    assert project.environments(setup)(project.own, project.folder / "setup", StopFlag()) == ("", "")
    if why != "none installed":
        (project.root / ".venv").mkdir()
    if why == "another manifest":
        (project.root / "pyproject.toml").write_text("[project]\nname = 'mine'\n")
    made = project.environments(setup, sandbox=why != "no sandbox", kind=Tried)
    made.for_lane(project.lane, project.folder / "setup", StopFlag(), shares=why != "it may write")
    assert isinstance(made, Tried)
    assert made.trees == (project.lane,)


@pytest.mark.parametrize(
    ("files", "may"),
    [
        (("src/a.py",), True),
        ((), False),
        (("src/a.py", "pyproject.toml"), False),
        (("web/package-lock.json",), False),
        (("requirements-dev.txt",), False),
        (("src/",), False),
        (("src/*.py",), False),
    ],
)
def test_work_that_may_change_a_manifest_gets_an_environment_of_its_own(files: tuple[str, ...], may: bool) -> None:
    assert may_share_environment(files) == may
