import os
import stat
from pathlib import Path

import platformdirs
import pytest

from flyball.config.errors import ConfigError
from flyball.config.home import RepositoryHome, home_folder
from flyball.core.model.task import TaskId


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "my project" / ".git").mkdir(parents=True)
    return tmp_path / "my project"


def of(root: Path, home: Path) -> RepositoryHome:
    return RepositoryHome.of(root / ".git", root, home)


def test_the_variable_names_the_home_and_the_platform_does_otherwise(tmp_path: Path) -> None:
    assert home_folder({"FLYBALL_HOME": str(tmp_path)}) == tmp_path
    assert home_folder({}) == home_folder({"FLYBALL_HOME": ""}) == Path(platformdirs.user_state_dir("flyball"))


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(ConfigError, match="FLYBALL_HOME is 'state'; expected an absolute path"):
        home_folder({"FLYBALL_HOME": "state"})


def test_each_repository_has_a_folder_of_its_own_known_by_its_real_place(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "other" / "my project" / ".git").mkdir(parents=True)
    first = of(root, home)
    assert first == of(tmp_path / "link", home)
    other = of(tmp_path / "other" / "my project", home)
    assert first.name != other.name
    assert first.locks != other.locks
    assert first.shared_locks == other.shared_locks, "a backlog may be worked from several repositories"
    assert first.folder.parent == home / "repos"
    assert first.name.startswith("my-project-")
    assert len(first.name.removeprefix("my-project-")) == 12


def test_a_linked_worktree_shares_the_folder(root: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    assert RepositoryHome.of(root / ".git", worktree, tmp_path / "home") == of(root, tmp_path / "home")


def test_the_folders_are_for_their_owner_alone(root: Path, tmp_path: Path) -> None:
    home = of(root, tmp_path / "home").prepare()
    for folder in (home.home, home.folder, home.locks, home.trust):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    home.folder.chmod(0o755)
    assert stat.S_IMODE(home.prepare().folder.stat().st_mode) == 0o700


def test_everything_of_a_task_lies_below_its_folder(root: Path, tmp_path: Path) -> None:
    home = of(root, tmp_path / "home")
    task = TaskId("001-x")
    below = home.folder / "tasks" / "001-x"
    paths = (home.turns(task), home.gate_tree(task), home.rendered_record(task))
    assert all(path.parent == below for path in paths)
    assert {home.journal.parent, home.blobs.parent} == {home.folder}


@pytest.mark.parametrize("below", ["", "state", ".git/flyball"])
def test_a_home_inside_the_repository_is_refused(root: Path, tmp_path: Path, below: str) -> None:
    (tmp_path / "link").symlink_to(root)
    for way in (root, tmp_path / "link"):
        with pytest.raises(ConfigError, match="where an agent could reach it; expected a folder outside"):
            of(root, way / below)


def test_a_home_that_cannot_be_made_is_a_clear_error(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be used \(Not a directory\); expected a folder you can write to"):
        of(root, tmp_path / "file" / "home").prepare()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_a_clear_error(root: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(ConfigError, match=r"cannot be used \(Permission denied\).*set FLYBALL_HOME"):
        of(root, tmp_path / "closed" / "home").prepare()
