"""What was kept of a turn, as its agent's dialect tells it to a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flyball.agents.dialects.table import DIALECTS, speaking_acp
from flyball.agents.display.display import Show, log_lines
from flyball.core.model.task import Task

STDOUT = "stdout"


def told_lines(task: Task, agent: str, path: Path) -> Iterator[str]:
    """A kept file's lines, safe for any screen; of events an agent's program printed, what they say."""
    return log_lines(path, _show(task, agent) if path.name == STDOUT else None)


def _show(task: Task, agent: str) -> Show | None:
    spec = next((spec for spec in task.agents if spec.name == agent), None)
    if spec is None:
        return None
    if spec.type == "acp":
        return speaking_acp(spec.command).show
    return DIALECTS[spec.type].show if spec.type in DIALECTS else None
