"""The numbers that the percentages of a status block are made of."""

from __future__ import annotations

import msgspec


class StageNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What the percentage of a stage is made of; each stage looks at its own."""

    criteria: int = 0
    criteria_covered: int = 0
    tests_total: int = 0
    tests_passing: int = 0
    green_runs: int = 0
    iteration: int = 0
    documents: int = 0
    checks_total: int = 0
    checks_passing: int = 0
    queries: int = 0
    approved: bool = False

    @property
    def tests_percent(self) -> int:
        """How many of the tests pass, 0 to 100."""
        return 100 * min(self.tests_passing, self.tests_total) // max(self.tests_total, 1)
