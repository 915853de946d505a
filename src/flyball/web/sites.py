"""Every repository and task of a home, read as they change; nothing is kept that cannot be read again."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from flyball.clock import system_clock
from flyball.config.home import RepositoryHome, known_repositories
from flyball.core.model.task import TaskId
from flyball.journal.errors import JournalError
from flyball.journal.sqlite import SqliteJournal
from flyball.ports import Refusal
from flyball.projections.pages.summary import Known, Summary, summarize
from flyball.projections.views.situation import Seen
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks import kept_views
from flyball.wiring.tasks.surroundings import look_around, what_is_known
from flyball.workspace.repository import Repository

LOOK_AGAIN_S = 5.0


class Sites:
    """What the pages read; any thread may ask, one at a time."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.lock = threading.RLock()
        self._sites: dict[str, Site] = {}
        self._missing: dict[str, str] = {}
        self._looked_at = float("-inf")
        self._kept: dict[tuple[str, str], int] = {}
        self._merged: dict[tuple[str, str], tuple[object, Seen]] = {}

    def all(self) -> dict[str, Site]:
        """Those with a trusted configuration or a task, by the name of each repository's folder; new ones are found within seconds."""
        with self.lock:
            now = system_clock.monotonic()
            if now - self._looked_at > LOOK_AGAIN_S:
                self._looked_at = now
                self._look()
            # A command that only looked, such as `doctor`, made a folder with an empty journal.
            return {n: s for n, s in self._sites.items() if any(s.home.trust.glob("*")) or s.journal.tasks()}

    def _look(self) -> None:
        for name, root in known_repositories(self.home).items():
            if name in self._sites:
                continue
            try:
                repository = Repository.find(root)
                # In the home that is served, whichever one the environment names.
                home = RepositoryHome.of(repository.common_dir, repository.root, self.home).prepare()
                site = Site(repository, home, SqliteJournal.open(home.journal))
            except (Refusal, JournalError, OSError) as error:
                self._missing[name] = f"{root}: {error}"
                continue
            if site.home.name == name:
                self._missing.pop(name, None)
                self._sites[name] = site

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(self._missing.values())

    def find(self, repo: str, task: str) -> tuple[Site, TaskId]:
        """The task; raises KeyError where there is none of this name."""
        site = self.all()[repo]
        record = next((record for record in site.journal.tasks() if record.id == task), None)
        if record is None:
            raise KeyError(task)
        return site, record.id

    def read(self, site: Site, task: TaskId) -> Known:
        with self.lock:
            if task not in site.views:
                self._kept[site.home.name, task] = kept_views.load(site, task)
            return what_is_known(site, task, self._look_around(site, task))

    def _look_around(self, site: Site, task: TaskId) -> Seen:
        """Whether a branch was merged is asked of git only when its refs have changed."""
        state = site.view(task).state
        if state.decision != "DONE":
            return Seen(controller_of(site, task) is not None)
        mark = (state.main.head, _refs_mark(site))
        kept = self._merged.get((site.home.name, task))
        if kept is None or kept[0] != mark:
            kept = mark, look_around(site, state)
            self._merged[site.home.name, task] = kept
        return kept[1]

    def summaries(self, repo: str = "") -> Iterator[Summary]:
        for name, site in self.all().items():
            if repo and name != repo:
                continue
            for record in site.journal.tasks():
                with suppress(JournalError, Refusal):
                    yield summarize(self.read(site, record.id))

    def warm(self) -> None:
        """Read what there is before somebody asks: the first look at a long task is the dear one."""
        for _ in self.summaries():
            pass

    def keep(self) -> None:
        """Keep what was read of long tasks for the next server."""
        for name, site in self.all().items():
            for task in list(site.views):
                with self.lock, suppress(JournalError, Refusal):
                    read = site.view(task).state.seq
                    if read - self._kept.get((name, task), 0) >= kept_views.MANY:
                        kept_views.keep(site, task)
                        self._kept[name, task] = read

    def version(self) -> tuple[object, ...]:
        """Differs whenever a page could: facts, words, and who holds which task."""
        with self.lock:
            return tuple(
                (name, site.journal.version(), _held_tasks(site), _refs_mark(site)) for name, site in self.all().items()
            )


def _held_tasks(site: Site) -> tuple[str, ...]:
    """The tasks somebody holds now; a lock file of a finished controller is empty and costs nothing more."""
    return tuple(
        path.name
        for path in sorted(site.home.locks.glob("task-*.lock"))
        if path.stat().st_size and controller_of(site, TaskId(path.name[5:-5])) is not None
    )


def _refs_mark(site: Site) -> tuple[int, ...]:
    marks = []
    for name in ("HEAD", "packed-refs", "refs/heads", "refs/heads/flyball", "logs/HEAD"):
        try:
            marks.append((site.repository.common_dir / name).stat().st_mtime_ns)
        except OSError:
            marks.append(0)
    return tuple(marks)
