"""The facts of the `backlog` workflow."""

from typing import Literal

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.claims.reviews import Validation
from flyball.core.claims.values import ProposedIssue
from flyball.core.model.events import Fact
from flyball.core.model.task import Item
from flyball.core.workflows.backlog.values import Decision, Issue, Trigger


class ItemSelected(Fact, frozen=True, omit_defaults=True, tag="item.selected"):
    """A cycle begins: this item is worked on next; `fresh` from what was accepted last."""

    item: Item
    cycle: int
    fresh: bool = True


class Reviewed(Fact, frozen=True, omit_defaults=True, tag="item.reviewed"):
    """A validator's turn was read: its verdict on the item, what it found, and the issues it wants or says it created."""

    turn: int
    role: str
    validation: Validation
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    issues: tuple[ProposedIssue, ...] = ()
    notes: tuple[str, ...] = ()


class NewIssue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An issue that a review asked for, as it is written into a file; `source` is the review."""

    issue: Issue
    source: str


class ItemSettled(Fact, frozen=True, omit_defaults=True, tag="item.settled"):
    """What became of the item of this cycle, and what is to be written because of it; a person may have withdrawn it meanwhile."""

    id: str
    status: Literal["completed", "failed", "blocked", "withdrawn"]
    failures: int = 0
    created: tuple[NewIssue, ...] = ()
    notes: tuple[str, ...] = ()


class ItemReopened(Fact, frozen=True, omit_defaults=True, tag="item.reopened"):
    """A completed item was rolled back and is to be done again."""

    id: str


class Evaluated(Fact, frozen=True, omit_defaults=True, tag="backlog.evaluated"):
    decision: Decision
    reason: str
    trigger: Trigger
    number: int
    next_issue: str = ""
    blocked_on: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()


class BlockCleared(Fact, frozen=True, omit_defaults=True, tag="block.cleared"):
    """A person's word takes away what blocked a backlog: the count, the cycles, the findings, or an issue's need of them."""

    trigger: Trigger
    items: tuple[str, ...] = ()


FACTS = (ItemSelected, Reviewed, ItemSettled, ItemReopened, Evaluated, BlockCleared)
