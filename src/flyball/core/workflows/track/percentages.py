"""How far a track is."""

from __future__ import annotations

from collections.abc import Collection

from flyball.core.loop.progress import StageNumbers

WEIGHTS = {"PLAN": 10, "EVALUATE_PLAN": 5, "EXECUTE": 55, "EVALUATE_EXECUTION": 20, "BUSINESS_SYNC": 10}


def stage_percent(_stage: str, numbers: StageNumbers) -> int:
    """How far a stage is, 0 to 100, by the tests that pass."""
    return 100 * min(numbers.tests_passing, numbers.tests_total) // max(numbers.tests_total, 1)


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind; what a failed evaluation leads back to is ahead again."""
    return sum(weight for name, weight in WEIGHTS.items() if name in completed and name != stage)
