"""Keeps the histories of loops that others drive: a journal of their own beside the tasks', a page below `.loop/`.

A name is the loop's own word; a task that flyball runs itself is refused, since nobody may talk its health up or down.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path

import msgspec

from flyball.clock import system_clock
from flyball.config import file as config_file
from flyball.config.home import RepositoryHome, home_folder
from flyball.core.advice.batch import BatchResult, Failure, of_batch
from flyball.core.advice.loop_page import PageUnreadable, read_page
from flyball.core.health.monitor import follow
from flyball.core.health.verdict import Thresholds, Verdict
from flyball.core.model.batch_events import BatchJudged, HistoryImported
from flyball.core.model.naming import LOOP, slug
from flyball.core.model.task import TaskId
from flyball.core.text.quantities import plural
from flyball.documents.errors import DocumentError
from flyball.documents.kept_files import KeptFolder
from flyball.documents.loop_folder import MONITOR_PAGE, LoopFolder
from flyball.journal.errors import LeaseHeld
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import TaskRecord, task_scope
from flyball.journal.sqlite import SqliteJournal
from flyball.ports import Refusal
from flyball.projections.files.batch_state import batch_page, history_of, is_rolled_back, next_iteration
from flyball.workspace.errors import NotARepository
from flyball.workspace.repository import Repository

STORED_ERROR = 4000
"""So many characters of an error are kept; what tells two failures apart is signed before."""

_NAME = re.compile(r"\w[\w.,#@+= -]{0,99}")
_OPENING = "loops:opening"
_TRIES, _PAUSE_S = 100, 0.05


class MonitorAnswer(msgspec.Struct, frozen=True):
    """What the monitor said of a batch; `notes` is what a person should know besides."""

    verdict: Verdict
    iteration: int
    notes: tuple[str, ...] = ()


class Loops(msgspec.Struct, frozen=True):
    """The loops others drive in one tree; outside a repository, in one folder."""

    root: Path
    home: RepositoryHome

    @classmethod
    def find(cls, start: Path) -> Loops:
        """The loops around `start`; nothing is made yet."""
        try:
            repository = Repository.find(start)
        except NotARepository:
            root = start.resolve()
            return cls(root, RepositoryHome(home_folder().resolve(), f"folder-{_digest(root)}"))
        return cls(repository.root, RepositoryHome.of(repository.common_dir, repository.root))

    @property
    def folder(self) -> Path:
        return self.home.folder / "loops"

    def report(self, name: str, result: BatchResult) -> MonitorAnswer:
        """The verdict on a batch, which is in the journal before it is given; without a review nothing is kept."""
        self._check(name)
        thresholds = thresholds_in(self.root)
        seen = of_batch(result, 1)
        if not seen.reviewed:
            known = self._known_facts(name)
            return MonitorAnswer(follow(history_of(known), seen, thresholds)[1], next_iteration(known) - 1)
        if not self._known_facts(name):
            self._foreign_history(name)
        self.home.prepare()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with SqliteJournal.open(self._journal) as journal:
            return self._keep(journal, self._record(journal, name), name, result, thresholds)

    def _keep(
        self, journal: SqliteJournal, record: TaskRecord, name: str, result: BatchResult, thresholds: Thresholds
    ) -> MonitorAnswer:
        with self._lease(journal, task_scope(record.id)) as lease:
            known = _facts(journal, record.id)
            read = () if known else self._foreign_history(name)
            told = [*known, *read]
            if is_rolled_back(told):
                result = msgspec.structs.replace(result, restored=True)
            seen = of_batch(result, next_iteration(told))
            _, verdict = follow(history_of(told), seen, thresholds)
            failed = tuple(Failure(one.id, one.error[:STORED_ERROR]) for one in result.failed)
            fact = BatchJudged(msgspec.structs.replace(result, failed=failed), seen, verdict)
            journal.append(record.id, [*read, fact], epoch=lease.epoch, at=system_clock.now())
            iterations = sum(row.observation is not None for each in read for row in each.rows)
            notes = [
                f"the history so far was read from {each.path}: {plural(iterations, 'iteration')}" for each in read
            ]
            notes += self._render_page(name, record.id, batch_page([*told, fact]))
        return MonitorAnswer(verdict, seen.iteration, tuple(notes))

    def _foreign_history(self, name: str) -> tuple[HistoryImported, ...]:
        """The history in a page that flyball did not write, read once, before the first batch (M34)."""
        page = f"{LOOP}/{name}/{MONITOR_PAGE}"
        try:
            with KeptFolder.below(self.root, LOOP, name) as folder:
                raw = folder.read(MONITOR_PAGE)
        except DocumentError:
            return ()
        if raw is None:
            return ()
        try:
            rows = read_page(raw.decode("utf-8-sig", "replace"))
        except PageUnreadable as error:
            raise Refusal(
                f"{page}, {error}. Fix the line, or move the file away to start a new history. Nothing was written."
            ) from error
        return (HistoryImported(page, hashlib.sha256(raw).hexdigest(), rows),) if rows else ()

    def _render_page(self, name: str, record: TaskId, page: str) -> tuple[str, ...]:
        """The page put in place; where it cannot be, the verdict stands all the same and the next batch tries again."""
        memory = self.folder / "rendered" / f"{record}-{_digest(self.root)}.json"
        try:
            kept = LoopFolder(self.root, TaskId(name), memory=memory).render({MONITOR_PAGE: page})
        except DocumentError as error:
            return (f"the batch is kept, but its page is not there: {error}",)
        return tuple(one.sentence for one in kept)

    def _check(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise Refusal(
                f"{name!r} cannot name a loop; expected a folder's name of at most 100 letters, digits, dots and dashes, "
                "such as 001-add-login."
            )
        if self.home.journal.exists():
            with SqliteJournal.open(self.home.journal) as journal:
                if any(record.id == name for record in journal.tasks()):
                    raise Refusal(
                        f"{name} is a task that flyball runs and measures itself. Its health: flyball status {name}. "
                        "Give another loop a name of its own."
                    )

    @property
    def _journal(self) -> Path:
        return self.folder / "journal.sqlite"

    def _known_facts(self, name: str) -> list[BatchJudged | HistoryImported]:
        """What the journal has of the loop; a journal that is not there is not made."""
        if not self._journal.exists():
            return []
        with SqliteJournal.open(self._journal) as journal:
            record = _find(journal, name)
            return _facts(journal, record.id) if record else []

    def _record(self, journal: SqliteJournal, name: str) -> TaskRecord:
        """The loop's place in the journal, made by whoever comes first."""
        if found := _find(journal, name):
            return found
        with self._lease(journal, _OPENING):
            return _find(journal, name) or journal.open_task(
                slug(name), workflow="monitor", title=name, at=system_clock.now()
            )

    def _lease(self, journal: SqliteJournal, scope: str) -> Lease:
        """The lease, waited for as long as a few batches take; then whoever holds it is named."""
        holder = this_process(system_clock.now())
        for left in reversed(range(_TRIES)):
            try:
                return Lease.take(journal, self.folder / "locks", scope, holder)
            except LeaseHeld:
                if not left:
                    raise
                time.sleep(_PAUSE_S)
        raise AssertionError("the last try either takes the lease or raises")


def _find(journal: SqliteJournal, name: str) -> TaskRecord | None:
    return next((record for record in journal.tasks() if record.title == name), None)


def _facts(journal: SqliteJournal, loop: TaskId) -> list[BatchJudged | HistoryImported]:
    return [event.fact for event in journal.read(loop) if isinstance(event.fact, BatchJudged | HistoryImported)]


def _digest(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:12]


def thresholds_in(folder: Path) -> Thresholds:
    """Those of the folder's configuration, which here needs no trust: the monitor only advises."""
    file = config_file.read(folder)
    return Thresholds(**file.monitor) if file else Thresholds()
