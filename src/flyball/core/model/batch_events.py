"""The facts of what happens side by side: lanes, seats of a panel, batches, what became of each piece of work, what goes back."""

from typing import Literal

from flyball.core.advice.batch import BatchResult
from flyball.core.advice.loop_page import PastRow
from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Rejection
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Verdict
from flyball.core.model.events import Fact
from flyball.core.model.task import MAIN, Commit

Why = Literal["review", "conflict", "gates", "failed", "undone"]
"""Why a subtask goes back: the review, a conflict, a gate that is red on the integrated tree, turns that came to nothing, a rollback."""


class LaneOpened(Fact, frozen=True, omit_defaults=True, tag="lane.opened"):
    """A line of work begins, from `base`, for one item.

    `start` is the commit its workspace begins with, where earlier work on the item stands on the base already. What was tried before
    and what it taught go with it (`rungs`, `lesson`).
    """

    lane: str
    stage: str
    base: Commit
    item: str = ""
    start: Commit = Commit("")
    rungs: tuple[str, ...] = ()
    lesson: tuple[str, ...] = ()


class LaneClosed(Fact, frozen=True, omit_defaults=True, tag="lane.closed"):
    """A line of work is over; what came of it is said."""

    lane: str
    reason: str


class SeatAnswered(Fact, frozen=True, omit_defaults=True, tag="seat.answered"):
    """A reviewer of a panel gave an answer that counts."""

    turn: int
    role: str
    lane: str = MAIN


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
    """A review that gave no verdict, or left open what becomes of a subtask (`unclear`): it is made again."""

    turn: int
    role: str
    unclear: str = ""


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


class BatchJudged(Fact, frozen=True, omit_defaults=True, tag="batch.judged"):
    """A loop that others drive told what came of a batch, and the monitor had its say; in no journal of a task."""

    batch: BatchResult
    observation: Observation
    verdict: Verdict


class HistoryImported(Fact, frozen=True, omit_defaults=True, tag="history.imported"):
    """The history so far was read from a `loop-state.md` that flyball did not write; in no journal of a task."""

    path: str
    sha256: str
    rows: tuple[PastRow, ...] = ()
