"""What the `plan` workflow remembers of a task."""

from __future__ import annotations

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.health.observation import History
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Record, State
from flyball.core.model.task import Commit
from flyball.core.workflows.plan.facts import BatchReviewed, SubtaskIntegrated, Why


class Rework(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a subtask went back, from where it starts, and how often it could not be integrated (`rounds`)."""

    why: Why
    reasons: tuple[str, ...] = ()
    detail: str = ""
    start: Commit = Commit("")
    rounds: int = 0


class Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The batch that is being integrated: what became of each subtask's work, and what the review says.

    `items` are those whose work is wanted: all that were `attempted`, then the approved ones. `round` is 2 while these are integrated anew,
    without the rejected ones.
    """

    number: int
    items: tuple[str, ...] = ()
    attempted: tuple[str, ...] = ()
    results: dict[str, SubtaskIntegrated] = msgspec.field(default_factory=dict)
    returned: dict[str, tuple[Why, tuple[str, ...], str]] = msgspec.field(default_factory=dict)
    reviewed: BatchReviewed | None = None
    round: int = 1

    @property
    def taken(self) -> tuple[SubtaskIntegrated, ...]:
        """The integrated work in its order, each on top of the one before."""
        found = (self.results.get(item) for item in self.items)
        return tuple(each for each in found if each is not None and each.result in {"integrated", "empty"})


class PlanRecord(Record, frozen=True, omit_defaults=True):
    """What is known of a plan that is being worked to.

    `batches` is the monitor's history of whole batches, `proven` the measurement of the newest integrated tree, `failures` are those of
    the batch under way.
    """

    drafted: bool = False
    approved: bool = False
    agreed: bool = False
    drafts: int = 0
    rejections: int = 0
    clarified: int = 0
    unread: int = 0
    problems: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    replan: tuple[str, ...] = ()
    number: int = 0
    batch: Batch | None = None
    failures: dict[str, str] = msgspec.field(default_factory=dict)
    rework: dict[str, Rework] = msgspec.field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    scaffold_rejections: int = 0
    final_rounds: int = 0
    batches: History = History()
    proven: Measurement | None = None
    accepted: tuple[tuple[str, tuple[str, ...]], ...] = ()


EMPTY = PlanRecord()


def record_of(state: State) -> PlanRecord:
    """The record of a task of this workflow; an empty one of any other."""
    return state.record if isinstance(state.record, PlanRecord) else EMPTY
