"""Why a project's tests are not enough for `tdd`: RED is verified by tests that are seen to fail."""

from __future__ import annotations

from flyball.core.loop.junit_hint import junit_hint
from flyball.core.model.measurement import Measurement

_CANNOT = "tdd cannot verify RED here, flyball run --workflow quick needs no failing test first"
"""What works here as it is comes first: screens cut long reasons at their end."""


def objection(baseline: Measurement) -> str:
    """What a person is told where a new test could not be seen to fail; empty where it can."""
    if baseline.unseen:
        return (
            f"{_CANNOT}: {baseline.unseen}; let a gate run every test file it finds in its folder, "
            f"or write a JUnit report to {{junit}}"
        )
    gate = baseline.uncounted_failure
    if gate is None:
        return ""
    return f"{_CANNOT}: {baseline.uncounted_reason}; {junit_hint(gate.command)}"
