"""The banner of an open circuit breaker: what happened, and the choices there are."""

from __future__ import annotations

from flyball.core.loop.questions import led_by_trick
from flyball.core.model.state import State
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.wording import plain

BEGIN = "---CIRCUIT_BREAKER_OPEN---"
END = "---END_CIRCUIT_BREAKER_OPEN---"


def banner(state: State, history: TaskHistory) -> str:
    """What to print when the breaker halts the task."""
    task = state.task.id
    counts = history.measured.counts if history.measured else None
    tests = f"{counts.passing}/{counts.total}" if counts and counts.total else "none measured"
    recent = history.errors.recent
    lines = [
        BEGIN,
        f"PHASE: {state.main.stage}",
        f"REASON: {plain(led_by_trick(state.main, state.main.loop.breaker.reason or 'opened'))}",
        f"ITERATIONS: {state.main.loop.iteration} in this stage, {state.iterations} in all",
        f"TESTS_PASSING: {tests}",
        f"LAST_ERROR: {plain(recent[-1].error, 500) if recent else 'none'}",
        "OPTIONS:",
        f"  flyball reset {task}          clear the counters and try again",
        f"  flyball skip {task}           leave this stage unverified and go to the next; every report says so",
        f"  flyball abort {task}          end the task",
        f"  flyball modify {task} TEXT    give new guidance, then try again",
    ]
    if state.main.loop.caught is not None:
        lines.append(f"  flyball rollback {task} --to last-good    restore the last good tree and try again")
    lines.append(END)
    return "\n".join(lines) + "\n"
