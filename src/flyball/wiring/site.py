"""A repository as flyball knows it: its git, its folder outside of it, its journal."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flyball.config.home import RepositoryHome
from flyball.core.evolve import fold
from flyball.core.naming import Match, Several, TaskName, resolve
from flyball.core.state import State
from flyball.core.task import TaskId
from flyball.journal.blobs import FileBlobs
from flyball.journal.sqlite import SqliteJournal
from flyball.ports import Refusal
from flyball.workspace.repository import Repository


class NoSuchTask(Refusal):
    """The words name no task, or more than one."""


class Site(msgspec.Struct, frozen=True):
    """Where one repository's tasks live."""

    repository: Repository
    home: RepositoryHome
    journal: SqliteJournal

    @classmethod
    def find(cls, start: Path) -> Site:
        """The site of the repository around `start`; its folder is made when missing."""
        repository = Repository.find(start)
        home = RepositoryHome.of(repository.common_dir, repository.root).prepare()
        return cls(repository, home, SqliteJournal.open(home.journal))

    @property
    def blobs(self) -> FileBlobs:
        return FileBlobs(self.home.blobs)

    @property
    def loop_folder(self) -> Path:
        return self.repository.root / ".loop"

    def state(self, task: TaskId) -> State:
        """What is known of a task."""
        state = fold(self.journal.read(task))
        if state is None:
            raise NoSuchTask(f"The journal knows {task} by name only. See: flyball doctor")
        return state

    def resolve(self, words: str) -> TaskId:
        """The one task that words mean: its id, a part of it, or words that match it."""
        records = self.journal.tasks()
        if not words:
            return self._latest([r.id for r in records])
        found = resolve(words, [TaskName(r.id, r.title) for r in records])
        if isinstance(found, Match):
            return found.task.id
        if isinstance(found, Several):
            raise NoSuchTask(f"{words!r} may mean {', '.join(t.id for t in found.tasks)}. Name one of them.")
        known = ", ".join(r.id for r in records) or "there is none yet; start one with: flyball run"
        raise NoSuchTask(f"No task matches {words!r}. Tasks here: {known}")

    def _latest(self, tasks: list[TaskId]) -> TaskId:
        """Without words: the only unfinished task."""
        if not tasks:
            raise NoSuchTask('There is no task in this repository yet. Start one with: flyball run "…"')
        unfinished = [t for t in tasks if (stopped := self.state(t).stopped) is None or stopped.kind != "done"]
        if len(unfinished) == 1:
            return unfinished[0]
        if not unfinished:
            return tasks[-1]
        raise NoSuchTask(f"Several tasks are unfinished: {', '.join(unfinished)}. Name one of them.")

