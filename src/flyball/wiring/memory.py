"""The shared memory of a repository: the learnings of all its tasks, read from their journals, and the tree they are checked in."""

import contextlib
import os
import stat
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flyball.core.memory.recalling import recall
from flyball.core.memory.standing import KINDS, remember
from flyball.core.model.effects import Recall
from flyball.core.model.learnings import Learnings
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import ChangedFile, ChangedLines, Recalled
from flyball.core.model.task import TaskId
from flyball.core.text.scrubbing import decode, storable
from flyball.journal.errors import JournalError
from flyball.journal.sqlite import SqliteJournal
from flyball.ports import Refusal
from flyball.workspace.saved_task import SavedTask
from flyball.workspace.vault import Vault
from flyball.workspace.workspace import GitWorkspace

LONGEST_TEXT = 1024 * 1024
_TEXTS_KEPT = 256
FILES_SHOWN = 40
"""Changed files that a reviewer is told of one by one."""


class JournalLearnings(msgspec.Struct):
    """The learnings of every task of a journal; what was read once is not read again."""

    journal: SqliteJournal
    _known: dict[TaskId, tuple[int, Learnings]] = {}

    def tasks(self) -> dict[str, Learnings]:
        """All of them as of now; a task whose journal cannot be read is left out."""
        for record in self.journal.tasks():
            after, learnings = self._known.get(record.id, (0, Learnings()))
            with contextlib.suppress(JournalError):
                for event in self.journal.read_of(record.id, KINDS, after):
                    remember(learnings, event)
                    self._known[record.id] = event.seq, learnings
        return {task: learnings for task, (_, learnings) in self._known.items()}


def regular_text(path: Path, most: int) -> str | None:
    """The text of a regular file, as far as so many bytes go; a link is not followed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(handle, "rb") as file:  # noqa: PTH123 - an open handle has no path
        return decode(file.read(most)) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


class FolderTree:
    """A tree as it lies in a folder; what it was in an earlier commit is read from the vault, where there is one."""

    def __init__(self, root: Path, vault: Vault | None = None) -> None:
        self._root = root
        self._vault = vault
        self.text_then = lru_cache(_TEXTS_KEPT)(self._text_then)

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._root / path)

    def text(self, path: str) -> str | None:
        """A file's text; neither a link nor anything outside of the tree is followed."""
        place = self._root / path
        try:
            inside = place.parent.resolve().is_relative_to(self._root.resolve())
        except OSError:
            return None
        return regular_text(place, LONGEST_TEXT) if inside else None

    def _text_then(self, commit: str, path: str) -> str | None:
        if self._vault is None:
            return None
        try:
            return decode(self._vault.git().out("cat-file", "blob", f"{commit}:{path}")[:LONGEST_TEXT])
        except (Refusal, OSError):
            return None


class RepositoryMemory:
    def __init__(self, journal: SqliteJournal, workspace: GitWorkspace) -> None:
        self._learnings = JournalLearnings(journal)
        self._workspace = workspace
        self._trees: dict[Path, FolderTree] = {}

    def recall(self, request: Recall) -> Recalled:
        space = self._workspace.lane(request.lane)
        tree = self._trees.setdefault(space.root, FolderTree(space.root, space.vault))
        found = recall(request, self._workspace.task, self._learnings.tasks(), tree)
        return replace(found, changes=changes(space, request))


def changes(space: SavedTask, request: Recall) -> dict[str, ChangedLines]:
    """What is under review since each commit that is shown, but for flyball's own files; of one that is gone, nothing."""
    found = {}
    for name, old in request.shown.items():
        with contextlib.suppress(Refusal, OSError):
            lines = [each for each in space.numstat(old, request.commit) if not each.path.startswith(f"{LOOP}/")]
            files = tuple(ChangedFile(storable(each.path), each.added, each.deleted) for each in lines[:FILES_SHOWN])
            added, removed = (sum(getattr(each, way) or 0 for each in lines) for way in ("added", "deleted"))
            found[name] = ChangedLines(files, len(lines), added, removed)
    return found
