"""The circuit breaker: it counts what remedies did not heal.

    CLOSED    --early warning: min(2, threshold - 1) iterations without progress--> HALF_OPEN
    HALF_OPEN --a threshold of `table` reached, and no remedy left--> OPEN
    any       --progress, a remedy, a person's reset, a new stage--> CLOSED
    OPEN      --cool-down, where one is set--> HALF_OPEN with its counters kept

HALF_OPEN is a warning before the end, not a trial after it: the next prompt says what did not move.
"""

from typing import Literal

import msgspec

from flyball.core.text.quantities import plural


class Strikes(msgspec.Struct, frozen=True, omit_defaults=True):
    """When the breaker opens in a stage."""

    no_progress: int = 3
    same_error: int = 5


class Breaker(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the breaker stands in the present stage."""

    state: Literal["CLOSED", "HALF_OPEN", "OPEN"] = "CLOSED"
    no_progress: int = 0
    same_error: int = 0
    error: str = ""
    reason: str = ""


CLOSED = Breaker()


def after(breaker: Breaker, strikes: Strikes, *, progress: bool, gate_held: bool, error: str) -> Breaker:
    """The breaker's counts after one more iteration, and its warning; `error` is the failure's fine signature or empty."""
    same_error = 0 if not error else breaker.same_error + 1 if error == breaker.error else 1
    if progress:
        return Breaker(error=error)
    if gate_held:
        return msgspec.structs.replace(breaker, same_error=same_error, error=error)
    no_progress = breaker.no_progress + 1
    if no_progress < min(2, strikes.no_progress - 1):
        return Breaker("CLOSED", no_progress, same_error, error)
    return Breaker("HALF_OPEN", no_progress, same_error, error, f"no progress in {plural(no_progress, 'iteration')}")


def cool_down(breaker: Breaker) -> Breaker:
    """The breaker when its cool-down has passed: one more try, counters kept."""
    return msgspec.structs.replace(breaker, state="HALF_OPEN", reason=f"cooled down after: {breaker.reason}")
