"""The agents that ship pass the suite that ships for authors of others, with a sandbox and without one."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from tests.conformance.agent_suite import QUICK, AgentSuite, Factory, Play
from tests.conformance.player import player
from tests.process.held_clock import hold_time

import flyball
from flyball.agents.dialect import Event, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.display.display import Shown, show_words
from flyball.agents.run.cli import Cli, CliAgent
from flyball.agents.run.command import Command, CommandAgent
from flyball.agents.run.frame import Patience, ProgramFrame
from flyball.agents.scripted.scripted import ScriptedAgent
from flyball.clock import system_clock
from flyball.ports import Agent, Confine
from flyball.workspace import sandbox

BEGUN = "begun"


@pytest.fixture(autouse=True)
def _limits_count_from_when_the_play_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_time(monkeypatch, tmp_path / "tree" / BEGUN)


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


class Played:
    """The dialect of the program that plays, which says its last words in one event."""

    name = program = "played"
    variables: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    version_argv = ("true",)
    tells_money = False
    install = login = ""

    def __init__(self, play: Play) -> None:
        self._play = play

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        return None

    def invoke(self, asked: TurnRequest) -> Invocation:
        return Invocation(argv=player(self._play, "--events"))

    def read(self, heard: ProgramOutput) -> TurnReading:
        last = next((event for event in heard.lines if event.get("end")), None)
        return TurnReading(kind="ok", final_message=last["text"]) if last else TurnReading(kind="crashed")

    def show(self, event: Event) -> list[Shown]:
        return [shown for line in event["text"].splitlines() for shown in show_words("text", line)]


def an_agent(kind: str, confine: Confine, play: Play, patience: Patience) -> Agent:
    frame = ProgramFrame(
        task="001-it",
        workflow="tdd",
        confine=confine,
        environment={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
        clock=system_clock,
        patience=patience,
    )
    if kind == "scripted":
        return ScriptedAgent(as_script(play), frame)
    if kind == "cli":
        return CliAgent(Cli("tried", Played(play)), frame)
    return CommandAgent(Command("tried", player(play)), frame)


def a_factory(kind: str, confine: Confine) -> Factory:
    """Makes agents whose play says when it has begun, by a file in the tree."""

    def make(play: Play, patience: Patience = QUICK) -> Agent:
        told = replace(play, write={**play.write, BEGUN: ""})
        return an_agent(kind, confine, told, patience)

    return make


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
class TestCliAgent(AgentSuite):
    @pytest.fixture
    def factory(self) -> Factory:
        return a_factory("cli", sandbox.Unconfined())


@pytest.mark.req("C2", "C3", "C11", "C60")
class TestScriptedAgent(AgentSuite):
    @pytest.fixture
    def factory(self) -> Factory:
        return a_factory("scripted", sandbox.Unconfined())


@pytest.mark.slow
@pytest.mark.req("C2", "C3", "C11", "C60")
class TestConfinedCommandAgent(AgentSuite):
    @pytest.fixture
    def factory(self, sandboxed: sandbox.Confined) -> Factory:
        return a_factory("command", sandboxed)


@pytest.mark.slow
@pytest.mark.req("C2", "C3", "C11", "C60")
class TestConfinedScriptedAgent(AgentSuite):
    @pytest.fixture
    def factory(self, sandboxed: sandbox.Confined) -> Factory:
        return a_factory("scripted", sandboxed)
