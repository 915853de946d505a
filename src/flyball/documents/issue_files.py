"""Changes to the user's issue files: a status, a new issue, the move to history and back, each safe to repeat after a crash.

A finished issue is written into history first and taken out of its file then, so that it is at no instant in neither. What
is done already is recognised by its content, so a move that was killed at any step is simply made again.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from flyball import faults
from flyball.core.workflows.backlog.issues import edits
from flyball.core.workflows.backlog.issues.reading import finished_in, read_issues
from flyball.core.workflows.backlog.issues.words import KnownIssues
from flyball.core.workflows.backlog.values import HISTORY, ISSUE_FILES, Issue, Status
from flyball.documents.errors import DocumentError, WorkFolderUnusable
from flyball.documents.kept_files import KeptFolder
from flyball.documents.work_folder import (
    AGENT,
    ISSUES,
    WORK,
    bytes_of,
    histories,
    history_numbers,
    issue_files,
    text_of,
)

_MOVED_FROM = re.compile(r"^moved_from:[ \t]*(\S+)", re.MULTILINE)


class IssueFiles(msgspec.Struct, frozen=True):
    """The issue files below `root`; one process edits them at a time, and people may at any time."""

    root: Path

    def set_status(self, file: str, id: str, status: Status) -> None:
        """Change one issue's status, by an allowed transition; one that has it already is left alone."""
        with self._folder() as folder, _explain_errors(file):
            folder.edit(file, lambda raw: bytes_of(edits.with_status(text_of(raw or b""), id, status)))

    def add(self, issue: Issue, source: str) -> None:
        """Add a new issue to the end of its file, unless that holds its id already; never to the shortlist."""
        assert issue.file != ISSUE_FILES[0]

        def change(raw: bytes | None) -> bytes | None:
            text = text_of(raw) if raw else edits.header_of(issue.file)
            if edits.find_issue(text, issue.id):
                return None
            return bytes_of(edits.with_block(text, edits.render_issue(issue, source)))

        with self._folder() as folder:
            folder.edit(issue.file, change)

    def move_to_history(self, file: str, id: str, *, at: str) -> None:
        with self._folder() as folder, _explain_errors(file):
            text = _text(folder, file)
            if edits.find_issue(text, id) is None and id in finished_in(_histories(folder)):
                return
            edits.with_status(text, id, "completed")
            known = _known_issues(folder)
            kept = edits.entry(text, id, file=file, at=at, known=known)
            if not any(edits.holds(_text(folder, name), id, kept) for name in histories(folder)[-2:]):
                _append(folder, kept)
            faults.point("work.history.written")
            folder.edit(file, lambda raw: _without(text_of(raw or b""), id, kept, file, at, known))
        faults.point("work.history.moved")

    def revert(self, id: str, *, at: str, reason: str) -> str:
        """Roll a completion back: the issue is proposed again under its id, and history says so; the file it is in now."""
        with self._folder() as folder, _explain_errors(HISTORY):
            blocks = [block for text in _histories(folder) for block in edits.records(text, id)]
            done = next((block for block in reversed(blocks) if not edits.is_reverted(block)), "")
            if not done:
                raise edits.IssueMissing(f"{id} is not in history as completed.")
            file = _present_in(folder, id) or _return_to(done, id)
            folder.edit(file, lambda raw: _with_reopened(raw, file, done, id))
            faults.point("work.history.reopened")
            if not edits.is_reverted(blocks[-1]):
                _append(folder, edits.reverted_row(Issue(id), at=at, reason=reason))
            return file

    @contextmanager
    def _folder(self) -> Iterator[KeptFolder]:
        with KeptFolder.below(self.root, WORK, AGENT, ISSUES) as folder:
            folder.clear()
            yield folder


def _text(folder: KeptFolder, name: str) -> str:
    return text_of(folder.read(name) or b"")


def _histories(folder: KeptFolder) -> Iterator[str]:
    return (_text(folder, name) for name in histories(folder))


def _append(folder: KeptFolder, block: str) -> None:
    """Add a block to history; a file that is full is put aside first."""
    if len(folder.read(HISTORY) or b"") > edits.MAX_HISTORY:
        folder.move(HISTORY, f"history-{max(history_numbers(folder), default=0) + 1}.md")
    folder.edit(HISTORY, lambda raw: bytes_of(edits.with_block(text_of(raw) if raw else edits.HEADER, block)))


def _without(text: str, id: str, kept: str, file: str, at: str, known: KnownIssues) -> bytes:
    """The file without the issue, if that still is what was written into history."""
    if not edits.holds(kept, id, edits.entry(text, id, file=file, at=at, known=known)):
        raise edits.EditRefused(f"{id} was changed while it was moved; it is in history and here, and nothing is lost.")
    return bytes_of(edits.without_block(text, id, known))


def _known_issues(folder: KeptFolder) -> KnownIssues:
    """Every issue that has a block in a file that can be read, or stands in history."""
    ids: list[str] = []
    for name in (*issue_files(folder), *histories(folder)):
        with suppress(WorkFolderUnusable):
            ids += (issue.id for issue in read_issues(_text(folder, name), name).issues)
    return KnownIssues.of((*ids, *finished_in(_histories(folder))))


def _with_reopened(raw: bytes | None, file: str, done: str, id: str) -> bytes | None:
    text = text_of(raw) if raw else edits.header_of(file)
    return None if edits.find_issue(text, id) else bytes_of(edits.with_block(text, edits.reopen(done, id)))


def _present_in(folder: KeptFolder, id: str) -> str:
    for name in issue_files(folder):
        with suppress(WorkFolderUnusable):
            if edits.find_issue(_text(folder, name), id):
                return name
    return ""


def _return_to(done: str, id: str) -> str:
    """The file a finished_in issue goes back to: the one it came from, but the shortlist is its owner's alone."""
    origin = _MOVED_FROM.search(done)
    if origin is not None and origin[1] in ISSUE_FILES[1:]:
        return origin[1]
    issue = edits.find_issue(done, id)
    return edits.file_for(issue.priority if issue else "")


@contextmanager
def _explain_errors(file: str) -> Iterator[None]:
    try:
        yield
    except (edits.IssueMissing, edits.TransitionRefused, edits.EditRefused) as error:
        raise DocumentError(f"{file}: {error}") from error
