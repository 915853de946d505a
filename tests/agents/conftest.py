"""A way to have one program play one turn in a tree."""

import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flyball.agents.run.command import Command, CommandAgent
from flyball.agents.run.frame import Patience, ProgramFrame
from flyball.clock import system_clock
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.task import EffectId
from flyball.ports import Confine
from flyball.process import StopFlag
from flyball.workspace.sandbox import Confined, Unconfined

PROGRAMS = Path(__file__).parent / "programs"
NONCE = "00112233445566778899aabbccddeeff"
QUICK = Patience(wall_s=300.0, idle_s=300.0, grace_s=0.3, linger_s=0.2)
A_TURN = RunAgent(
    EffectId("turn/1"),
    role="implementer",
    stage="GREEN",
    agent="tried",
    model="m-1",
    prompt="work\n",
    iteration=2,
    turn=1,
)


class Turns:
    """Plays turns one after another, each with a transcript of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.number = 0
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.confine: Confine = Unconfined()
        self.own: Path | None = None

    def play(self, *argv: str, patience: Patience = QUICK, stop: StopFlag | None = None, **asked: Any) -> TurnEnded:
        """Run a command; `exit_signal` and `env` go to the agent, everything else to the request."""
        self.number += 1
        options = {name: asked.pop(name) for name in ("exit_signal", "env", "files") if name in asked}
        agent = CommandAgent(
            Command("tried", argv, **options),
            ProgramFrame(
                task="001-it",
                workflow="tdd",
                confine=self.confine,
                environment=self.environment,
                clock=system_clock,
                patience=patience,
                sandboxed=isinstance(self.confine, Confined),
                own=self.own,
            ),
        )
        request = msgspec.structs.replace(A_TURN, turn=self.number, **asked)
        return agent.turn(
            request,
            tree=self.tree,
            folder=self.transcript,
            nonce=NONCE,
            stop=stop or StopFlag(),
            notify=lambda *_: None,
        )

    def python(self, source: str, **asked: Any) -> TurnEnded:
        return self.play(sys.executable, "-S", "-E", "-c", "import json, os, sys, time\n" + source, **asked)

    def program(self, name: str, *arguments: str, **asked: Any) -> TurnEnded:
        return self.play(sys.executable, "-S", "-E", str(PROGRAMS / f"{name}.py"), *arguments, **asked)

    @property
    def transcript(self) -> Path:
        return self.folder / "turns" / str(self.number)


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    return Turns(tmp_path)
