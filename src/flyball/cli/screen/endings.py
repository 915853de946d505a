"""What is said last of a run: the banner of an open breaker, what was found, the next command."""

from __future__ import annotations

from flyball.core.model.state import State
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.banner import banner
from flyball.projections.views.standing import next_command


def ending(state: State, history: TaskHistory) -> str:
    """The last words; empty for a task that has not stopped."""
    stopped = state.stopped
    if stopped is None:
        return ""
    asked = state.questions.get(stopped.question) if stopped.question else None
    if asked is not None and asked.question.name == "breaker":
        return banner(state, history).rstrip("\n")
    parts = [f"  {text}" for text in stopped.evidence[:12]]
    if stopped.kind == "interrupted":
        parts.append(f"resume with `{next_command(state)}`")
    return "\n".join(parts)
