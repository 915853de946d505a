"""A repository with a journal in it, and the command line to look at both."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support.builders import Story
from typer.main import get_command
from typer.testing import CliRunner

from flyball.cli.app import app
from flyball.core.model.events import TaskOpened
from flyball.core.model.task import TaskId
from flyball.wiring.site import Site


class Outcome:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Command = Callable[..., Outcome]


@pytest.fixture(scope="session")
def one_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, made once and only copied."""
    root = tmp_path_factory.mktemp("one-commit") / "project"
    root.mkdir()
    (root / "README.md").write_text("# rows\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    shutil.rmtree(root / ".git" / "hooks")
    return root


@pytest.fixture
def repository(one_commit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit; its folder is where commands run, and flyball's home lies beside it."""
    shutil.copytree(one_commit, tmp_path / "project")
    return settle(tmp_path, monkeypatch)


def settle(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the repository of a place, with what is outside of it beside it."""
    monkeypatch.setenv("HOME", str(place / "person"))
    monkeypatch.setenv("FLYBALL_HOME", str(place / "home"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(place / "project")
    return place / "project"


@pytest.fixture(scope="session")
def _put_together_once() -> Iterator[None]:
    """All commands with their options take longer to be put together than most of them to run."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("typer.testing._get_command", cache(get_command))
        yield


@pytest.fixture
def flyball(_put_together_once: None) -> Command:
    """Runs a command in this process."""

    def run(*words: str, input: str = "") -> Outcome:
        result = CliRunner().invoke(app, list(words), input=input, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def site(repository: Path) -> Site:
    return Site.find(repository)


@pytest.fixture
def told(site: Site) -> Callable[[Story], TaskId]:
    """Puts a story into the journal, under the id its task has."""

    def tell(story: Story) -> TaskId:
        return _put(site, story)

    return tell


def _put(site: Site, story: Story) -> TaskId:
    opened, *rest = story.events
    number, _, slug = story.state.task.id.partition("-")

    def opening(task: TaskId) -> list[TaskOpened]:
        assert task == story.state.task.id
        assert isinstance(opened.fact, TaskOpened)
        return [opened.fact]

    site.journal.open_task(
        slug,
        workflow="tdd",
        title=story.state.task.request,
        at=opened.at,
        highest_on_disk=int(number) - 1,
        opening=opening,
    )
    for event in rest:
        site.journal.append(story.state.task.id, [event.fact], epoch=0, at=event.at)
    return story.state.task.id
