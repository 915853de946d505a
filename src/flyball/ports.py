"""The roles the engine needs played, as protocols; adapters play them, fakes too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from flyball.core.model.task import MAIN

if TYPE_CHECKING:
    from flyball.core.claims.findings import Finding
    from flyball.core.model.effects import Ask, Effect, Measure, OpenPullRequest, RunAgent
    from flyball.core.model.events import Event, Fact, Spoken
    from flyball.core.model.measurement import Measurement
    from flyball.core.model.outcomes import (
        Conflicted,
        Integrated,
        NothingToIntegrate,
        Outcome,
        PullRequested,
        TurnEnded,
    )
    from flyball.core.model.task import Commit, Settings, Task, TaskId

Notify = Callable[[str, str], None]
"""Called with a kind and a line, for whoever watches now; nothing is kept."""


class Watch(Protocol):
    """Whoever watches a task now: told a kind, a line and the lane it comes from."""

    def __call__(self, kind: str, line: str, lane: str = MAIN, /) -> None: ...


class Refusal(Exception):
    """The world says no: a sentence for a person, with the next command to type where there is one."""


class Clock(Protocol):
    """The only source of time and randomness."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...
    def nonce(self) -> str: ...


class Stop(Protocol):
    """A word from outside that running work must end."""

    def is_set(self) -> bool: ...
    def set(self, reason: str = "") -> None: ...


class Journal(Protocol):
    """Facts, durable before they are believed; an append by a stale epoch is refused."""

    def append(
        self, task: TaskId, facts: Sequence[Fact], *, epoch: int, at: datetime, taking: Sequence[int] = ()
    ) -> list[Event]: ...
    def read(self, task: TaskId, after: int = 0) -> Iterable[Event]: ...


class Word(msgspec.Struct, frozen=True):
    """A person's word, put in by another process."""

    id: int
    task: TaskId
    word: Spoken
    text: str
    question: str
    at: datetime


class Inbox(Protocol):
    """People's words, kept until the journal has taken them."""

    def pending(self, task: TaskId) -> Sequence[Word]: ...


class Perform(Protocol):
    """Does one effect in the world and says how it ended; expected failures are outcomes, not exceptions."""

    def __call__(self, effect: Effect, stop: Stop, /) -> Outcome: ...


class Blobs(Protocol):
    """Big texts as files named by their hash."""

    def put(self, data: bytes) -> str: ...
    def get(self, ref: str) -> bytes: ...


EnvironmentUse = Literal["pristine", "disposable", "writable"]
"""What a command may do to installed dependencies: use them; write those of its own tree, or a copy of the user's that is made anew
for each run; install them."""


class Confine(Protocol):
    """Wraps a command so that it sees `tree` at the repository's own path and can write only there and to `writable`,
    of which `read_only` stay as they are.

    Gives back the command, the directory to start it in and its environment.
    """

    def __call__(
        self,
        argv: Sequence[str],
        *,
        tree: Path,
        env: Mapping[str, str],
        writable: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
        read_only_tree: bool = False,
        environments: EnvironmentUse = "pristine",
    ) -> tuple[list[str], Path, dict[str, str]]: ...


class Kept(msgspec.Struct, frozen=True):
    """A tree that was saved; `notes` say in sentences what git could not hold."""

    commit: str
    tree: str
    parent: str | None = None
    notes: tuple[str, ...] = ()


class Trees(Protocol):
    """What commits hold: the part of a workspace that a measurement reads."""

    def changed_files(self, old: Commit, new: Commit) -> tuple[tuple[str, str], ...]: ...
    def added_lines(self, old: Commit, new: Commit, path: str) -> tuple[tuple[int, int], ...]: ...
    def read_file(self, commit: Commit, path: str) -> bytes | None: ...
    def list_files(self, commit: Commit) -> tuple[str, ...]: ...
    def links(self, commit: Commit) -> frozenset[str]: ...
    def overlay(
        self, commit: Commit, paths: Mapping[str, Commit | None], contents: Mapping[str, bytes] = ...
    ) -> str: ...
    def tree_of(self, commit: Commit) -> str: ...
    def export(self, tree: str, directory: Path, keep: Sequence[str] = ()) -> None: ...
    def lend(self, name: str, directory: Path) -> None: ...


class Workspace(Trees, Protocol):
    """A lane's tree, its checkpoints and the vault they are kept in; `lane` gives those of the others.

    Every call may be repeated after a crash.
    """

    @property
    def root(self) -> Path: ...
    @property
    def branch(self) -> str: ...
    @property
    def onto(self) -> str: ...
    @property
    def base(self) -> Commit: ...
    @property
    def tip(self) -> Commit: ...
    def lane(self, name: str) -> Workspace: ...
    def open_lane(self, name: str, base: Commit, keep: Sequence[str] = ()) -> Workspace: ...
    def close_lane(self, name: str) -> None: ...
    def integrate(
        self, commit: Commit, *, base: Commit, onto: Commit, message: str, at: datetime, without: tuple[str, ...] = ()
    ) -> Integrated | Conflicted | NothingToIntegrate: ...
    def prepare(self) -> tuple[str, ...]: ...
    def set_aside(self) -> None: ...
    def leave_out(self, since: Commit, at: datetime) -> tuple[str, ...]: ...
    def snapshot(self, label: str, message: str, at: datetime) -> Kept: ...
    def accept(self, label: str, message: str, at: datetime, *, tree: str, parent: Commit) -> Kept: ...
    def restore(self, commit: str) -> tuple[str, ...]: ...
    def publish(self, commit: str) -> None: ...
    def push(self) -> str: ...
    def copy(self, name: str, commit: Commit, shown: Mapping[str, Commit] = ...) -> Path: ...
    def show(self, shown: Mapping[str, Commit]) -> None: ...
    def stands(
        self, finding: Finding, commit: Commit, shown: Mapping[str, Commit], prompt: str
    ) -> Literal["", "nowhere", "unchanged"]: ...
    def discard(self, name: str) -> tuple[str, ...]: ...


class Agent(Protocol):
    """A coding agent: runs one turn in a directory and says how it ended."""

    def turn(
        self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify
    ) -> TurnEnded: ...


class Setup(Protocol):
    """Runs the project's setup command in a tree; says why it failed, or nothing.

    What it made in the task's own tree gates get as a copy, else it says why they need a run of their own. A lane is set up only
    where its environment is missing or out of date; one that `shares` is not going to write into it.
    """

    def __call__(self, tree: Path, folder: Path, stop: Stop) -> tuple[str, str]: ...
    def for_lane(self, tree: Path, folder: Path, stop: Stop, *, shares: bool) -> str: ...


class Measurer(Protocol):
    def measure(
        self, request: Measure, *, settings: Settings, workspace: Workspace, folder: Path, stop: Stop, notify: Notify
    ) -> Measurement: ...


class People(Protocol):
    """Whoever can answer: None when nobody is there to ask. Lanes ask side by side, each from a thread of its own."""

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None: ...


class PullRequests(Protocol):
    """Opens pull requests in the user's name; one that is open already is found, so a call may be repeated after a crash."""

    def open(self, request: OpenPullRequest) -> PullRequested: ...
