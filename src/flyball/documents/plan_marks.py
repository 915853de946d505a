"""Reads a plan where its user keeps it, and marks entries there: only where the file still is what was read, and nothing but the marks.

A mark that stands already is done, so an edit that a kill broke off is finished by making it again.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from flyball.clock import system_clock
from flyball.core.model.outcomes import Stale
from flyball.core.model.task import Source
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, PlanRead, ReadPlan
from flyball.core.workflows.plan.sources.marking import EntryMoved, MarkChange, nothing_else_moved, with_marks
from flyball.core.workflows.plan.sources.values import FORMATS, PlanUnreadable
from flyball.documents.errors import DocumentError
from flyball.documents.kept_files import KeptFolder
from flyball.documents.plan_source import backlog_files, digest_of, read_plan
from flyball.documents.shared_lock import hold_lock

LOCK_STALE_S = 10.0
LOCK_PATIENCE_S = 60.0
GONE = "is gone: put it back, for the task works to the plan in it"


class PlanFiles:
    """Performs the effects on plans that are files, below a repository's root or elsewhere; each may be repeated after a crash."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, request: ReadPlan) -> PlanRead:
        """The plan as it is now; nothing but its hash where it has not changed."""
        path = self._root / request.source.path
        if not os.path.lexists(path):
            raise DocumentError(f"{path} {GONE}")
        plan, digest = read_plan(request.source, self._root, parallel_stories=request.parallel_stories)
        return PlanRead(digest, None if digest == request.seen else plan)

    def mark(self, request: MarkEntries) -> EntriesMarked | Stale:
        """Make the changes, or find that they are made."""
        path = self._root / request.source.path
        try:
            if request.source.format == "backlog.md":
                return self._mark_folder(path, request)
            lock = _lock(path) if request.source.format == "task-master" else nullcontext()
            with lock, _folder(self._root, path.parent) as folder:
                return _mark_file(folder, path.name, request)
        except EntryMoved:
            return Stale(_digest(path.read_bytes()) if path.is_file() else "")
        except (DocumentError, PlanUnreadable) as error:
            raise DocumentError(f"{path} {error}" if str(error) == GONE else f"{path}: {error}") from error

    def _mark_folder(self, path: Path, request: MarkEntries) -> EntriesMarked | Stale:
        before = backlog_files(path)
        after = dict(before)
        by_file = attrgetter("key.part")
        for name, changes in groupby(sorted(request.changes, key=by_file), key=by_file):
            if name not in before:
                return Stale(digest_of(before))
            after[name] = _with_marks(before[name], request.source, tuple(changes))
        if after != before and digest_of(before) != request.seen:
            return Stale(digest_of(before))
        with _folder(self._root, path) as folder:
            for name in (each for each in after if after[each] != before[each]):
                if not _put(folder, name, before[name], after[name]):
                    return Stale(digest_of(backlog_files(path)))
        return EntriesMarked(digest_of(backlog_files(path)))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@contextmanager
def _folder(root: Path, path: Path) -> Iterator[KeptFolder]:
    """The folder a file is kept in, opened through no link below the repository's root."""
    inside = path.is_relative_to(root)
    with KeptFolder.below(root if inside else path, *(path.relative_to(root).parts if inside else ())) as folder:
        folder.clear()
        yield folder


def _mark_file(folder: KeptFolder, name: str, request: MarkEntries) -> EntriesMarked | Stale:
    before = folder.read(name)
    if before is None:
        raise DocumentError(GONE)
    after = _with_marks(before, request.source, request.changes)
    if after == before:
        return EntriesMarked(_digest(before))
    if _digest(before) != request.seen or not _put(folder, name, before, after):
        return Stale(_digest(before))
    return EntriesMarked(_digest(after))


def _with_marks(raw: bytes, source: Source, changes: tuple[MarkChange, ...]) -> bytes:
    """The content with its marks, once it is certain that nothing else would move."""
    format = FORMATS[source.format]
    after = with_marks(raw, format, source.selector, changes)
    if not nothing_else_moved(raw, after, format, source.selector, changes):
        raise DocumentError("more than the marks would have changed; nothing was written. Mark the entries by hand")
    return after


def _put(folder: KeptFolder, name: str, before: bytes, after: bytes) -> bool:
    """Replace a file if it is what was read; says whether that was so."""
    return folder.edit(name, lambda now: after if now == before else None)


def _lock(path: Path) -> AbstractContextManager[None]:
    """Task Master's own lock: a file or folder beside the tasks, which counts for nothing once it is ten seconds old."""
    until = system_clock.monotonic() + LOCK_PATIENCE_S
    lock = path.with_name(f"{path.name}.lock")
    make = partial(Path.touch, exist_ok=False)
    return hold_lock(lock, make, stale_s=LOCK_STALE_S, is_over=lambda: system_clock.monotonic() > until)
