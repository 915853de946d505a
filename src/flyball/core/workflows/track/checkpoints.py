"""What the steps of a track write into its metadata.json; the evaluation writes its own (`core/evaluation/checkpoints.py`)."""

from collections.abc import Mapping
from typing import Any

from flyball.core.model.state import State

AGENT = "flyball"


def timestamp(state: State) -> str:
    return state.now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _step(state: State, step: str, status: str, **checkpoint: Any) -> dict[str, Any]:
    inner = {"status": status, "agent": AGENT, **checkpoint}
    loop = {"current_step": step, "step_status": status, "checkpoints": {step: inner}}
    return {"status": "in_progress", "updated_at": timestamp(state), "loop_state": loop}


def plan(state: State, version: int) -> dict[str, Any]:
    """A plan is written; the track began with the commit the task started from."""
    base = state.prepared.base if state.prepared else ""
    return _step(state, "PLAN", "PASSED", completed_at=timestamp(state), commit_sha=base, plan_version=version)


def plan_evaluation(state: State, checks: Mapping[str, bool]) -> dict[str, Any]:
    base = state.prepared.base if state.prepared else ""
    values = _step(state, "EVALUATE_PLAN", "PASSED", completed_at=timestamp(state), verdict="PASS", checks=dict(checks))
    values["loop_state"]["checkpoints"]["PLAN"] = {"status": "PASSED", "commit_sha": base}
    return values


def execution(state: State) -> dict[str, Any]:
    done = [item for item in state.items if item.status == "completed"]
    return _step(
        state,
        "EXECUTE",
        "PASSED" if len(done) == len(state.items) else "IN_PROGRESS",
        tasks_completed=len(done),
        tasks_total=len(state.items),
        last_task=done[-1].id if done else "",
        last_commit=state.main.head,
    )


def fixes(state: State, cycle: int, applied: list[dict[str, str]]) -> dict[str, Any]:
    return _step(
        state, "FIX", "PASSED", cycle=cycle, fixes_applied=applied, fixes_remaining=0, completed_at=timestamp(state)
    )


def business_sync(state: State, documents: tuple[str, ...]) -> dict[str, Any]:
    return _step(
        state, "BUSINESS_SYNC", "PASSED", required=True, output_files=list(documents), completed_at=timestamp(state)
    )
