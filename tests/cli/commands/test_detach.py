"""Runs without a terminal: started so, followed, asked, paused, ended, killed."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.stage import MISSING, TASK, Project, Terminal, until
from tests.support.builders import tdd_task

from flyball.cli.screen.people import InboxPeople, SomebodyThere
from flyball.cli.screen.plain import PlainScreen
from flyball.clock import system_clock
from flyball.core.model.effects import Ask, Question
from flyball.core.model.task import EffectId
from flyball.process import StopFlag
from flyball.projections.history.task_history import TaskHistory

RUN = ("run", "--from", "docs/discount.md", "--detach")
ASKED = Ask(EffectId("ask/1"), Question("q", "?"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    project = Project(tmp_path)
    yield project
    project.go()
    pid = project.controller()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
    until(lambda: project.processes() == [])


def at_work(project: Project) -> bool:
    """Whether the agent's first turn is under way."""
    return any(project.site.home.turns(TASK).glob("0001-*"))


def state_of(project: Project) -> str:
    return str(json.loads(project.flyball("status", TASK, "--json").stdout)["state"])


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V31")
def test_a_detached_run_returns_at_once_is_running_and_ends_by_a_pause(project: Project):
    done = project.flyball(*RUN)
    assert (done.returncode, done.stdout.splitlines()[0][: len(TASK)]) == (0, TASK), done.stderr
    pid = project.controller()
    assert pid is not None
    assert f"process {pid}" in done.stdout
    assert os.getsid(pid) == pid, "a session of its own"
    assert Path(f"/proc/{pid}/fd/0").readlink() == Path("/dev/null")
    until(lambda: at_work(project))
    assert state_of(project) == "RUNNING"
    assert "RUNNING" in project.flyball("list").stdout
    assert project.flyball("pause", TASK).returncode == 0
    project.go()
    until(lambda: project.controller() is None)
    assert state_of(project) == "PAUSED"
    log = project.site.home.task(TASK) / "output.log"
    assert str(log) in done.stdout
    assert "turn 1 tester (scripted) begins" in log.read_text()
    assert project.flyball("resume", TASK, "--detach", "--max-turns", "2").returncode == 0
    until(lambda: project.controller() is None)
    assert state_of(project) == "LIMIT"


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V31")
@pytest.mark.skipif(MISSING, reason="tmux is not installed")
def test_a_detached_run_survives_its_terminal_and_an_abort_ends_all_of_it(project: Project):
    terminal = Terminal(project)
    terminal.run(*RUN)
    terminal.shows("runs in the background")
    terminal.shows("flyball abort")
    until(lambda: at_work(project))
    terminal.close()
    time.sleep(0.5)
    pid = project.controller()
    assert pid is not None
    os.kill(pid, 0)
    assert project.flyball("abort", TASK).returncode == 0
    until(lambda: project.controller() is None)
    until(lambda: project.processes() == [], lambda: str(project.processes()))
    assert state_of(project) == "ABORTED"


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V31")
def test_a_detached_controller_that_is_killed_leaves_no_agent_behind(project: Project):
    assert project.flyball(*RUN).returncode == 0
    until(lambda: at_work(project))
    pid = project.controller()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: project.processes() == [], lambda: str(project.processes()))
    assert state_of(project) == "LOST CONTACT"


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V31")
def test_what_run_refuses_is_refused_in_the_foreground(project: Project):
    for words, code in ((("--from", "no.md"), 2), (("--gate", "bogus"), 2), (("x", "--agent", "nobody"), 2)):
        refused = project.flyball("run", *words, "--detach")
        assert (refused.returncode, refused.stdout) == (code, ""), words
        assert refused.stderr.startswith("flyball: ")
    assert project.site.journal.tasks() == []
    as_json = project.flyball(*RUN, "--json")
    said = json.loads(as_json.stdout)
    assert (said["task"], said["pid"]) == (TASK, project.controller())
    held = project.flyball("resume", TASK, "--detach")
    assert held.returncode == 75
    assert "process" in held.stderr


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V31")
def test_a_question_of_a_detached_run_waits_for_flyball_answer(project: Project):
    assert project.flyball(*RUN, "--attended", "--approve-plan").returncode == 0
    until(lambda: state_of(project) == "NEEDS YOU")
    assert not at_work(project)
    answered = project.flyball("answer", TASK, "criteria", "yes")
    assert answered.returncode == 0, answered.stderr
    until(lambda: at_work(project))
    assert state_of(project) == "RUNNING"


def test_a_question_asked_elsewhere_ends_with_its_deadline_or_when_it_is_withdrawn():
    stop = StopFlag()
    late = Question("q", "?", deadline_at=system_clock.now())
    assert InboxPeople().ask(tdd_task(), replace(ASKED, question=late), stop) is None
    stop.set()
    assert InboxPeople().ask(tdd_task(), ASKED, stop) is None


def test_whoever_left_the_terminal_is_not_asked_there(capsys: pytest.CaptureFixture[str]):
    stop = StopFlag()
    stop.set()
    assert SomebodyThere(PlainScreen(TaskHistory()), lambda: True).ask(tdd_task(), ASKED, stop) is None
    assert capsys.readouterr().err == ""
