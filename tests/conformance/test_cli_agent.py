"""The frame for agents' own programs passes the suite of every agent, with a dialect made for it."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from flyball.agents.cli import Cli, CliAgent
from flyball.agents.command import Patience
from flyball.agents.dialect import Asked, Event, Heard, Invocation, Reading
from flyball.clock import system_clock
from flyball.testing.agent_suite import QUICK, AgentSuite, Factory, Play
from flyball.workspace import sandbox

PLAYER = """
import json, os, signal, subprocess, sys, time
play = json.loads(sys.argv[1])
prompt = sys.stdin.buffer.read()
for path, text in play.get("write", {}).items():
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
if play["prompt_to"]:
    open(play["prompt_to"], "wb").write(prompt)
if play["daemon"]:
    null = subprocess.DEVNULL
    subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=null, stdout=null, stderr=null)
if play["output_bytes"]:
    block = os.urandom(100_000) if play["binary"] else b"babble " * 15_000
    left = play["output_bytes"]
    while left > 0:
        left -= sys.stdout.buffer.write(block[:left])
    print(flush=True)
if play["ignore_sigterm"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(play["sleep_s"])
if play["report"] is not None:
    report = {"nonce": os.environ["FLYBALL_NONCE"], **play["report"]}
    json.dump({k: v for k, v in report.items() if v is not None}, open(os.environ["FLYBALL_REPORT_FILE"], "w"))
print(json.dumps({"text": play["say"], "end": True}), flush=True)
print(play["stderr"], file=sys.stderr)
sys.exit(play["exit_code"])
"""


class Played:
    """Speaks as the program above does: one event at the end."""

    name = program = "played"
    variables: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    version_argv = ("true",)
    install = login = ""

    def __init__(self, play: Play) -> None:
        self._play = play

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        return None

    def invoke(self, asked: Asked) -> Invocation:
        told = {name: getattr(self._play, name) for name in Play.__struct_fields__}
        program = "no-such-program-anywhere" if self._play.missing else sys.executable
        return Invocation(argv=(program, "-c", PLAYER, json.dumps(told)))

    def read(self, heard: Heard) -> Reading:
        last = next((event for event in heard.lines if event.get("end")), None)
        return Reading(kind="ok", final_message=last["text"]) if last else Reading(kind="crashed")

    def show(self, event: Event) -> str:
        return str(event["text"])


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestCliAgent(AgentSuite):
    @pytest.fixture
    def factory(self) -> Factory:
        def make(play: Play, patience: Patience = QUICK) -> CliAgent:
            return CliAgent(
                Cli("tried", Played(play)),
                task="001-it",
                workflow="tdd",
                confine=sandbox.Unconfined(),
                environment={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
                clock=system_clock,
                patience=patience,
            )

        return make
