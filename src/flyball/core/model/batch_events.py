"""The facts of items that are worked on side by side: batches, what became of each piece of work, what goes back."""

from __future__ import annotations

from typing import Literal

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Rejection
from flyball.core.model.events import Fact
from flyball.core.model.task import Commit

Why = Literal["review", "conflict", "gates", "failed", "undone"]
"""Why a subtask goes back: the review, a conflict, a gate that is red on the integrated tree, turns that came to nothing, a rollback."""


class BatchBegun(Fact, frozen=True, omit_defaults=True, tag="batch.begun"):
    """These subtasks are worked on side by side."""

    number: int
    items: tuple[str, ...]


class BatchEnded(Fact, frozen=True, omit_defaults=True, tag="batch.ended"):
    """Every lane has come to an end or waits for a person; the work of `items` is to be integrated, in this order."""

    number: int
    items: tuple[str, ...]


class SubtaskIntegrated(Fact, frozen=True, omit_defaults=True, tag="subtask.integrated"):
    """A subtask's work was brought onto the candidate tip and gated there, or could not be.

    `measured` names the measurement: an effect, or without one that of the lane, whose tree is the very same. `outside` are files it
    changed beside those it had declared.
    """

    item: str
    result: Literal["integrated", "empty", "conflicted", "red"]
    commit: Commit = Commit("")
    tree: str = ""
    detail: str = ""
    measured: str = ""
    outside: tuple[str, ...] = ()


class BatchReviewed(Fact, frozen=True, omit_defaults=True, tag="batch.reviewed"):
    """What the review says of each subtask of the candidate tip; `reopened` were completed before and are not any more."""

    turn: int
    approved: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    findings: tuple[Finding, ...] = ()
    reopened: tuple[Rejection, ...] = ()
    by: Literal["review", "person", "nobody"] = "review"


class ReviewUnread(Fact, frozen=True, omit_defaults=True, tag="review.unread"):
    """A reviewer's turn ended without a word on what it reviewed: it is made again."""

    turn: int
    role: str


class SubtaskFailed(Fact, frozen=True, omit_defaults=True, tag="subtask.failed"):
    """The turns of a subtask came to nothing, and its lane is given up; `spent` when every remedy inside the lane was tried."""

    item: str
    detail: str
    spent: bool = False


class SubtaskDeferred(Fact, frozen=True, omit_defaults=True, tag="subtask.deferred"):
    """A subtask turned out to need others first: it waits for them."""

    item: str
    until: tuple[str, ...]
    reason: str


class SubtaskReturned(Fact, frozen=True, omit_defaults=True, tag="subtask.returned"):
    """A subtask goes back to work, with the reasons.

    It goes on from its own work, `commit` since `base`, where that is named. `rung` is the remedy that is tried with it; it is `parked` when
    none is left: then it waits for a person while the others go on.
    """

    item: str
    why: Why
    reasons: tuple[str, ...] = ()
    detail: str = ""
    commit: Commit = Commit("")
    base: Commit = Commit("")
    rung: str = ""
    parked: bool = False


class BatchSettled(Fact, frozen=True, omit_defaults=True, tag="batch.settled"):
    """A batch is over: `accepted` are on the branch, under the checkpoint `label`."""

    number: int
    label: str = ""
    accepted: tuple[str, ...] = ()
    commit: Commit = Commit("")


class BatchesUndone(Fact, frozen=True, omit_defaults=True, tag="batches.undone"):
    """The checkpoints `labels` no longer stand, and their subtasks are to be done again; the branch is as `to` left it."""

    labels: tuple[str, ...]
    items: tuple[str, ...]
    to: str
    reason: str
