"""A track in words: what a person reads while it runs."""

import pytest

from flyball.core.claims.findings import Finding
from flyball.core.model.events import Fact
from flyball.core.workflows.track.facts import (
    BusinessSynced,
    TaskTicked,
    TrackFixed,
    TrackPlanEvaluated,
    TrackPlanned,
)
from flyball.core.workflows.track.wording import LINES


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (TrackPlanned("planner", 2), "plan.md, version 2, by the planner"),
        (
            TrackPlanned("planner", 2, problems=("task 1.2 has no files", "no criteria")),
            "plan.md has 2 problems: task 1.2 has no files and 1 more",
        ),
        (TrackPlanEvaluated(True, "code"), "plan.md approved by code"),
        (
            TrackPlanEvaluated(False, "evaluator", findings=(Finding("major", "no way back"),)),
            "plan.md sent back by the evaluator: no way back",
        ),
        (TrackPlanEvaluated(False, "code", checks={"files": True, "order": False}), "plan.md sent back by code: order"),
        (TaskTicked("1.1", verified=True), "a person ticked 1.1"),
        (TaskTicked("1.1", verified=False), "a person ticked 1.1; the gates do not hold for it"),
        (TrackFixed(1, 7, "two rules mended"), "fix cycle 1: two rules mended"),
        (BusinessSynced(9, ("PRICING.md",), "prices are as built"), "business documents: prices are as built"),
    ],
)
def test_each_fact_of_a_track_is_one_line(fact: Fact, line: str) -> None:
    assert LINES[type(fact)](fact) == line
