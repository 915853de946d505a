"""Makes any program an agent: started in the workspace with the prompt on standard input, and measured by how it ends."""

from pathlib import Path
from typing import Literal

import msgspec

from flyball.agents.dialect import PROMPT_FILE, Invocation
from flyball.agents.display.live import LiveView
from flyball.agents.run.frame import ProgramFrame, TurnOrder
from flyball.agents.run.outcome import read_command_turn
from flyball.agents.run.transcript import REPORT_FILE
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded
from flyball.ports import Notify, Stop

ExitSignal = Literal["report", "exit-0"]


class Command(msgspec.Struct, frozen=True):
    """A program as an agent.

    `argv` may hold `{model}`, `{prompt_file}`, `{report_file}` and `{folder}`, the turn's own folder, in which `files` are put.
    `env` names variables it gets beyond the usual ones; `exit_signal` "exit-0" makes a clean exit the signal of a program
    that reports nothing.
    """

    name: str
    argv: tuple[str, ...]
    env: tuple[str, ...] = ()
    exit_signal: ExitSignal = "report"
    files: dict[str, bytes] = {}


class CommandAgent:
    def __init__(self, command: Command, frame: ProgramFrame) -> None:
        if not command.argv or not command.argv[0].strip():
            raise ValueError(f"the agent {command.name!r} has an empty command; name a program")
        self._command, self._frame = command, frame

    def turn(self, request: RunAgent, *, tree: Path, folder: Path, nonce: str, stop: Stop, notify: Notify) -> TurnEnded:
        """Run one turn in `tree`; everything about it is kept in `folder`, which must be new or empty."""
        command = self._command
        if not request.model and any("{model}" in word for word in command.argv):
            reason = f"asks for {{model}}, but no model is set for the role {request.role!r}"
            advice = "set one with --model or in flyball.toml"
            return TurnEnded("not_installed", f"the command of the agent {command.name!r} {reason}; {advice}")
        turn = TurnOrder(request, tree, folder, nonce)
        live = LiveView(notify, self._frame.clock)
        ran = self._frame.run(turn, self._invocation(turn), stop, live.take, variables=command.env)
        live.flush()
        return read_command_turn(ran, exit_is_signal=command.exit_signal == "exit-0")

    def _invocation(self, turn: TurnOrder) -> Invocation:
        values = {
            "{model}": turn.request.model,
            "{prompt_file}": str(turn.shared / PROMPT_FILE),
            "{report_file}": str(turn.shared / REPORT_FILE),
            "{folder}": str(turn.shared),
        }
        argv = self._command.argv
        for name, value in values.items():
            argv = tuple(word.replace(name, value) for word in argv)
        return Invocation(argv=argv, files=self._command.files)
