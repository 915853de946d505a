"""How far a task with a plan is."""

from __future__ import annotations

from collections.abc import Collection

from flyball.core.loop.progress import StageNumbers

WEIGHTS = {"GATHER": 5, "PLAN": 10, "PLAN_REVIEW": 5, "SCAFFOLD": 10, "EXECUTE": 50, "FINAL_REVIEW": 15}


def stage_percent(_stage: str, numbers: StageNumbers) -> int:
    """How far a stage is, 0 to 100: the tests that pass."""
    return 100 * min(numbers.tests_passing, numbers.tests_total) // max(numbers.tests_total, 1)


def overall_percent(stage: str, _iteration: int, completed: Collection[str]) -> int:
    """The weights of the stages left behind for good; batches come and go, so theirs count when the last was accepted."""
    if stage not in {"FINAL_REVIEW", "REPORT"}:
        return sum(WEIGHTS[name] for name in ("GATHER", "PLAN", "PLAN_REVIEW") if name in completed and name != stage)
    return 100 - (WEIGHTS["FINAL_REVIEW"] if stage == "FINAL_REVIEW" else 0)
