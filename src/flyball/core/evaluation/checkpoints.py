"""What an evaluation writes into a track's metadata: at its start, on PASS and on FAIL."""

from collections.abc import Mapping
from typing import Any

from flyball.core.evaluation.catalogue import long_name
from flyball.core.evaluation.verdict import AGENT, TrackEvaluation, issues_of
from flyball.core.text.json_edits import REMOVED

STEP = "EVALUATE_EXECUTION"
_OF_A_VERDICT = ("completed_at", "verdict", "evaluators_run", "business_sync_required", "failure_items")


def at_start(at: str) -> dict[str, Any]:
    """The values to set when the evaluation begins; what an earlier one found no longer stands."""
    earlier = dict.fromkeys(_OF_A_VERDICT, REMOVED)
    return {
        "loop_state": {
            "current_step": STEP,
            "step_status": "IN_PROGRESS",
            "step_started_at": at,
            "checkpoints": {STEP: {"status": "IN_PROGRESS", "started_at": at, "agent": AGENT, **earlier}},
        }
    }


def at_end(evaluation: TrackEvaluation, metadata: Mapping[str, object], at: str) -> dict[str, Any]:
    """The values to set with the verdict; fix cycles are counted here and nowhere else, on FAIL."""
    run = [
        {"evaluator": long_name(each.name), "verdict": each.verdict, "issues": issues_of(each)}
        for each in evaluation.evaluators
    ]
    checkpoint: dict[str, Any] = {"completed_at": at, "verdict": evaluation.verdict, "evaluators_run": run}
    step = evaluation.next_step
    if evaluation.verdict == "PASS":
        sync = evaluation.business_sync.required
        checkpoint = {"status": "PASSED", **checkpoint, "business_sync_required": sync}
        checkpoints: dict[str, Any] = {STEP: checkpoint}
        if sync:
            checkpoints["BUSINESS_SYNC"] = {"status": "NOT_STARTED", "required": True}
        return {"loop_state": {"current_step": step, "step_status": "NOT_STARTED", "checkpoints": checkpoints}}
    items = [action.text for action in evaluation.fix_actions]
    cycle = fix_cycles(metadata) + 1
    checkpoint = {"status": "FAILED", **checkpoint, "failure_items": items}
    return {
        "loop_state": {
            "current_step": step,
            "step_status": "NOT_STARTED",
            "fix_cycle_count": cycle,
            "checkpoints": {STEP: checkpoint, "FIX": {"status": "NOT_STARTED", "cycle": cycle}},
        }
    }


def fix_cycles(metadata: Mapping[str, object]) -> int:
    state = metadata.get("loop_state")
    count = state.get("fix_cycle_count") if isinstance(state, Mapping) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def plan_commit(metadata: Mapping[str, object]) -> str:
    """The commit of the plan's checkpoint, from which the track began; empty where none is kept."""
    value: object = metadata
    for key in ("loop_state", "checkpoints", "PLAN", "commit_sha"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value.strip() if isinstance(value, str) else ""
