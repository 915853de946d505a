"""The session in its four shapes, and what an evaluation counts and changes in it."""

from typing import Any

import pytest

from flyball.core.claims.reviews import Validation
from flyball.core.workflows.backlog.session_state import count_failures, read_state, reset, with_evaluation
from flyball.core.workflows.backlog.values import Evaluation

SAID = Evaluation("CONTINUE", "3 actionable issues remain.", "actionable", next_issue="BUG-002@a1b2c3")
FAILED = (Validation("code review", "fail"),)
AT = "2026-03-01T12:00:00Z"


@pytest.mark.req("E6")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(
            {
                "step": 4,
                "last_issue": "BUG-001@a1b2c3",
                "cycles": 2,
                "completed_issues": ["BUG-000@a1b2c3"],
                "start_time": "2026-01-05T10:00:00Z",
                "last_update": "2026-01-05T11:00:00Z",
            },
            (2, ("BUG-000@a1b2c3",), 1, (), "BUG-001@a1b2c3", "2026-01-05T10:00:00Z"),
            id="code",
        ),
        pytest.param(
            {
                "phase": "validation",
                "subagent": "code-reviewer",
                "current_issue": "BUG-001@a1b2c3",
                "cycles": 3,
                "issues_completed_session": ["A-001@a1b2c3", "A-002@a1b2c3"],
                "issues_created_session": ["A-003@a1b2c3"],
                "start_time": "2026-01-05T10:00:00Z",
                "prepared_context_hash": "x",
            },
            (3, ("A-001@a1b2c3", "A-002@a1b2c3"), 2, ("A-003@a1b2c3",), "BUG-001@a1b2c3", "2026-01-05T10:00:00Z"),
            id="orchestrator",
        ),
        pytest.param(
            {
                "session_id": "sess-2026-01-05-x",
                "started_at": "2026-01-05T10:00:00Z",
                "iteration": 7,
                "phase": "evaluation",
                "current_issue": {"id": "BUG-001@a1b2c3"},
                "issues_completed": 5,
                "issues_blocked": 1,
                "issues_created": 2,
            },
            (7, (), 5, (), "BUG-001@a1b2c3", "2026-01-05T10:00:00Z"),
            id="do-work",
        ),
        pytest.param(
            {
                "cycles": 2,
                "issues_completed": ["BUG-001@a1b2c3", "BUG-002@b2c3d4"],
                "issues_created": ["BUG-004@c3d4e5"],
                "start_time": "2026-01-05T10:00:00Z",
                "consecutive_failures": 0,
                "last_decision": "CONTINUE",
                "next_issue_hint": "SEC-001@f3a2b1",
            },
            (2, ("BUG-001@a1b2c3", "BUG-002@b2c3d4"), 2, ("BUG-004@c3d4e5",), "", "2026-01-05T10:00:00Z"),
            id="evaluator",
        ),
    ],
)
def test_each_of_the_four_shapes_is_read(raw, expected):
    read = read_state(raw)
    session = read.session
    found = (
        session.cycles,
        session.completed,
        session.completed_count,
        session.created,
        session.focus,
        session.started_at,
    )
    assert found == expected
    assert read.problems == ()


@pytest.mark.req("E6")
@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"cycles": "many"}, "cycles"),
        ({"cycles": -1}, "cycles"),
        ({"issues_completed": "BUG-001"}, "issues_completed"),
        ({"validation_failures": [1]}, "validation_failures"),
        ({"max_cycles": True}, "max_cycles"),
    ],
)
def test_a_value_of_the_wrong_kind_counts_as_absent_and_is_named(raw, named):
    read = read_state(raw)
    assert read.session.cycles == 0
    assert [problem for problem in read.problems if named in problem]


@pytest.mark.req("E22")
def test_the_decision_is_put_in_and_every_other_key_is_kept_in_its_place():
    raw = {"zeta": [1, {"x": None}], "cycles": 2, "step": 4, "last_decision": "DONE", "alpha": "é"}
    read = read_state(raw)
    new = with_evaluation(raw, read, read.session, SAID, at=AT)
    assert list(new)[:5] == list(raw)
    assert {key: new[key] for key in ("zeta", "step", "alpha", "cycles")} == {
        "zeta": [1, {"x": None}],
        "step": 4,
        "alpha": "é",
        "cycles": 2,
    }
    assert new["last_decision"] == "CONTINUE"
    assert new["last_decision_reason"] == "3 actionable issues remain."
    assert new["last_decision_time"] == AT
    assert new["next_issue_hint"] == "BUG-002@a1b2c3"


def evaluated(raw: dict[str, Any], validations: tuple[Validation, ...] = ()) -> dict[str, Any]:
    read = read_state(raw)
    return with_evaluation(raw, read, count_failures(read, read.session, validations), SAID, at=AT)


@pytest.mark.req("E13", "E22")
def test_asking_again_in_the_same_cycle_changes_nothing():
    once = evaluated({"cycles": 2, "current_issue": "BUG-001@a1b2c3"}, FAILED)
    assert once["cycles"] == 2
    assert once["validation_failures"] == {"BUG-001@a1b2c3": 1}
    assert evaluated(once, FAILED) == once


@pytest.mark.req("E22")
def test_failed_validations_of_the_issue_in_hand_are_counted_by_cycle():
    raw: dict[str, Any] = {"cycles": 0, "current_issue": "BUG-001@a1b2c3"}
    for cycle in range(1, 4):
        raw = evaluated({**raw, "cycles": cycle}, FAILED)
        assert raw["validation_failures"] == {"BUG-001@a1b2c3": cycle}
    other = evaluated({**raw, "cycles": 4, "current_issue": "BUG-002@a1b2c3"}, FAILED)
    assert other["validation_failures"] == {"BUG-001@a1b2c3": 3, "BUG-002@a1b2c3": 1}
    passed = evaluated({**other, "cycles": 5}, (Validation("code review", "warn"),))
    assert passed["validation_failures"] == other["validation_failures"]


def test_failures_that_somebody_else_counts_are_left_alone():
    theirs = {"cycles": 2, "current_issue": "BUG-001@a1b2c3", "validation_failures": {"BUG-001@a1b2c3": 2}}
    assert evaluated(theirs, FAILED)["validation_failures"] == {"BUG-001@a1b2c3": 2}
    ours = evaluated({"cycles": 2, "current_issue": "BUG-001@a1b2c3"}, FAILED)
    taken_over = {**ours, "cycles": 3, "validation_failures": {"BUG-001@a1b2c3": 5}}
    assert evaluated(taken_over, FAILED)["validation_failures"] == {"BUG-001@a1b2c3": 5}


@pytest.mark.req("E22")
def test_cycles_without_a_completed_issue_are_counted_on_from_what_was_seen():
    raw = evaluated({"cycles": 1, "issues_completed": ["A-001@a1b2c3"]})
    assert raw["cycles_without_completion"] == 0
    raw = evaluated({**raw, "cycles": 3})
    assert raw["cycles_without_completion"] == 2
    raw = evaluated({**raw, "cycles": 4})
    assert raw["cycles_without_completion"] == 3
    done = evaluated({**raw, "cycles": 5, "issues_completed": ["A-001@a1b2c3", "A-002@a1b2c3"]})
    assert done["cycles_without_completion"] == 0
    assert evaluated({**raw, "cycles": 1, "issues_completed": []})["cycles_without_completion"] == 1


def test_a_count_of_idle_cycles_that_somebody_else_keeps_is_believed():
    assert read_state({"cycles": 9, "cycles_without_completion": 4}).session.cycles_without_completion == 4
    ours = evaluated({"cycles": 2})
    assert read_state({**ours, "cycles": 9, "cycles_without_completion": 1}).session.cycles_without_completion == 1


@pytest.mark.req("E15")
def test_a_reset_clears_what_blocks_and_keeps_what_does_not():
    raw = {"cycles": 5, "validation_failures": {"A": 3, "B": 2}}
    session = reset(read_state(raw).session)
    assert session.failures == {"B": 2}
    assert session.cycles_without_completion == 0
