"""What may be asked of the world: every effect has a deterministic id, and asking twice for one id does it once."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from flyball.core.outcomes import Usage
from flyball.core.task import Author, Commit, EffectId, Item
from flyball.core.work_edits import WorkEdit


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer a person may choose."""

    key: str
    meaning: str


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something only a person can answer; without a default the task is BLOCKED until they do.

    One that can be settled by changing what was read, too, is put `again` when the task is resumed, if it still stands.
    """

    name: str
    text: str
    options: tuple[Option, ...] = ()
    default: str | None = None
    deadline_at: datetime | None = None
    detail: str = ""
    again: bool = False


class _Effect(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="effect"):
    id: EffectId


class Prepare(_Effect, frozen=True, omit_defaults=True, tag="prepare"):
    """Make the task's workspace, or what is missing of it: isolated checkout (or the tree in place), vault, branch, setup command."""


class RunAgent(_Effect, frozen=True, omit_defaults=True, tag="run_agent"):
    """One turn: a role, a prompt, an agent; `copy` names a disposable copy of `commit`, empty is the task's own workspace.

    `session_usage` is what the conversation had used before, for agents that only tell its total. A reviewer is told apart from
    the `authors` of what it reviews.
    """

    role: str
    stage: str
    agent: str
    model: str
    prompt: str
    iteration: int
    turn: int
    context: int = 1
    session: str = ""
    session_usage: Usage = Usage()
    item: str = ""
    copy: str = ""
    commit: Commit = Commit("")
    access: Literal["write", "read"] = "write"
    purpose: str = ""
    authors: tuple[Author, ...] = ()


class Measure(_Effect, frozen=True, omit_defaults=True, tag="measure"):
    """Measure a candidate: `accepted` supplies the protected paths, `base` the state before the task.

    Folders in `kept` are the user's alone: they are measured as accepted, whatever the candidate made of them. Where
    tests are `extendable`, accepted test files may get more of them. What a person `asked` for in their own words, and nothing
    that an agent wrote, opens protected paths it names. `failed_exits` are the codes gates ended with at the baseline
    where tests failed.
    `checks`: QA will judge this task, so its tools are tried too. `midway`: the task began in a later stage than the first,
    so the tests of its criteria may be older than it.
    """

    kind: Literal["baseline", "red", "green", "refactor", "document", "qa", "gates"]
    candidate: Commit
    base: Commit
    accepted: Commit
    iteration: int = 0
    items: tuple[Item, ...] = ()
    baseline_ref: str = ""
    accepted_ref: str = ""
    rejected: Commit = Commit("")
    consented: tuple[str, ...] = ()
    copy: str = ""
    kept: tuple[str, ...] = ()
    extendable: bool = False
    asked: tuple[Item, ...] = ()
    failed_exits: dict[str, int] = {}
    checks: bool = False
    midway: bool = False


class Save(_Effect, frozen=True, omit_defaults=True, tag="save"):
    """Keep the workspace's tree as a checkpoint.

    An accepted one keeps `tree`, exactly what was measured, or without one the parent's with flyball's own files in `.loop/`; it
    advances the task's branch, and the workspace follows it. `closing` is the reason the task is DONE with once this is delivered:
    the report that is saved says so, since nothing is saved after it, unless it is `undelivered`: then something that may fail is still to
    be done with the branch. With `squash_onto` all commits since that one become this one.
    """

    label: str
    message: str
    parent: Commit
    accepted: bool = False
    tree: str = ""
    copy: str = ""
    closing: str = ""
    undelivered: bool = False
    squash_onto: Commit = Commit("")


class Restore(_Effect, frozen=True, omit_defaults=True, tag="restore"):
    """Make the workspace's tree that of a checkpoint again."""

    to: Commit
    reason: str


class PutBack(_Effect, frozen=True, omit_defaults=True, tag="put_back"):
    """Undo what tricks did to protected `paths`, and nothing else: the workspace becomes `tree`, a checkpoint on `candidate`.

    Paths in `allowed` stay as the candidate has them. `doubtful`: a trick lies elsewhere too, so the tree still holds one.
    """

    candidate: Commit
    tree: str
    label: str
    message: str
    paths: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    doubtful: bool = False


class Integrate(_Effect, frozen=True, omit_defaults=True, tag="integrate"):
    """Bring a copy's work, or the finished task, onto the task's branch."""

    commit: Commit
    copy: str = ""
    final: bool = False
    push: bool = False


class OpenPullRequest(_Effect, frozen=True, omit_defaults=True, tag="open_pull_request"):
    """Open a pull request for the pushed branch, or find the one that is open; `into` is the branch the task started from."""

    branch: str
    into: str = ""


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """One smallest edit: at `line`, `old` becomes `new`."""

    line: int
    old: str
    new: str


class Edit(_Effect, frozen=True, omit_defaults=True, tag="edit"):
    """Change single fields of a file the user owns, if it still is what we read."""

    path: str
    base_sha256: str
    edits: tuple[Field, ...]


class ReadBacklog(_Effect, frozen=True, omit_defaults=True, tag="read_backlog"):
    """Read a backlog folder as it is now; `issue` is the one whose whole text is wanted, `ignore` what is no issue file."""

    path: str
    issue: str = ""
    ignore: tuple[str, ...] = ()


class EditBacklog(_Effect, frozen=True, omit_defaults=True, tag="edit_backlog"):
    """Change a backlog folder, if the files that are changed still are what was read (`seen`: SHA-256 by name)."""

    path: str
    seen: dict[str, str]
    edits: tuple[WorkEdit, ...]
    ignore: tuple[str, ...] = ()


class Wait(_Effect, frozen=True, omit_defaults=True, tag="wait"):
    """Do nothing until a time; survives a restart, which waits only what is left."""

    until: datetime
    reason: str


class Ask(_Effect, frozen=True, omit_defaults=True, tag="ask"):
    """Put a question to a person."""

    question: Question


Effect = (
    Prepare
    | RunAgent
    | Measure
    | Save
    | Restore
    | PutBack
    | Integrate
    | OpenPullRequest
    | Edit
    | ReadBacklog
    | EditBacklog
    | Wait
    | Ask
)
