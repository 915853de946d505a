"""`flyball watch`: a task, or all of them, from any terminal."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.stage import MISSING, TASK, Project, Terminal, until
from tests.support.builders import Story, short_tdd_run

from flyball.core.model.events import TaskStopped


@pytest.mark.req("V30")
def test_a_task_that_has_ended_is_told_and_gives_its_exit_code_where_that_is_asked_for(told, flyball):
    told(Story().start().iterate().add(TaskStopped("limit", "turn limit reached (1 of 1)")))
    shown = flyball("watch", "7")
    assert shown.code == 0
    assert "turn limit reached" in shown.out
    assert flyball("watch", "7", "--exit-status").code == 4


@pytest.mark.req("V30")
def test_without_a_task_every_task_is_listed_what_needs_a_person_first(told, flyball):
    told(short_tdd_run())
    said = flyball("watch")
    assert said.code == 0
    assert said.out.splitlines()[0] == "Nothing needs you"
    assert "DONE          007-parse-rows  project: " in said.out


def test_a_task_nobody_holds_any_more_is_lost_contact(told, flyball):
    told(Story().start())
    said = flyball("watch", "7", "--exit-status")
    assert "LOST CONTACT" in said.out
    assert said.code == 1


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


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V30")
@pytest.mark.skipif(MISSING, reason="tmux is not installed")
def test_in_tmux_at_sixty_columns_all_tasks_one_task_and_its_end_with_its_code(project: Project):
    assert project.flyball("run", "--from", "docs/discount.md", "--detach").returncode == 0
    terminal = Terminal(project, width=60)
    try:
        terminal.run("watch")
        terminal.shows("RUNNING")
        terminal.press("?")
        terminal.shows("answer its question")
        terminal.press("?")
        terminal.press("Enter")
        terminal.shows("turn 1")
        terminal.press("q")
        terminal.shows("Nothing needs you")
        terminal.press("l")
        terminal.shows("press any key to go back")
        terminal.press("q")
        terminal.shows("Nothing needs you")
        terminal.type("jq")
        terminal.prompts()
        terminal.run("watch", TASK, "--exit-status;", "echo", "code=$?")
        terminal.shows("turn 1")
        project.go()
        terminal.shows("code=0", scrollback=True)
    finally:
        terminal.close()
