"""The monitor's words: health, remedy, confidence, trend, the thresholds behind them, and the ladder of remedies.

`LADDER` says what is tried about each health, in which order and how often, in a lane, in a batch and in a loop that is not
flyball's. A verdict whose health and remedy contradict each other cannot be made (M22).
"""

from collections.abc import Container, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec


class Blocker(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Something in the way; type is `dependency`, `external`, `fundamental` or `missing-review`."""

    id: str
    type: str
    description: str = ""


class Health(StrEnum):
    """Where the loop is heading."""

    PROGRESSING = "PROGRESSING"
    STALLED = "STALLED"
    BLOCKED = "BLOCKED"
    REGRESSING = "REGRESSING"
    FLIP_FLOPPING = "FLIP-FLOPPING"


class Remedy(StrEnum):
    CONTINUE = "continue"
    FRESH_CONTEXT = "fresh-context"
    ROLLBACK = "rollback"
    ASK = "ask"
    STOP = "stop"


class Rung(NamedTuple):
    """One step of the ladder: its name in journals, its remedy, and how often it may be taken until work is accepted.

    One without a name is only for loops that flyball does not drive: its own rungs always begin a fresh context.
    """

    name: str
    remedy: Remedy
    times: int = 1


LADDER: dict[Health, tuple[Rung, ...]] = {
    Health.PROGRESSING: (Rung("", Remedy.CONTINUE),),
    Health.STALLED: (
        Rung("fresh-context", Remedy.FRESH_CONTEXT),
        Rung("other-agent", Remedy.FRESH_CONTEXT),
        Rung("smaller-scope", Remedy.FRESH_CONTEXT),
        Rung("re-plan", Remedy.FRESH_CONTEXT),
        Rung("", Remedy.STOP),
    ),
    Health.REGRESSING: (
        Rung("rollback", Remedy.ROLLBACK, 2),
        Rung("", Remedy.FRESH_CONTEXT),
        Rung("", Remedy.STOP),
    ),
    Health.FLIP_FLOPPING: (
        Rung("rollback-two", Remedy.ROLLBACK),
        Rung("", Remedy.FRESH_CONTEXT),
        Rung("", Remedy.STOP),
    ),
    Health.BLOCKED: (Rung("", Remedy.ASK), Rung("", Remedy.STOP)),
}
REMEDIES = {health: tuple(dict.fromkeys(rung.remedy for rung in rungs)) for health, rungs in LADDER.items()}
"""The remedies a health may carry; the first is its own."""


def next_rung(health: Health, used: Sequence[str], possible: Container[str]) -> Rung | None:
    """The first rung that is possible here and was not used up; None where none is left."""
    named = (rung for rung in LADDER[health] if rung.name and rung.name in possible)
    return next((rung for rung in named if used.count(rung.name) < rung.times), None)


class Confidence(StrEnum):
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class Trend(StrEnum):
    IMPROVING = "improving"
    STABLE = "stable"
    DECLINING = "declining"


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a signal counts; the defaults of the in-context ones are confirmed on recorded loops.

    `unchanged_output` is for how many turns in a row a known failure is no signal, while the agent is at work.
    """

    reversals: int = 2
    falls: int = 2
    failing_batches: int = 3
    same_error: int = 3
    unchanged: int = 3
    same_failure_in_context: int = 2
    same_failing_set_in_context: int = 3
    same_edit_in_context: int = 2
    unchanged_in_context: int = 2
    endings_before_stop: int = 2
    same_failure: int = 5
    contexts: int = 5
    patience: int = 20
    broken_trees: int = 2
    unchanged_output: int = 10


class Verdict(msgspec.Struct, frozen=True):
    """The monitor's word on one iteration; journals hold the remedy under its first name."""

    health: Health
    recommendation: str
    remedy: Remedy = msgspec.field(name="cure")
    confidence: Confidence
    trend: Trend
    evidence: str
    blockers: tuple[Blocker, ...] = ()

    def __post_init__(self) -> None:
        if self.remedy not in REMEDIES[self.health]:
            raise ValueError(f"{self.health} cannot carry the remedy {self.remedy}")
