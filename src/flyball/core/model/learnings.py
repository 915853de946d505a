"""What is known of a task's learnings: each with its state, which follows from facts and is stored nowhere."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from flyball.core.model.effects import Effect
from flyball.core.model.events import LearningRecorded, LearningRevised
from flyball.core.model.task import EffectId

Standing = Literal["proposed", "kept", "superseded", "stale", "undone", "dropped"]


class KnownLearning(msgspec.Struct, frozen=True):
    """A learning, when it was recorded, and what became of it; `checkpoint` counts the accepted ones when it was kept.

    A `person` said that it is to be kept or dropped: nothing that happens to the work changes that.
    """

    fact: LearningRecorded
    at: datetime
    standing: Standing = "proposed"
    because: str = ""
    checkpoint: int = 0
    person: bool = False


class Made(msgspec.Struct, frozen=True):
    """Where a commit comes from: the lane, the last turn before it, and how many checkpoints had been accepted with it."""

    lane: str
    turn: int
    accepted: int


class Learnings(msgspec.Struct):
    """The learnings of one task by number, with what their states are derived from; at most `most` of each are remembered, 0 is all.

    Those in `live` follow the work they belong to; the others stay what they are. `round_turn` is the last turn before the present round, `trees` are those accepted on the task's branch, the newest last.
    """

    known: dict[int, KnownLearning] = {}
    live: dict[int, None] = {}
    revisions: tuple[tuple[datetime, LearningRevised], ...] = ()
    made: dict[str, Made] = {}
    under_way: dict[EffectId, Effect] = {}
    turns: dict[str, int] = {}
    trees: tuple[str, ...] = ()
    accepted: int = 0
    round_turn: int = 0
    most: int = 0

    def copy(self) -> Learnings:
        """Learnings that take further facts, which these do not see."""
        return msgspec.structs.replace(
            self,
            known=self.known.copy(),
            live=self.live.copy(),
            made=self.made.copy(),
            under_way=self.under_way.copy(),
            turns=self.turns.copy(),
        )
