"""How far a quick task is."""

from __future__ import annotations

from collections.abc import Collection

from flyball.core.loop.progress import StageNumbers

WEIGHTS = {"IMPLEMENT": 70, "REVIEW": 30}


def stage_percent(stage: str, numbers: StageNumbers) -> int:
    """How far a stage is, 0 to 100: the tests that pass, and at the review what the reviewer says."""
    if stage == "IMPLEMENT":
        return 100 * min(numbers.tests_passing, numbers.tests_total) // max(numbers.tests_total, 1)
    return 100 if numbers.approved else 0


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind; what a rejection leads back to is ahead again."""
    return sum(weight for name, weight in WEIGHTS.items() if name in completed and name != stage)
