"""The environment a turn gets: an allow-list of the user's, and what the turn is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from flyball.core.model.effects import RunAgent
from flyball.core.text.manifests import OWN_COPIES

PASSED_ON = frozenset({"PATH", "HOME", "LANG", "TZ", "USER", "SHELL"})
OURS = "FLYBALL_"


def turn_environment(
    user: Mapping[str, str],
    further: Sequence[str],
    *,
    request: RunAgent,
    task: str,
    workflow: str,
    nonce: str,
    prompt_file: Path,
    report_file: Path,
) -> dict[str, str]:
    """Everything the program sees; no variable of the user's goes with it unless it is listed."""
    wanted = PASSED_ON | {name for name in further if not name.startswith(OURS)}
    passed = {name: value for name, value in user.items() if name in wanted or name.startswith("LC_")}
    return {
        **passed,
        **OWN_COPIES,
        "TERM": "dumb",
        "FLYBALL_TASK": task,
        "FLYBALL_WORKFLOW": workflow,
        "FLYBALL_STAGE": request.stage,
        "FLYBALL_ROLE": request.role,
        "FLYBALL_SUBTASK": request.item,
        "FLYBALL_ITERATION": str(request.iteration),
        "FLYBALL_TURN": str(request.turn),
        "FLYBALL_NONCE": nonce,
        "FLYBALL_PROMPT_FILE": str(prompt_file),
        "FLYBALL_REPORT_FILE": str(report_file),
    }
