"""What the `plan` workflow itself records: plans and their reviews, batches, what became of each subtask."""

from __future__ import annotations

from typing import Literal

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Rejection
from flyball.core.model.effects import Question
from flyball.core.model.events import Fact
from flyball.core.model.task import Commit

Why = Literal["review", "conflict", "gates", "failed"]
"""Why a subtask goes back: the review, a conflict, a gate that is red on the integrated tree, or its own turns came to nothing."""


class PlanDrafted(Fact, frozen=True, omit_defaults=True, tag="plan.drafted"):
    """There is a plan, or one with `problems` that its author must mend."""

    by: Literal["planner", "document", "person"]
    turn: int = 0
    problems: tuple[str, ...] = ()


class PlanQuestioned(Fact, frozen=True, omit_defaults=True, tag="plan.questioned"):
    """The planner needs answers before it can plan."""

    turn: int
    questions: tuple[Question, ...]


class PlanReviewed(Fact, frozen=True, omit_defaults=True, tag="plan.reviewed"):
    """Somebody looked at the plan: it is worked to, or revised."""

    approved: bool
    by: Literal["reviewer", "person", "nobody"]
    turn: int = 0
    findings: tuple[Finding, ...] = ()


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
    reopened: tuple[str, ...] = ()
    by: Literal["reviewer", "person", "nobody"] = "reviewer"


class ReviewUnread(Fact, frozen=True, omit_defaults=True, tag="review.unread"):
    """A reviewer's turn ended without a word on what it reviewed: it is made again."""

    turn: int
    role: str


class SubtaskFailed(Fact, frozen=True, omit_defaults=True, tag="subtask.failed"):
    """The turns of a subtask came to nothing; its lane is given up."""

    item: str
    detail: str


class SubtaskReturned(Fact, frozen=True, omit_defaults=True, tag="subtask.returned"):
    """A subtask goes back to work, with the reasons; from `start`, where its own work stands on the tip."""

    item: str
    why: Why
    reasons: tuple[str, ...] = ()
    detail: str = ""
    start: Commit = Commit("")


class BatchSettled(Fact, frozen=True, omit_defaults=True, tag="batch.settled"):
    """A batch is over: `accepted` are on the branch, under the checkpoint `label`."""

    number: int
    label: str = ""
    accepted: tuple[str, ...] = ()
    commit: Commit = Commit("")


class FinalReviewed(Fact, frozen=True, omit_defaults=True, tag="plan.final.reviewed"):
    """The review of the whole goal: approved, or `reopened` and new subtasks are to be worked on."""

    turn: int
    approved: bool
    reopened: tuple[Rejection, ...] = ()
    findings: tuple[Finding, ...] = ()
    by: Literal["reviewer", "person"] = "reviewer"


FACTS: tuple[type[Fact], ...] = (
    PlanDrafted,
    PlanQuestioned,
    PlanReviewed,
    BatchBegun,
    BatchEnded,
    SubtaskIntegrated,
    BatchReviewed,
    ReviewUnread,
    SubtaskFailed,
    SubtaskReturned,
    BatchSettled,
    FinalReviewed,
)
