"""A backlog folder as the loop sees it: read as one value, and edited only where it still is what was read.

Every edit looks first whether it was made already, so that one a kill broke off is finished by making it again.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flyball.core.model.outcomes import Edited, Stale
from flyball.core.workflows.backlog import edits as ed
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog, ReadBacklog
from flyball.core.workflows.backlog.issues.edits import find_issue
from flyball.core.workflows.backlog.session_state import with_values
from flyball.core.workflows.backlog.values import Backlog, Evaluation, Status
from flyball.documents import work_folder as wf
from flyball.documents.errors import DocumentError
from flyball.documents.issue_files import IssueFiles
from flyball.documents.kept_files import KeptFolder


class _ChangedMeanwhile(Exception):
    """A file is not what was read."""


class BacklogFolders(msgspec.Struct, frozen=True):
    """Performs the effects of a backlog on the folders below a repository's root; each may be repeated after a crash."""

    root: Path

    def read(self, request: ReadBacklog) -> BacklogRead:
        """The folder as it is, with the hashes of its files."""
        root = self._above(request.path)
        folder = wf.WorkFolder(root, request.ignore)
        # Hashed first: what somebody saves in between is stale when it is edited, and is read again.
        before = _hashes(root)
        found = folder.read()
        excerpts = folder.excerpts()
        return BacklogRead(
            _open_backlog(found.backlog, request.issue),
            found.state.session,
            before,
            request.issue,
            excerpts.get(wf.CONSTITUTION, ""),
            excerpts.get(wf.MEMORY, ""),
            (wf.SYSTEM,),
            found.warnings,
        )

    def edit(self, request: EditBacklog) -> Edited | Stale:
        root = self._above(request.path)
        try:
            editing = _Editing(root, dict(request.seen), request.ignore)
            for edit in request.edits:
                editing.make(edit)
        except _ChangedMeanwhile as changed:
            return Stale(str(changed))
        return Edited(hashlib.sha256(repr(sorted(_hashes(root).items())).encode()).hexdigest())

    def _above(self, path: str) -> Path:
        return (self.root / path).parent


def _hashes(root: Path) -> dict[str, str]:
    """The hashes of all issue files that can be read; what cannot is never edited."""
    hashes: dict[str, str] = {}
    with KeptFolder.below(root, wf.WORK, wf.AGENT, wf.ISSUES) as issues:
        for name in wf.issue_files(issues):
            with suppress(DocumentError):
                raw = issues.read(name)
                hashes |= {name: _hash(raw)} if raw is not None else {}
    return hashes


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _open_backlog(backlog: Backlog, wanted: str) -> Backlog:
    """What is still to be done, and what is wanted, without texts nobody asked for: it goes into the journal each time."""
    final = (issue.id for issue in backlog.issues if issue.is_final)
    return replace(
        backlog,
        issues=tuple(
            issue if issue.id == wanted else replace(issue, body="", acceptance=())
            for issue in backlog.issues
            if not issue.is_final or issue.id == wanted
        ),
        finished=tuple(dict.fromkeys((*backlog.finished, *final))),
    )


class _Editing(msgspec.Struct):
    """The edits of one request; `expected` are the hashes of files as they were read, or as these edits left them."""

    root: Path
    expected: dict[str, str]
    ignore: tuple[str, ...]

    def make(self, edit: ed.WorkEdit) -> None:
        files = IssueFiles(self.root)
        match edit:
            case ed.SetStatus(file=file, issue=id, old=old, new=new):
                self._change(file, id, new, lambda: files.set_status(file, id, new), only=old)
            case ed.Archive(file=file, issue=id, on=on):
                self._change(file, id, None, lambda: files.move_to_history(file, id, at=on))
            case ed.AddIssue(issue=issue, source=source):
                self._change(issue.file, issue.id, "proposed", lambda: files.add(issue, source))
            case ed.Reopen(issue=id, on=on):
                files.revert(id, at=on, reason="rolled back")
            case ed.KeepDecision():
                said = Evaluation(edit.decision, edit.reason, edit.trigger, edit.next or None)
                wf.WorkFolder(self.root, self.ignore).record(edit.session, said, at=edit.at)
            case ed.KeepSession():
                with KeptFolder.below(self.root, wf.WORK, wf.AGENT) as agent:
                    agent.edit(
                        wf.STATE, lambda raw: wf.state_bytes(with_values(json.loads(raw) if raw else {}, edit.values))
                    )

    def _change(
        self, file: str, id: str, wanted: Status | None, change: Callable[[], None], only: Status | None = None
    ) -> None:
        """Change a file that still is what was read, unless the issue stands as wanted already; None is: not there."""
        raw = self._read(file)
        found = find_issue(wf.text_of(raw or b""), id)
        if (found.status if found else None) == wanted:
            return
        if (_hash(raw) if raw is not None else None) != self.expected.get(file):
            raise _ChangedMeanwhile(file)
        if only is not None and (found is None or found.status != only):
            raise _ChangedMeanwhile(file)
        change()
        after = self._read(file)
        if after is not None:
            self.expected[file] = _hash(after)

    def _read(self, file: str) -> bytes | None:
        with KeptFolder.below(self.root, wf.WORK, wf.AGENT, wf.ISSUES) as issues:
            return issues.read(file)
