"""One verdict for a track, its metadata and its report."""

import json
from datetime import UTC, datetime

import pytest

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.checkpoints import at_end, at_start, fix_cycles, plan_commit
from flyball.core.evaluation.findings import EvaluatorResult, PassResult, TrackDefect
from flyball.core.evaluation.structural import StructuralCheck
from flyball.core.evaluation.verdict import aggregate
from flyball.core.text.json_edits import with_values
from flyball.projections.files.evaluation_report import evaluation_report

AT = "2026-01-01T00:00:00Z"
GOOD = EvaluatorResult("ui-ux", ("word: screen",), "PASS", (PassResult("copy", "pass"),))
BAD = EvaluatorResult(
    "code-quality",
    ("metadata: type feature",),
    "FAIL",
    (PassResult("dead code", "fail", (TrackDefect("FIX002", "a TODO", "a.py", 3, action="do it"),)),),
)
FINE = StructuralCheck("build passes", "pass")
FAILED = StructuralCheck(
    "scope alignment", "fail", (TrackDefect("unplanned", "x.py changed", "x.py", action="name it"),)
)
SYNC = BusinessSync(True, ("product.md",), ("pricing in a.py",))


@pytest.mark.req("D30", "D32")
@pytest.mark.parametrize(
    ("evaluators", "checks", "sync", "verdict", "step"),
    [
        ([GOOD], [FINE], BusinessSync(), "PASS", "COMPLETE"),
        ([GOOD], [FINE], SYNC, "PASS", "BUSINESS_SYNC"),
        ([GOOD, BAD], [FINE], SYNC, "FAIL", "FIX"),
        ([GOOD], [FINE, FAILED], BusinessSync(), "FAIL", "FIX"),
        ([], [FINE], BusinessSync(), "FAIL", "FIX"),
    ],
)
def test_only_all_of_them_pass_and_the_verdict_leads_on(evaluators, checks, sync, verdict, step):
    evaluation = aggregate("t", evaluators, checks, sync)
    assert (evaluation.verdict, evaluation.next_step) == (verdict, step)


@pytest.mark.req("D20", "D32")
def test_a_fail_carries_the_whole_list_with_file_and_line():
    evaluation = aggregate("t", [GOOD, BAD], [FAILED], BusinessSync())
    assert [(each.evaluator, each.file, each.line) for each in evaluation.fix_actions] == [
        ("structural", "x.py", 0),
        ("code-quality", "a.py", 3),
    ]
    assert evaluation.fix_actions[1].text == "a.py:3: a TODO; do it"


METADATA = {
    "track_id": "t",
    "odd": [1],
    "loop_state": {"fix_cycle_count": 1, "max_fix_cycles": 5, "checkpoints": {"PLAN": {"commit_sha": "abc"}}},
}


def written(values, there=METADATA):
    return json.loads(with_values(json.dumps(there, indent=2), values))


@pytest.mark.req("D31")
def test_the_start_is_put_down_and_an_earlier_verdict_taken_away():
    started = written(at_start(AT))
    assert started["loop_state"]["current_step"] == "EVALUATE_EXECUTION"
    assert started["loop_state"]["step_status"] == "IN_PROGRESS"
    assert started["loop_state"]["step_started_at"] == AT
    checkpoint = {"status": "IN_PROGRESS", "started_at": AT, "agent": "loop-execution-evaluator"}
    assert started["loop_state"]["checkpoints"]["EVALUATE_EXECUTION"] == checkpoint
    failed = written(at_end(aggregate("t", [BAD], [], BusinessSync()), started, AT), started)
    again = written(at_start("later"), failed)["loop_state"]["checkpoints"]["EVALUATE_EXECUTION"]
    assert again == {**checkpoint, "started_at": "later"}


@pytest.mark.req("D31")
def test_a_pass_is_put_down_with_the_seeds_fields_and_other_keys_stay():
    after = written(at_end(aggregate("t", [GOOD], [FINE], SYNC), METADATA, AT))
    state = after["loop_state"]
    assert (after["odd"], state["max_fix_cycles"], state["fix_cycle_count"]) == ([1], 5, 1)
    assert (state["current_step"], state["step_status"]) == ("BUSINESS_SYNC", "NOT_STARTED")
    assert state["checkpoints"]["EVALUATE_EXECUTION"] == {
        "status": "PASSED",
        "completed_at": AT,
        "verdict": "PASS",
        "evaluators_run": [{"evaluator": "eval-ui-ux", "verdict": "PASS", "issues": []}],
        "business_sync_required": True,
    }
    assert state["checkpoints"]["BUSINESS_SYNC"] == {"status": "NOT_STARTED", "required": True}
    plain = written(at_end(aggregate("t", [GOOD], [FINE], BusinessSync()), METADATA, AT))["loop_state"]
    assert plain["current_step"] == "COMPLETE"
    assert "BUSINESS_SYNC" not in plain["checkpoints"]


@pytest.mark.req("D31")
def test_a_fail_counts_one_fix_cycle_and_lists_what_failed():
    state = written(at_end(aggregate("t", [GOOD, BAD], [FAILED], SYNC), METADATA, AT))["loop_state"]
    assert (state["current_step"], state["fix_cycle_count"]) == ("FIX", 2)
    assert state["checkpoints"]["FIX"] == {"status": "NOT_STARTED", "cycle": 2}
    checkpoint = state["checkpoints"]["EVALUATE_EXECUTION"]
    assert checkpoint["evaluators_run"][1]["issues"] == ["a.py:3: a TODO; do it"]
    assert checkpoint["failure_items"] == ["x.py: x.py changed; name it", "a.py:3: a TODO; do it"]


def test_metadata_that_holds_nothing_of_use_is_no_trouble():
    assert fix_cycles({"loop_state": 3}) == fix_cycles({"loop_state": {"fix_cycle_count": "x"}}) == 0
    assert plan_commit(METADATA) == "abc"
    assert plan_commit({"loop_state": {"checkpoints": []}}) == ""


@pytest.mark.req("D3", "D30")
def test_the_report_has_the_seeds_sections_and_the_prefix():
    page = evaluation_report(aggregate("t", [GOOD, BAD], [FINE, FAILED], SYNC), datetime(2026, 1, 2, tzinfo=UTC))
    for line in (
        "## Execution Evaluation Report",
        "**Track**: t",
        "**Evaluator**: loop-execution-evaluator (dispatcher)",
        "**Date**: 2026-01-02",
        "### Evaluators Dispatched",
        "| eval-ui-ux | word: screen | PASS ✅ |",
        "| eval-code-quality | metadata: type feature | FAIL ❌ |",
        "### Structural Checks",
        "- build passes: YES",
        "- scope alignment: NO",
        "- Business doc sync needed: YES (product.md)",
        "| dead code | fail | 1 |",
        "### Final Verdict: FAIL ❌",
        "2. a.py:3: a TODO; do it (code-quality, dead code)",
    ):
        assert line in page.splitlines()
