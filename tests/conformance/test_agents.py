"""The agents that ship pass the suite that ships for authors of others, with a sandbox and without one."""

import json
import os
import sys
from pathlib import Path

import pytest
import yaml

import flyball
from flyball.agents.command import Command, CommandAgent, Patience
from flyball.agents.scripted import ScriptedAgent
from flyball.clock import system_clock
from flyball.ports import Agent, Confine
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
if play["ignore_sigterm"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(play["sleep_s"])
if play["report"] is not None:
    report = {"nonce": os.environ["FLYBALL_NONCE"], **play["report"]}
    json.dump({k: v for k, v in report.items() if v is not None}, open(os.environ["FLYBALL_REPORT_FILE"], "w"))
print(play["say"], flush=True)
print(play["stderr"], file=sys.stderr)
sys.exit(play["exit_code"])
"""


def as_command(play: Play) -> Command:
    if play.missing:
        return Command("tried", ("no-such-program-anywhere",))
    told = {name: getattr(play, name) for name in Play.__struct_fields__}
    return Command("tried", (sys.executable, "-c", PLAYER, json.dumps(told)))


def as_script(play: Play) -> bytes:
    if play.missing:
        pytest.skip("its interpreter is the one that runs this")
    commands = [
        (play.prompt_to, f"cat > {play.prompt_to}"),
        (play.daemon, "(setsid sleep 300 </dev/null >/dev/null 2>&1 &)"),
        (play.output_bytes and not play.binary, f"yes babble | head -c {play.output_bytes}"),
        (play.output_bytes and play.binary, f"head -c {play.output_bytes} /dev/urandom"),
        (play.ignore_sigterm, f"trap '' TERM; sleep {play.sleep_s}"),
    ]
    actions: list[dict[str, object]] = [{"write": play.write}] if play.write else []
    actions += [{"run": command} for wanted, command in commands if wanted]
    actions += [{"sleep": play.sleep_s}]
    actions += [{"report": play.report}] if play.report is not None else []
    actions += [{"say": play.say}, {"stderr": play.stderr}, {"exit": play.exit_code}]
    return yaml.safe_dump({"steps": [{"when": {"stage": "GREEN", "iteration": 3}, "do": actions}]}).encode()


def an_agent(kind: str, confine: Confine, play: Play, patience: Patience) -> Agent:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    if kind == "scripted":
        return ScriptedAgent(
            as_script(play),
            task="001-it",
            workflow="tdd",
            confine=confine,
            environment=environment,
            clock=system_clock,
            patience=patience,
        )
    return CommandAgent(
        as_command(play),
        task="001-it",
        workflow="tdd",
        confine=confine,
        environment=environment,
        clock=system_clock,
        patience=patience,
    )


def a_factory(kind: str, confine: Confine) -> Factory:
    return lambda play, patience=QUICK: an_agent(kind, confine, play, patience)


@pytest.fixture
def sandboxed(tmp_path: Path) -> sandbox.Confined:
    program = sandbox.available()
    if isinstance(program, sandbox.Unavailable):
        pytest.skip(program.reason)
    package = Path(flyball.__file__).parents[1]
    return sandbox.Confined(program, root=tmp_path / "tree", hidden=(), programs=(Path(sys.prefix), package))


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestCommandAgent(AgentSuite):
    @pytest.fixture
    def factory(self) -> Factory:
        return a_factory("command", sandbox.Unconfined())


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestScriptedAgent(AgentSuite):
    @pytest.fixture
    def factory(self) -> Factory:
        return a_factory("scripted", sandbox.Unconfined())


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestConfinedCommandAgent(AgentSuite):
    @pytest.fixture
    def factory(self, sandboxed: sandbox.Confined) -> Factory:
        return a_factory("command", sandboxed)


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestConfinedScriptedAgent(AgentSuite):
    @pytest.fixture
    def factory(self, sandboxed: sandbox.Confined) -> Factory:
        return a_factory("scripted", sandboxed)
