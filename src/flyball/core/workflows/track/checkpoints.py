"""What the steps of a track write into its metadata.json; the evaluation writes its own (`core/evaluation/checkpoints.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flyball.core.model.state import State

AGENT = "flyball"


def _at(state: State) -> str:
    return state.now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _step(state: State, step: str, status: str, **checkpoint: Any) -> dict[str, Any]:
    at = _at(state)
    inner = {"status": status, "agent": AGENT, **checkpoint}
    loop = {"current_step": step, "step_status": status, "checkpoints": {step: inner}}
    return {"status": "in_progress", "updated_at": at, "loop_state": loop}


def planned(state: State, version: int) -> dict[str, Any]:
    """A plan is written; the track began with the commit the task started from."""
    base = state.prepared.base if state.prepared else ""
    return _step(state, "PLAN", "PASSED", completed_at=_at(state), commit_sha=base, plan_version=version)


def plan_passed(state: State, checks: Mapping[str, bool]) -> dict[str, Any]:
    """The plan was evaluated and is worked to."""
    base = state.prepared.base if state.prepared else ""
    values = _step(state, "EVALUATE_PLAN", "PASSED", completed_at=_at(state), verdict="PASS", checks=dict(checks))
    values["loop_state"]["checkpoints"]["PLAN"] = {"status": "PASSED", "commit_sha": base}
    return values


def executing(state: State) -> dict[str, Any]:
    """How far the tasks are."""
    done = [item for item in state.items if item.status == "completed"]
    last = done[-1].id if done else ""
    return _step(
        state,
        "EXECUTE",
        "PASSED" if len(done) == len(state.items) else "IN_PROGRESS",
        tasks_completed=len(done),
        tasks_total=len(state.items),
        last_task=last,
        last_commit=state.main.head,
    )


def fixed(state: State, cycle: int, fixes: list[dict[str, str]]) -> dict[str, Any]:
    """The fixes of a cycle were accepted."""
    return _step(state, "FIX", "PASSED", cycle=cycle, fixes_applied=fixes, fixes_remaining=0, completed_at=_at(state))


def synced(state: State, documents: tuple[str, ...]) -> dict[str, Any]:
    """The documents of the business are up to date."""
    return _step(state, "BUSINESS_SYNC", "PASSED", required=True, output_files=list(documents), completed_at=_at(state))
