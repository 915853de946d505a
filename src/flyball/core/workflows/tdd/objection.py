"""Why a project's tests are not enough for `tdd`: RED is verified by tests that are seen to fail."""

from __future__ import annotations

from flyball.core.loop.junit_hint import junit_hint
from flyball.core.model.measurement import Measurement

_INSTEAD = "or use the workflow that needs no failing test first: flyball run --workflow quick"


def objection(baseline: Measurement) -> str:
    """What a person is told where a new test could not be seen to fail; empty where it can."""
    if baseline.unseen:
        return (
            f"{baseline.unseen}; so tdd cannot verify RED here: let a gate run every test file it finds in its folder, "
            f"or write a JUnit report to {{junit}}, {_INSTEAD}"
        )
    gate = baseline.uncounted_failure
    if gate is None:
        return ""
    return f"{baseline.uncounted_reason}; so tdd cannot verify RED here: {junit_hint(gate.command)}; {_INSTEAD}"
