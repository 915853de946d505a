"""What is known of items that are worked on side by side: the batch that is being integrated, and what went back."""

import msgspec

from flyball.core.health.history import History
from flyball.core.model.batch_events import BatchReviewed, SubtaskFailed, SubtaskIntegrated, Why
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Author, Commit


class Rework(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a subtask went back, the work it goes on from (`commit` since `base`), how often it could not be integrated (`rounds`), and the
    remedies tried with it. `consented` is what its lane was allowed to change, and `authors` wrote it, as there.
    """

    why: Why
    reasons: tuple[str, ...] = ()
    detail: str = ""
    commit: Commit = Commit("")
    base: Commit = Commit("")
    rounds: int = 0
    rungs: tuple[str, ...] = ()
    consented: dict[str, Commit] = {}
    authors: tuple[Author, ...] = ()

    @property
    def is_approved(self) -> bool:
        """Whether nobody found fault with it: it went down with its batch, and its commit is merged again as it is."""
        return self.why == "undone" and bool(self.commit)


class Returning(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subtask of the batch that will go back, and why."""

    why: Why
    reasons: tuple[str, ...] = ()
    detail: str = ""


class Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The batch that is being integrated: what became of each subtask's work, and what the review says.

    `items` are those whose work is wanted: all that were `attempted`, then the approved ones. `round` is 2 while these are integrated anew,
    without the rejected ones. `proofs` are the measurements of the candidate tip with each piece on it.
    """

    number: int
    items: tuple[str, ...] = ()
    attempted: tuple[str, ...] = ()
    results: dict[str, SubtaskIntegrated] = msgspec.field(default_factory=dict)
    proofs: dict[str, Measurement] = msgspec.field(default_factory=dict)
    returning: dict[str, Returning] = msgspec.field(default_factory=dict)
    reviewed: BatchReviewed | None = None
    round: int = 1

    @property
    def taken(self) -> tuple[SubtaskIntegrated, ...]:
        """The integrated work in its order, each on top of the one before."""
        found = (self.results.get(item) for item in self.items)
        return tuple(each for each in found if each is not None and each.result in {"integrated", "empty"})


class AcceptedBatch(msgspec.Struct, frozen=True, omit_defaults=True):
    label: str
    items: tuple[str, ...]
    commit: Commit
    tree: str
    proof: Measurement | None = None


class Batches(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of all batches.

    `history` is the monitor's, `failures` are those of the batch under way.
    `rung` and `evidence` are the remedy for the batch that was judged last, and why; `spent` is whether none was left. Subtasks that are
    `parked` wait for a person.
    `recoveries` are the rollbacks since a batch was last accepted; `restored` is whether one was made since the last verdict.
    """

    number: int = 0
    current: Batch | None = None
    failures: dict[str, SubtaskFailed] = msgspec.field(default_factory=dict)
    rework: dict[str, Rework] = msgspec.field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unread: int = 0
    unclear: str = ""
    history: History = History()
    accepted: tuple[AcceptedBatch, ...] = ()
    recoveries: tuple[str, ...] = ()
    restored: bool = False
    rung: str = ""
    evidence: str = ""
    spent: bool = False
    parked: tuple[str, ...] = ()

    @property
    def proven(self) -> Measurement | None:
        """What was measured of the newest integrated tree: the candidate tip, which work that was rejected is not on, else the branch."""
        pieces = self.current.taken if self.current else ()
        found = [self.current.proofs[each.item] for each in pieces if self.current and each.item in self.current.proofs]
        return found[-1] if found else self.accepted[-1].proof if self.accepted else None
