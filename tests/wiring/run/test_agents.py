"""What a task's agents and gates see of logins: each known agent its own, gates none."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flyball import process
from flyball.agents.run.cli import CliAgent
from flyball.agents.run.command import CommandAgent
from flyball.agents.run.homes import home_paths
from flyball.core.model.task import AgentChoice, AgentSpec, Settings, Task, TaskId
from flyball.ports import Confine
from flyball.wiring.run.agents import agents_of, hiding_logins
from flyball.workspace import sandbox


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in {
        ".claude/.credentials.json": "claude's",
        ".codex/auth.json": "codex's",
        ".claude.json": "c",
    }.items():
        (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).write_text(text)
    return tmp_path / "home"


@pytest.fixture
def confine(tmp_path: Path, home: Path) -> sandbox.Confined:
    program = sandbox.available()
    if isinstance(program, sandbox.Unavailable):
        pytest.skip(program.reason)
    (tmp_path / "tree").mkdir()
    # What lies below /tmp can be seen in the sandbox only where it is named among the programs.
    return sandbox.Confined(program, tmp_path / "tree", hidden=(), programs=(Path(sys.prefix), home))


def seen(confine: Confine, home: Path, writable: tuple[Path, ...] = ()) -> str:
    look = "cat $HOME/.claude/.credentials.json $HOME/.codex/auth.json $HOME/.claude.json 2>/dev/null; true"
    tree = home.parent / "tree"
    env = {"PATH": os.defpath, "HOME": str(home)}
    argv, cwd, inner = confine(["/bin/sh", "-c", look], tree=tree, env=env, writable=writable)
    return process.run(argv, cwd=cwd, env=inner).stdout_tail.decode()


def test_a_gate_sees_no_agents_login(confine: sandbox.Confined, home: Path) -> None:
    assert seen(confine, home) == "claude'scodex'sc"
    assert seen(hiding_logins(confine, {"HOME": str(home)}), home) == ""


def test_a_known_agent_sees_its_own_login_and_no_other(confine: sandbox.Confined, home: Path) -> None:
    environment = {"HOME": str(home)}
    own = home_paths((".claude",), environment)
    assert seen(hiding_logins(confine, environment), home, own) == "claude's"


def test_without_a_sandbox_there_is_nothing_to_hide(home: Path) -> None:
    unconfined = sandbox.Unconfined()
    assert hiding_logins(unconfined, {"HOME": str(home)}) is unconfined


def test_each_agent_of_a_task_is_made_by_its_kind(tmp_path: Path) -> None:
    specs = (AgentSpec("mine", command=("prog",)), AgentSpec("claude", "claude"), AgentSpec("other", "codex"))
    settings = Settings(roles={"default": AgentChoice("mine")})
    task = Task(TaskId("001-it"), "tdd", "do it", settings, datetime(2026, 11, 16, tzinfo=UTC), agents=specs)
    made = agents_of(task, confine=sandbox.Unconfined(), environment={}, root=tmp_path, hold_fds=())
    assert {name: type(agent) for name, agent in made.items()} == {
        "mine": CommandAgent,
        "claude": CliAgent,
        "other": CliAgent,
    }
    assert [vars(agent)["_frame"].sandboxed for agent in made.values()] == [False] * 3


def test_an_agent_that_speaks_the_protocol_sees_its_own_programs_login_where_that_is_known(
    tmp_path: Path, confine: sandbox.Confined, home: Path
) -> None:
    specs = (AgentSpec("known", "acp", ("codex-acp",)), AgentSpec("unknown", "acp", ("some-agent", "--acp")))
    settings = Settings(roles={"default": AgentChoice("known")})
    task = Task(TaskId("001-it"), "tdd", "do it", settings, datetime(2026, 11, 16, tzinfo=UTC), agents=specs)
    made = agents_of(task, confine=confine, environment={"HOME": str(home)}, root=tmp_path, hold_fds=())
    confined = {name: vars(agent)["_frame"].confine for name, agent in made.items()}
    assert seen(confined["known"], home, home_paths((".codex",), {"HOME": str(home)})) == "codex's"
    assert seen(confined["unknown"], home) == "claude'scodex'sc"
    assert all(vars(agent)["_frame"].sandboxed for agent in made.values())
