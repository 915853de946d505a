"""A repository as flyball knows it: its git, its folder outside of it, its journal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from flyball.config.home import RepositoryHome
from flyball.core.fold.evolve import fold
from flyball.core.model.state import State
from flyball.core.model.task import Task, TaskId
from flyball.journal.sqlite import SqliteJournal
from flyball.ports import Refusal
from flyball.wiring.task_view import TaskView
from flyball.workspace.checkpoint import CommitAuthor
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace


class NoSuchTask(Refusal):
    """The words name no task, or more than one."""


class Site(msgspec.Struct, frozen=True):
    repository: Repository
    home: RepositoryHome
    journal: SqliteJournal
    views: dict[TaskId, TaskView] = {}

    @classmethod
    def find(cls, start: Path) -> Site:
        return cls.of(Repository.find(start))

    @classmethod
    def of(cls, repository: Repository) -> Site:
        home = RepositoryHome.of(repository.common_dir, repository.root).prepare()
        return cls(repository, home, SqliteJournal.open(home.journal))

    def workspace(self, task: Task, environment: Mapping[str, str] = MappingProxyType({})) -> GitWorkspace:
        settings = task.settings
        return GitWorkspace(
            self.repository,
            self.home.folder,
            task.id,
            author=CommitAuthor.of(settings.author) if settings.author else None,
            environment=environment,
            loop_files=settings.loop_files,
        )

    def state(self, task: TaskId) -> State:
        if task in self.views:
            return self.view(task).state
        state = fold(self.journal.read(task))
        if state is None:
            raise _nameless(task)
        return state

    def view(self, task: TaskId) -> TaskView:
        """What is known of a task and how it came about; from then on only what is added is read."""
        # One that cannot be read to the end is out of step, and is not kept.
        view = self.views.pop(task, None) or TaskView()
        if not view.look(self.journal, task):
            raise _nameless(task)
        self.views[task] = view
        return view


def _nameless(task: TaskId) -> NoSuchTask:
    return NoSuchTask(f"{task} is registered but has no events. See: flyball doctor")
