"""The monitor's words: health, remedy, confidence, trend, and the thresholds behind them.

`REMEDIES` says which remedies each health may carry. A verdict whose health and remedy contradict each other cannot be made (M22).
"""

from enum import StrEnum

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
    """What to do about it."""

    CONTINUE = "continue"
    FRESH_CONTEXT = "fresh-context"
    ROLLBACK = "rollback"
    ASK = "ask"
    STOP = "stop"


REMEDIES: dict[Health, tuple[Remedy, ...]] = {
    Health.PROGRESSING: (Remedy.CONTINUE,),
    Health.STALLED: (Remedy.FRESH_CONTEXT, Remedy.STOP),
    Health.REGRESSING: (Remedy.ROLLBACK, Remedy.FRESH_CONTEXT, Remedy.STOP),
    Health.FLIP_FLOPPING: (Remedy.ROLLBACK, Remedy.FRESH_CONTEXT, Remedy.STOP),
    Health.BLOCKED: (Remedy.ASK, Remedy.STOP),
}
"""The remedies a health may carry; the first is its own."""


class Confidence(StrEnum):
    """How sure the verdict is."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class Trend(StrEnum):
    """Which way the pass rate moves."""

    IMPROVING = "improving"
    STABLE = "stable"
    DECLINING = "declining"


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a signal counts; the defaults of the in-context ones are confirmed on recorded loops."""

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
    contexts: int = 5
    patience: int = 20
    broken_trees: int = 2


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
