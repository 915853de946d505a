"""The scripted agent: a declarative script of edits and reports, played by a real process; it powers the demo and the tests.

    steps:
      - when: {stage: GREEN, iteration: 1}
        do:
          - write: {VERSION: "2"}
          - report: {status: complete, exit_signal: true}
      - do: []

The first step whose conditions hold is done. docs/reference/scripted-agent.md has the whole language.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flyball.agents.command import DEFAULT_PATIENCE, Command, CommandAgent, Patience
from flyball.agents.script import ScriptInvalid, read_script
from flyball.ports import Clock, Confine

SCRIPT = "script.yaml"


class ScriptedAgent(CommandAgent):
    """A script as an agent of one task; the script is taken as it is now, so editing its file changes nothing later."""

    def __init__(
        self,
        script: bytes,
        *,
        name: str = "scripted",
        task: str,
        workflow: str,
        confine: Confine,
        environment: Mapping[str, str],
        clock: Clock,
        patience: Patience = DEFAULT_PATIENCE,
        hold_fds: Sequence[int] = (),
    ) -> None:
        read_script(script, name)
        # -P: a module in the workspace must not stand in for one of ours.
        argv = (sys.executable, "-P", "-m", "flyball.agents.scripted_program", f"{{folder}}/{SCRIPT}")
        super().__init__(
            Command(name, argv, files={SCRIPT: script}),
            task=task,
            workflow=workflow,
            confine=confine,
            environment=environment,
            clock=clock,
            patience=patience,
            hold_fds=hold_fds,
        )


def load_script(path: Path) -> bytes:
    """A script's bytes, checked; raises ScriptInvalid with file, line and what was expected."""
    try:
        script = path.read_bytes()
    except OSError as error:
        raise ScriptInvalid(f"{path}: {error.strerror or error}; name the file of a script") from None
    read_script(script, str(path))
    return script
