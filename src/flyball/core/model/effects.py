"""What may be asked of the world: every effect has a deterministic id, and asking twice for one id does it once."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from flyball.core.model.measurement import MeasurementKind
from flyball.core.model.outcomes import Usage
from flyball.core.model.task import MAIN, Author, Commit, EffectId, Item

BASELINE = "measure/baseline"
"""The id of the measurement of the untouched tree."""


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    key: str
    meaning: str


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something only a person can answer; without a default the task is BLOCKED until they do.

    At `deadline_at`, which few have, whoever is asked is waited for no longer.
    A person's answer to one that has a key in `kept` is the answer to all of that key in this repository.
    One that can be settled by changing what was read, too, is put `again` when the task is resumed, if it still stands.
    """

    name: str
    text: str
    options: tuple[Option, ...] = ()
    default: str | None = None
    deadline_at: datetime | None = None
    detail: str = ""
    again: bool = False
    kept: str = ""

    @property
    def details(self) -> tuple[str, ...]:
        """The detail line by line, without what the text says already."""
        return tuple(line for line in self.detail.splitlines() if line not in self.text)


class _Identified(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="effect"):
    id: EffectId


class Effect(_Identified, frozen=True, omit_defaults=True, kw_only=True):
    """What every effect carries, so that whoever performs it needs nothing else.

    `lane` is the line of work it is for, `at` when it was first begun, which dates what it writes, and `attempt` how often.
    One that reads or writes `users_files` waits for the user when it fails: only they can mend their files.
    """

    users_files: ClassVar[bool] = False
    lane: str = MAIN
    attempt: int = 1
    at: datetime | None = None

    @property
    def begun_at(self) -> datetime:
        assert self.at is not None, f"{self.id} was not begun"
        return self.at

    @property
    def step(self) -> str:
        """Its id without lane and number, as screens name it."""
        return next(part for part in self.id.split("/") if part.partition("+")[0] != self.lane)


class Prepare(Effect, frozen=True, omit_defaults=True, tag="prepare"):
    """Make the task's workspace, or what is missing of it: isolated checkout, vault, branch, setup command.

    `again`: it was removed, and is made anew from what was saved.
    """

    again: bool = False


class OpenLane(Effect, frozen=True, omit_defaults=True, tag="open_lane"):
    """Give a lane a workspace: a checkout of `base` with a git dir and an environment of its own.

    Work that is known to change no manifest `shares` the user's installed dependencies, read-only, where those fit.
    """

    base: Commit
    shares: bool = False


class CloseLane(Effect, frozen=True, omit_defaults=True, tag="close_lane"):
    """Leave a lane's workspace to the next lane, once all that is in it is saved."""


class RunAgent(Effect, frozen=True, omit_defaults=True, tag="run_agent"):
    """One turn: a role, a prompt, an agent; `copy` names a disposable copy of `commit`, empty is the lane's own workspace.

    `session_usage` is what the conversation had used before, for agents that only tell its total. A reviewer is told apart from
    the `authors` of what it reviews; one who writes `product` code is an author from then on. The learnings in `recalled` stand in
    its prompt. Its git finds the commits that are `shown` as `flyball/NAME`: `start`, where the work began; in a copy `seen`, what the role
    looked at last, and `accepted`, what tests were accepted in; else the `tree` that it begins with, `last-good` and what was `undone`.
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
    product: bool = False
    recalled: tuple[str, ...] = ()
    shown: dict[str, Commit] = {}


class Recall(Effect, frozen=True, omit_defaults=True, tag="recall"):
    """Find the learnings of the repository's tasks that fit the lane's next turn, and look whether they still hold in its tree.

    They are searched by `words` and `files`, and by what `related` items are; `learned` is how many the task itself has recorded,
    so that a new one is a new question. One who is `reviewing` is told of contradictions with decisions that are not accepted yet, and of
    what `commit` changes since those that are `shown`.
    """

    words: str
    item: str = ""
    files: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    learned: int = 0
    reviewing: bool = False
    commit: Commit = Commit("")
    shown: dict[str, Commit] = {}


class CountDay(Effect, frozen=True, omit_defaults=True, tag="count_day"):
    """Sum up what turns of all tasks of this user used on the present local day."""


class Measure(Effect, frozen=True, omit_defaults=True, tag="measure"):
    """Measure a candidate: `accepted` supplies the protected paths, `base` the state before the task.

    `consented` maps a path to the commit in which its change was looked at and allowed: nothing later is. `turn` is the turn whose
    tree this is. Folders in `kept` are the user's alone: they are measured as accepted, whatever the candidate made of them. Where
    tests are `tests_may_grow`, accepted test files may get more of them. What a person `asked` for in their own words, and nothing
    that an agent wrote, opens protected paths it names. `failed_exits` are the codes gates ended with at the baseline
    where tests failed. Tests in `work` failed then, too (`*`: all that did), and are excused by nothing.
    `checks`: a review by criteria will judge this task, so its tools are tried too, and its criteria after a rejection. `midway`: the task began in a later stage than the first,
    so the tests of its criteria may be older than it. `since` is the tree this piece of work began from, `base` where it is empty.
    `shown` are the tests and lines that the turn names for its criteria.
    """

    kind: MeasurementKind
    candidate: Commit
    base: Commit
    accepted: Commit
    iteration: int = 0
    items: tuple[Item, ...] = ()
    baseline_ref: str = ""
    accepted_ref: str = ""
    rejected: Commit = Commit("")
    consented: dict[str, Commit] = {}
    turn: int = 0
    kept: tuple[str, ...] = ()
    tests_may_grow: bool = False
    asked: tuple[Item, ...] = ()
    failed_exits: dict[str, int] = {}
    work: tuple[str, ...] = ()
    checks: bool = False
    midway: bool = False
    since: Commit = Commit("")
    shown: tuple[str, ...] = ()


class Save(Effect, frozen=True, omit_defaults=True, tag="save"):
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
    turn: int = 0
    closing: str = ""
    undelivered: bool = False
    squash_onto: Commit = Commit("")


class Restore(Effect, frozen=True, omit_defaults=True, tag="restore"):
    """Make the workspace's tree that of a checkpoint again."""

    to: Commit
    reason: str


class PutBack(Effect, frozen=True, omit_defaults=True, tag="put_back"):
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


class Integrate(Effect, frozen=True, omit_defaults=True, tag="integrate"):
    """Bring the work a lane did since `base`, which is `commit`, onto the commit `onto`; no branch is moved.

    Files and folders in `without` are not the lane's to change: what it did to them is dropped. Conflict markers name the `work`.
    """

    commit: Commit
    base: Commit
    onto: Commit
    message: str
    without: tuple[str, ...] = ()
    work: str = ""


class Deliver(Effect, frozen=True, omit_defaults=True, tag="deliver"):
    """Let the task's branch in the user's repository be `commit`, and push it where the user asked for that."""

    commit: Commit
    push: bool = False


class OpenPullRequest(Effect, frozen=True, omit_defaults=True, tag="open_pull_request"):
    """Open a pull request for the pushed branch, or find the one that is open; `into` is the branch the task started from."""

    branch: str
    into: str = ""


class Wait(Effect, frozen=True, omit_defaults=True, tag="wait"):
    """Do nothing until a time; survives a restart, which waits only what is left."""

    until: datetime
    reason: str


class Ask(Effect, frozen=True, omit_defaults=True, tag="ask"):
    question: Question
