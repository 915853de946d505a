"""The JSON files beside the status log: `loop-state`, `circuit-breaker`, `rate-limit`, `dual-gate` and `verdict`."""

import hashlib
from datetime import datetime
from typing import Any

import msgspec

from flyball.core.loop.guards import HOUR
from flyball.core.model.events import Held
from flyball.core.model.measurement import GateVerdict
from flyball.core.model.outcomes import ABSENT, LIMITED
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.workflows.registry import workflow_of
from flyball.projections.files.verdict_file import NAME as VERDICT, task_verdict
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views import standing
from flyball.projections.views.lanes import hold_of, most_stuck
from flyball.projections.views.status import progress_percent
from flyball.projections.wording import plain


def state_files(state: State, history: TaskHistory) -> dict[str, str]:
    """Each file with its text; the same facts always give the same bytes."""
    return {
        "loop-state.json": _json(_loop_state(state, history)),
        "circuit-breaker.json": _json(_circuit_breaker(state, history)),
        "rate-limit.json": _json(_rate_limit(state, history)),
        "dual-gate.json": _json(_dual_gate(state, history)),
        VERDICT: _json(task_verdict(state, history)),
    }


def session_id(state: State) -> str:
    """A name-based UUID (version 5 layout) of the task and the moment it was opened: the same in every rendering."""
    name = f"flyball:{state.task.id}:{state.task.opened_at.isoformat()}"
    raw = bytearray(hashlib.sha1(name.encode(), usedforsecurity=False).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _loop_state(state: State, history: TaskHistory) -> dict[str, Any]:
    status = standing.running_state(state)
    reason = plain(standing.reason(state, history), 500)
    at = _stopped_at(state, history)
    # The model that really implemented last; none where no turn did, or nobody said which one.
    author = workflow_of(state.task).author
    ran = (t.model for t in reversed(history.turns) if t.role == author and t.outcome not in {"", *LIMITED, *ABSENT})
    return {
        "session_id": session_id(state),
        "task": state.task.id,
        "prp_file": state.task.source.path if state.task.source else None,
        "started_at": state.task.opened_at,
        "current_phase": state.main.stage,
        "current_iteration": state.main.loop.iteration,
        "green_model": next(ran, "") or None,
        "last_activity": history.last_activity,
        "status": status,
        "halt_reason": reason if status == "halted" else None,
        "pause_reason": reason if status == "paused" else None,
        "paused_at": at if status == "paused" else None,
        "resumed_at": history.resumed_at,
        "completed_at": at if status == "completed" else None,
        "phases_completed": list(dict.fromkeys(v.stage for v in state.main.visits if v.completed_at and not v.forced)),
        "phases_forced": list(dict.fromkeys(v.stage for v in state.main.visits if v.forced)),
        "phase_history": _phase_history(state),
        "qa_attempts": state.main.rejections,
        "overall_progress_percent": progress_percent(state),
        "error_history": list(history.errors.recent),
        "total_agent_calls": state.turns,
    }


def _stopped_at(state: State, history: TaskHistory) -> datetime | None:
    if state.stopped is not None:
        return history.stops[-1][0] if history.stops else None
    return _held_at(hold_of(state), history)


def _held_at(held: Held | None, history: TaskHistory) -> datetime | None:
    """Since when the guard holds its lane; others may have been held since."""
    if held is None:
        return None
    return next((hold.at for hold in reversed(history.holds) if hold.lane == held.lane), None)


def _phase_history(state: State) -> dict[str, dict[str, Any]]:
    """One entry for each phase; a phase entered again goes on counting in its entry."""
    history: dict[str, dict[str, Any]] = {}
    for visit in state.main.visits:
        known = history.get(visit.stage, {"started_at": visit.started_at, "iterations": 0})
        iterations = visit.iterations if visit.completed_at else state.main.loop.iteration
        history[visit.stage] = {
            "started_at": known["started_at"],
            "completed_at": visit.completed_at,
            "iterations": known["iterations"] + iterations,
            "exit_reason": plain(visit.exit_reason) or None,
            "forced": visit.forced,
        }
    return history


def _circuit_breaker(state: State, history: TaskHistory) -> dict[str, Any]:
    lane = most_stuck(state)
    breaker, progress = lane.loop.breaker, history.last_progress.get(lane.name, {})
    # What opens a breaker may have been counted through several contexts, each of which begins with a closed one.
    same_error = history.errors.streak(lane.name).same if breaker.state == "OPEN" else 0
    return {
        "lane": lane.name,
        "state": breaker.state,
        "no_progress_count": breaker.no_progress,
        "same_error_count": max(breaker.same_error, same_error),
        "last_progress_metric": {stage: fact.gate_1.values for stage, fact in progress.items()},
        "last_error_hash": breaker.error or None,
        "opened_at": history.breaker.opened_at.get(lane.name),
        "open_reason": plain(breaker.reason) if breaker.state == "OPEN" else None,
        "history": list(history.breaker.events),
    }


def _rate_limit(state: State, history: TaskHistory) -> dict[str, Any]:
    window = state.window
    held = hold_of(state) if state.stopped is None else None
    now = history.last_activity or state.now
    active = [hit for hit in state.limits.values() if hit.until > now]
    latest = max(active, key=lambda hit: hit.until) if active else None
    waits = held is not None and held.guard in {"provider", "hourly"}
    return {
        "hourly": {
            "calls_made": window.calls if window else 0,
            "limit": state.task.settings.limits.calls_per_hour,
            "window_start": window.started_at if window else None,
            "next_reset": window.started_at + HOUR if window else None,
        },
        "anthropic_5h": {
            "detected": latest is not None,
            "detected_at": history.limited_at.get(latest.agent) if latest else None,
            "resume_at": latest.until if latest else None,
            "waiting": held is not None and held.guard == "provider",
        },
        "agents": {hit.agent: {"kind": hit.kind, "until": hit.until} for hit in active},
        "paused": waits,
        "pause_reason": plain(held.reason) if held and waits else None,
        "paused_at": _held_at(held, history) if waits else None,
    }


def _dual_gate(state: State, history: TaskHistory) -> dict[str, Any]:
    fact = history.judged
    at = history.judgements[-1].at if history.judgements else None
    turn = history.turn(fact.turn) if fact else None
    gate = fact.gate_1 if fact else GateVerdict(held=False, condition="")
    return {
        "lane": fact.lane if fact else MAIN,
        "phase": fact.stage if fact else state.main.stage,
        "iteration": fact.iteration if fact else 0,
        "gate_1": {
            "satisfied": gate.held,
            "condition": gate.condition,
            "values": gate.values,
            "missing": [plain(m) for m in gate.missing],
        },
        "gate_2": {"satisfied": fact.gate_2 if fact else False, "source": turn.source if turn else "none"},
        "can_exit": fact.can_exit if fact else False,
        "timestamp": at,
        "evaluated_at": at,
    }
