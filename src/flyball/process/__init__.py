"""The only starter of processes: `run` for programs that are not trusted to end, `capture` for short ones that are."""

from flyball.process.capturing import Captured, capture, kill_captured
from flyball.process.errors import CommandTimedOut, ProgramMissing, WardenFailed
from flyball.process.front import Front, step_behind
from flyball.process.output import OnOutput
from flyball.process.running import run
from flyball.process.stop import StopFlag
from flyball.process.watch import EndedBy, Exit

__all__ = [
    "Captured",
    "CommandTimedOut",
    "EndedBy",
    "Exit",
    "Front",
    "OnOutput",
    "ProgramMissing",
    "StopFlag",
    "WardenFailed",
    "capture",
    "kill_captured",
    "run",
    "step_behind",
]
