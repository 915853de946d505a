"""A user's repository, made and changed by plain git, and workspaces on it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flyball.core.model.task import TaskId
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class User:
    """Somebody who works in a repository with git."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str, ok: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, check=False)
        assert not ok or done.returncode == 0, done.stderr
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, path: str, text: str | bytes = "text\n") -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def everything(self) -> dict[str, object]:
        """All of the .git folder, to prove that nothing in it moved: bytes of files and times of the index."""
        folder = self.root / ".git"
        seen: dict[str, object] = {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
        index = folder / "index"
        return seen | ({"index's time": index.stat().st_mtime_ns} if index.exists() else {})


def settle(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git see a person with a name, and nothing of whoever runs the tests."""
    person.mkdir()
    # A gc that the user's own commit starts in the background would outlive the test.
    (person / ".gitconfig").write_text(
        "[user]\n\tname = User\n\temail = user@localhost\n[init]\n\tdefaultBranch = main\n"
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )
    monkeypatch.setenv("HOME", str(person))
    for name in ("XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path / "person", monkeypatch)


@pytest.fixture
def new_user(tmp_path: Path) -> Callable[..., User]:
    def make(name: str = "project", *options: str) -> User:
        root = tmp_path / name
        root.mkdir(parents=True)
        user = User(root)
        user.git("init", "-q", "--template=", *options)
        return user

    return make


@pytest.fixture(scope="session")
def one_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, made once and only copied."""
    user = User(tmp_path_factory.mktemp("one-commit") / "project")
    user.write("src/a.py", "print('a')\n")
    user.write("b.txt", "one\ntwo\n")
    user.write(".gitignore", "*.log\nbuild/\n")
    with pytest.MonkeyPatch.context() as monkeypatch:
        settle(user.root.parent / "person", monkeypatch)
        user.git("init", "-q", "--template=")
        user.commit("Start")
    (user.root / ".git" / "info").mkdir()
    return user.root


@pytest.fixture
def user(one_commit: Path, tmp_path: Path) -> User:
    root = shutil.copytree(one_commit, tmp_path / "project")
    user = User(root)
    user.git("update-index", "-q", "--refresh")
    return user


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def open_workspace(home: Path) -> Callable[..., GitWorkspace]:
    def make(user: User, task: str = "001-thing") -> GitWorkspace:
        workspace = GitWorkspace(Repository.find(user.root), home, TaskId(task))
        workspace.prepare()
        return workspace

    return make


@pytest.fixture
def workspace(user: User, open_workspace: Callable[..., GitWorkspace]) -> GitWorkspace:
    return open_workspace(user)


@pytest.fixture
def at() -> datetime:
    return AT


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """The files below a folder by name, links as their target, without any .git."""

    def read(folder: Path) -> dict[str, bytes]:
        found = {}
        for above, folders, files in os.walk(os.fsencode(folder)):
            folders[:] = [name for name in folders if name != b".git"]
            for name in [*files, *(each for each in folders if os.path.islink(os.path.join(above, each)))]:
                path = os.path.join(above, name)
                if name == b".git":
                    continue
                key = os.fsdecode(os.path.relpath(path, os.fsencode(folder)))
                found[key] = (
                    b"-> " + os.readlink(path) if os.path.islink(path) else Path(os.fsdecode(path)).read_bytes()
                )
        return found

    return read
