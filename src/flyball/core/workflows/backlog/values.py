"""The values of a backlog and of its evaluation: issues, validations, the session, what is asked and what is answered."""

from typing import Literal

import msgspec

from flyball.core.claims.reviews import VALIDATORS, Count, Validation

Status = Literal["proposed", "in-progress", "blocked", "completed", "won't-fix"]
Build = Literal["pass", "fail", "unknown"]
Gates = Literal["met", "unmet", "unknown"]
Decision = Literal["CONTINUE", "DONE", "BLOCKED"]
Trigger = Literal[
    "unrecoverable_error",
    "critical_security",
    "failed_3x",
    "no_completion",
    "needs_input",
    "no_actionable",
    "only_blocked",
    "build_failing",
    "gates_unmet",
    "unverified",
    "cycle_limit",
    "done",
    "actionable",
]

ISSUE_FILES = ("shortlist.md", "critical.md", "high.md", "medium.md", "low.md", "backlog.md")
"""Where issues are, in the order they are worked."""
HISTORY = "history.md"
OPEN: tuple[Status, ...] = ("proposed", "in-progress")
FINAL: tuple[Status, ...] = ("completed", "won't-fix")


class Issue(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One issue as it stands in a file; `stated` is its status as written, `order` its place among all that were read."""

    id: str
    title: str = ""
    status: Status = "proposed"
    file: str = "backlog.md"
    line: Count = 0
    order: Count = 0
    stated: str = ""
    type: str = ""
    priority: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    blocked_by: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    affected_files: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    problem: str = ""
    body: str = ""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_final(self) -> bool:
        return self.status in FINAL


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a file is not written as the format asks; line 0 is the file as a whole."""

    file: str
    line: Count
    message: str


class Backlog(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All issue files as read; `unread` are the places that name an issue and cannot be read, malformed blocks and whole files
    among them; `finished` are the ids that history holds as completed.
    """

    issues: tuple[Issue, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    unread: tuple[Deviation, ...] = ()
    finished: tuple[str, ...] = ()


class Session(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What happened since the loop began.

    `failures` counts failed validations by issue; `answered` are issues whose need of a person was met by a word;
    `cycles_without_completion` of None is not known and follows from the cycles when nothing was completed at all.
    """

    cycles: Count = 0
    max_cycles: Count = 0
    completed: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    completed_count: Count = 0
    created_count: Count = 0
    consecutive_failures: Count = 0
    failures: dict[str, Count] = {}
    cycles_without_completion: Count | None = None
    focus: str = ""
    answered: tuple[str, ...] = ()
    started_at: str = ""


class Situation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything the evaluator is told; the same situation always gets the same answer.

    `environment` is what this machine has, for issues that say what they require; `validators` are the kinds of review without
    which nothing is done; `untouched` says that nothing was changed in this session, so that there is nothing they could look at.
    """

    backlog: Backlog = Backlog()
    validations: tuple[Validation, ...] = ()
    session: Session = Session()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unrecoverable: bool = False
    build: Build = "unknown"
    gates: Gates = "unknown"
    environment: tuple[str, ...] = ("linux",)
    validators: tuple[str, ...] = VALIDATORS
    untouched: bool = False


class FileTally(msgspec.Struct, frozen=True):
    proposed: int = 0
    in_progress: int = 0
    blocked: int = 0


class Evaluation(msgspec.Struct, frozen=True):
    decision: Decision
    reason: str
    trigger: Trigger
    next_issue: str | None = None
    blocked_on: tuple[str, ...] = ()
    counts: dict[str, FileTally] = {}
    actionable: int = 0
    warnings: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    promise: str = ""
