"""How far a phase is, and how far the whole: the two percentages of the status block."""

import math
from collections.abc import Collection

from flyball.core.loop.progress import StageNumbers

EXPECTED_DOCUMENTS = 6
EXPECTED_QUERIES = 4
WEIGHTS = {"RED": 10, "GREEN": 45, "REFACTOR": 15, "DOCUMENT": 15, "QA": 15}
ITERATIONS_TO_FULL_WEIGHT = 10


def phase_percent(phase: str, numbers: StageNumbers) -> int:
    """How far a phase is, 0 to 100, rounded down; a phase without a rule of its own is at 0 until it is left."""
    n = numbers
    if phase == "RED":
        percent = 100 * _share(n.criteria_covered, n.criteria)
    elif phase == "GREEN":
        percent = 90 * _share(n.tests_passing, n.tests_total) + min(5 * n.green_runs, 10)
    elif phase == "REFACTOR":
        percent = 20 * n.iteration
    elif phase == "DOCUMENT":
        percent = 100 * _share(n.documents, EXPECTED_DOCUMENTS)
    elif phase == "QA":
        percent = 80 * _share(n.checks_passing, n.checks_total) + 10 * _share(n.queries, EXPECTED_QUERIES)
        percent += 10 if n.approved else 0
    else:
        percent = 0
    return _whole_percent(percent)


def overall_percent(phase: str, iteration: int, completed: Collection[str]) -> int:
    """How far the whole is: weights of the phases left behind, and a part of the current one's by its iterations."""
    behind = sum(weight for name, weight in WEIGHTS.items() if name in completed and name != phase)
    begun = WEIGHTS.get(phase, 0) * min(max(iteration, 0) / ITERATIONS_TO_FULL_WEIGHT, 1)
    return _whole_percent(behind + begun)


def _share(part: int, whole: int) -> float:
    return min(max(part, 0) / whole, 1.0) if whole > 0 else 0.0


def _whole_percent(percent: float) -> int:
    # The small term keeps binary fractions such as 90 * (7 / 10) from losing a whole point.
    return max(0, min(100, math.floor(percent + 1e-9)))
