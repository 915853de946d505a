"""A backlog folder in memory, for simulations: issues, the session and the decision, changed by the same edits."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.model.outcomes import Edited, Stale
from flyball.core.workflows.backlog import edits as ed
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog, ReadBacklog
from flyball.core.workflows.backlog.values import HISTORY, ISSUE_FILES, Backlog, Issue, Session


class BacklogInMemory:
    """Behaves as a folder on disk does: an edit of a file that changed since it was read changes nothing."""

    def __init__(self, *issues: Issue, failures: dict[str, int] | None = None) -> None:
        self.issues = list(issues)
        self.history: list[str] = []
        self.failures = dict(failures or {})
        self.session: dict[str, object] = {}
        self.decisions: list[ed.KeepDecision] = []
        self.edits: list[ed.WorkEdit] = []
        self._versions = dict.fromkeys((*ISSUE_FILES, HISTORY), 0)

    def perform(self, effect: ReadBacklog | EditBacklog) -> BacklogRead | Edited | Stale:
        return self.read(effect) if isinstance(effect, ReadBacklog) else self.edit(effect)

    def read(self, effect: ReadBacklog) -> BacklogRead:
        """The folder as it is."""
        wanted = [i for i in self.issues if not i.is_final or i.id == effect.issue]
        unfinished = [i if i.id == effect.issue else replace(i, body="") for i in wanted]
        final = [i.id for i in self.issues if i.is_final]
        return BacklogRead(
            Backlog(tuple(unfinished), finished=(*self.history, *final)),
            Session(failures=dict(self.failures)),
            {file: str(version) for file, version in self._versions.items()},
            issue=effect.issue,
            constitution="Be kind to readers.",
            environment=("linux",),
        )

    def change(self, issue: str, **values: object) -> None:
        """What a person does to their file."""
        place = next(n for n, each in enumerate(self.issues) if each.id == issue)
        self.issues[place] = replace(self.issues[place], **values)
        self._versions[self.issues[place].file] += 1

    def edit(self, effect: EditBacklog) -> Edited | Stale:
        """Make the edits in their order; one that was made already is left out, one on a changed file ends it."""
        own: set[str] = set()
        for each in effect.edits:
            file = _file(each)
            if self._is_made(each):
                continue
            if file and file not in own and effect.seen.get(file) != str(self._versions[file]):
                return Stale("changed")
            self._make(each)
            own.add(file)
            self.edits.append(each)
        return Edited("written")

    def _is_made(self, edit: ed.WorkEdit) -> bool:
        known = {issue.id: issue.status for issue in self.issues}
        match edit:
            case ed.SetStatus(issue=issue, new=new):
                return known.get(issue) == new
            case ed.Archive(issue=issue):
                return issue not in known
            case ed.AddIssue(issue=added):
                return added.id in known
            case ed.Reopen(issue=issue):
                return issue in known
        return False

    def _make(self, edit: ed.WorkEdit) -> None:
        match edit:
            case ed.SetStatus(issue=issue, new=new):
                self.change(issue, status=new)
            case ed.Archive(file=file, issue=issue):
                self._versions[file] += 1
                self.issues = [each for each in self.issues if each.id != issue]
                self.history.append(issue)
            case ed.AddIssue(issue=added):
                self._versions[added.file] += 1
                self.issues.append(replace(added, order=len(self.issues)))
            case ed.Reopen(issue=issue):
                self.history.remove(issue)
                self.issues.append(Issue(issue, order=len(self.issues)))
            case ed.KeepSession(values=values):
                self.session |= values
            case ed.KeepDecision(session=session):
                self.failures = dict(session.failures)
                self.decisions.append(edit)

    def of(self, issue: str) -> Issue:
        return next(each for each in self.issues if each.id == issue)


def _file(edit: ed.WorkEdit) -> str:
    if isinstance(edit, ed.AddIssue):
        return edit.issue.file
    return edit.file if isinstance(edit, ed.SetStatus | ed.Archive) else ""
