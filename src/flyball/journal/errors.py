"""What can go wrong with a journal, each named after its situation."""

import shlex

from flyball.journal.records import Holder
from flyball.ports import Refusal


class JournalError(Refusal):
    """Anything the journal's room refuses or cannot do."""


class JournalUnwritable(JournalError):
    """The journal takes no more facts; what is in it can still be read."""


class JournalGone(JournalError):
    """The file was deleted or replaced while open: what is appended now would be lost."""


class JournalCorrupt(JournalError):
    """Something in the journal is not what was written; `task` and `seq` say where, as far as known."""

    def __init__(self, journal: str, problem: str, *, task: str = "", seq: int = 0) -> None:
        self.journal, self.task, self.seq = journal, task, seq
        place = f"task = '{task}' AND seq = {seq}"
        query = f"SELECT * FROM events WHERE {place}" if task else "PRAGMA integrity_check"
        look = f"sqlite3 -readonly {shlex.quote(journal)} {shlex.quote(query)}"
        super().__init__(f"The journal {journal} is damaged: {problem}. Nothing was changed. Look at it with: {look}")


class JournalNewer(JournalError):
    """The journal holds what only a later flyball can read."""


class TaskUnknown(JournalError):
    def __init__(self, task: str) -> None:
        self.task = task
        super().__init__(f"The journal has no task {task!r}. `flyball list` shows those it has.")


class LeaseHeld(JournalError):
    """Another process works on this; `holder` is None if it has not said who it is, `what` names the scope in words.

    `way` is what a person can do where there is more than to wait.
    """

    def __init__(self, scope: str, holder: Holder | None, *, what: str = "", task: str = "", way: str = "") -> None:
        self.scope, self.holder = scope, holder
        works = f", which works on {task}" if task else ""
        who = (
            f"process {holder.pid} on {holder.host} since {holder.since:%Y-%m-%d %H:%M:%S %Z}"
            if holder
            else "another process"
        )
        way = way or "Wait for it to end, or stop it, and try again."
        super().__init__(f"{what or scope} is held by {who}{works}. {way}")


class LeaseLost(JournalError):
    """Another process has taken over, so what this one still has to say is refused."""


class BlobUnwritable(JournalError):
    """A text could not be kept."""
