"""Changes to a backlog folder: each names what it wants to be true, so that making it twice is making it once."""

import msgspec

from flyball.core.workflows.backlog.values import Decision, Issue, Session, Status, Trigger

Stored = int | str | list[str]
"""What a value of the session file may be."""


class _WorkEdit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="edit"):
    pass


class SetStatus(_WorkEdit, frozen=True, omit_defaults=True, tag="status"):
    """One field of one issue: `old` is the status it was read with."""

    file: str
    issue: str
    old: Status
    new: Status


class Archive(_WorkEdit, frozen=True, omit_defaults=True, tag="archive"):
    """A completed issue leaves its file for the history, and is in one of them at any instant."""

    file: str
    issue: str
    on: str


class AddIssue(_WorkEdit, frozen=True, omit_defaults=True, tag="add"):
    """A new issue at the end of its file; `source` is who found it."""

    issue: Issue
    source: str


class Reopen(_WorkEdit, frozen=True, omit_defaults=True, tag="reopen"):
    """A completed issue was rolled back: the history says so, and the file of its priority has it again, as proposed."""

    issue: str
    on: str


class KeepSession(_WorkEdit, frozen=True, omit_defaults=True, tag="session"):
    """Values of `orchestrator-state.json`; all others in it stay."""

    values: dict[str, Stored]


class KeepDecision(_WorkEdit, frozen=True, omit_defaults=True, tag="decision"):
    """The decision and its counts, in `orchestrator-state.json` and the section `## Loop Decision` of `focus.md`."""

    decision: Decision
    reason: str
    trigger: Trigger
    at: str
    session: Session
    next: str = ""


WorkEdit = SetStatus | Archive | AddIssue | Reopen | KeepSession | KeepDecision
