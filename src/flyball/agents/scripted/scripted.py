"""The scripted agent: a declarative script of edits and reports, played by a real process; it powers the demo and the tests.

    steps:
      - when: {stage: GREEN, iteration: 1}
        do:
          - write: {VERSION: "2"}
          - report: {status: complete, exit_signal: true}
      - do: []

The first step whose conditions hold is done. docs/reference/scripted-agent.md has the whole language.
"""

import sys
from pathlib import Path

from flyball.agents.run.command import Command, CommandAgent
from flyball.agents.run.frame import ProgramFrame
from flyball.agents.scripted.script import ScriptInvalid, read_script

SCRIPT = "script.yaml"


class ScriptedAgent(CommandAgent):
    """A script as an agent of one task; the script is taken as it is now, so editing its file changes nothing later."""

    def __init__(self, script: bytes, frame: ProgramFrame, *, name: str = "scripted") -> None:
        read_script(script, name)
        # -P: a module in the workspace must not stand in for one of ours.
        argv = (sys.executable, "-P", "-m", "flyball.agents.scripted_program", f"{{folder}}/{SCRIPT}")
        super().__init__(Command(name, argv, files={SCRIPT: script}), frame)


def load_script(path: Path) -> bytes:
    """A script's bytes, checked; raises ScriptInvalid with file, place and what was expected."""
    try:
        script = path.read_bytes()
    except OSError as error:
        raise ScriptInvalid(f"{path}: {error.strerror or error}; name the file of a script") from None
    read_script(script, str(path))
    return script
