"""The live view in a real terminal: resizing, keys, leaving, stopping, being killed."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.stage import MISSING, TASK, Project, Terminal, until

from flyball.core.model.task import TaskId

pytestmark = [
    pytest.mark.slow,
    pytest.mark.e2e,
    pytest.mark.skipif(MISSING, reason="tmux is not installed"),
]

RUN = ("run", "--from", "docs/discount.md", "--unattended")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    project = Project(tmp_path)
    yield project
    project.go()
    pid = project.controller()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
    until(lambda: project.controller() is None)


@pytest.fixture
def terminal(project: Project) -> Iterator[Terminal]:
    terminal = Terminal(project)
    yield terminal
    terminal.close()


@pytest.fixture
def running(project: Project, terminal: Terminal) -> Terminal:
    """A run whose first turn is under way."""
    terminal.run(*RUN)
    terminal.shows("turn 1 · tester (scripted)")
    return terminal


def cooked(terminal: Terminal) -> bool:
    """Whether what is typed is seen, and read line by line."""
    modes = terminal.modes().replace(";", " ").split()
    return "icanon" in modes and "echo" in modes


def pictures(terminal: Terminal) -> list[str]:
    """First lines of pictures, on the screen and in the past."""
    return [line for line in terminal.screen(scrollback=True) if line.startswith("──")]


def test_no_rest_of_a_picture_stays_when_the_terminal_is_resized(running: Terminal):
    for width, height in ((60, 24), (40, 24), (200, 24), (80, 24), (40, 24), (120, 40), (61, 18), (80, 24)):
        running.resize(width, height)
        rule = "─" * 40
        until(lambda rule=rule: rule in running.screen(), lambda: "\n".join(running.screen()))  # type: ignore[misc]
        time.sleep(0.6)
        shown = running.screen(scrollback=True)
        for begin in ("──", f"{TASK} · ", "gates ", "health ", "stuck ", "spent "):
            found = [line for line in shown if line.startswith(begin)]
            assert len(found) == 1, (width, begin, "\n".join(shown))
        assert running.screen()[-1] or height > 24, "the picture stands in the last rows"


def test_resizing_in_quick_steps_leaves_nothing_behind_either(running: Terminal):
    for width in [*range(80, 38, -3), *range(40, 130, 7), *range(130, 58, -5)]:
        running.resize(width)
        time.sleep(0.03)
    time.sleep(1.5)
    assert len(pictures(running)) == 1, "\n".join(running.screen(scrollback=True))


def test_at_60_columns_events_and_the_picture_are_folded_between_words(project: Project, terminal: Terminal):
    terminal.resize(60)
    terminal.run(*RUN)
    project.go()
    terminal.shows("RED -> GREEN", scrollback=True)
    text = "\n".join(terminal.screen(scrollback=True))
    assert "…41" not in text
    told = " ".join(re.sub(r"\n {12}", " ", text).split())
    assert "says complete, done: tests for both criteria, all failing" in told
    assert "RED -> GREEN: the measurements hold and the agent says that it is done" in told
    assert "dual gate" not in told
    assert "breaker" not in told


def test_keys_show_help_and_detail_and_typed_keys_are_not_seen(running: Terminal):
    running.press("?")
    running.shows("stage   a step of the work")
    running.press("h")
    running.shows("spent ")
    running.press("d")
    running.shows("agent   Reading docs/discount.md")
    running.press("d", "x", "Up")
    running.shows("? help")
    assert not cooked(running)
    shown = "\n".join(running.screen())
    assert "^[[A" not in shown, shown


def test_p_pauses_when_the_iteration_ends_and_p_again_takes_it_back(project: Project, running: Terminal):
    running.press("p")
    running.shows("pauses after this iteration")
    running.press("p")
    until(lambda: "pauses after" not in "\n".join(running.screen()))
    assert not project.site.state(TASK).pausing
    running.press("p")
    running.shows("p cancel pause")
    until(lambda: project.site.state(TASK).pausing)
    project.go()
    running.shows("PAUSED: paused by a person")
    running.shows(f"flyball resume {TASK}")
    until(lambda: cooked(running))
    state = project.site.state(TASK)
    assert state.iterations == 1
    assert state.stopped is not None
    assert state.stopped.kind == "paused"


@pytest.mark.req("V31")
def test_q_leaves_the_loop_running_and_loses_nothing_of_its_turn(project: Project, running: Terminal):
    pid = project.controller()
    running.press("q")
    running.shows("runs in the background")
    running.prompts()
    running.type("echo left $?")
    running.press("Enter")
    running.shows("left 0")
    assert cooked(running)
    assert pictures(running) == []
    assert project.controller() == pid
    assert pid is not None
    assert os.getsid(pid) == pid
    project.go()
    until(lambda: project.site.state(TASK).main.stage != "RED")
    assert project.site.state(TASK).turns >= 1
    assert not any("interrupted" in t for t in project.flyball("logs", TASK).stdout.splitlines())
    assert project.flyball("pause", TASK).returncode == 0
    until(lambda: project.controller() is None)


def test_ctrl_c_ends_a_run_as_ever_and_the_terminal_is_as_before(project: Project, running: Terminal):
    running.press("C-c")
    running.shows("stopping: the work under way is ended and saved")
    running.shows(f"flyball resume {TASK}")
    running.prompts()
    running.type("echo ended $?")
    running.press("Enter")
    running.shows("ended 130")
    assert cooked(running)


def test_a_second_ctrl_c_ends_at_once_and_the_terminal_is_as_before(project: Project, terminal: Terminal):
    stubborn = project.place / "stubborn.sh"
    stubborn.write_text("trap '' TERM INT\nwhile :; do sleep 0.1; done\n")
    terminal.run("run", "x", "--unattended", "--agent-command", f"'sh {stubborn}'")
    terminal.shows("turn 1 · ")
    time.sleep(0.5)
    terminal.press("C-c")
    terminal.shows("press Ctrl-C again")
    time.sleep(0.35)
    terminal.press("C-c")
    terminal.shows("ended at once")
    terminal.prompts()
    assert cooked(terminal)
    assert pictures(terminal) == []


def test_a_terminal_that_is_closed_ends_the_run_and_saves(project: Project, running: Terminal):
    running.close()
    until(lambda: project.controller() is None)
    stopped = project.site.state(TASK).stopped
    assert stopped is not None
    assert stopped.reason == "interrupted by SIGHUP"


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(running: Terminal):
    running.press("C-z")
    running.shows("Stopped")
    until(lambda: cooked(running))
    assert pictures(running) == []
    running.type("fg")
    running.press("Enter")
    running.shows("d detail")
    until(lambda: not cooked(running))
    running.press("?")
    running.shows("stage   a step of the work")


@pytest.mark.parametrize("whom", ["controller", "front"])
def test_a_kill_leaves_the_terminal_usable_and_no_process_behind(project: Project, running: Terminal, whom: str):
    pid = project.controller()
    assert pid is not None
    status = Path(f"/proc/{pid}/status").read_text()
    front = int(re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)[1])  # type: ignore[index]
    os.kill(pid if whom == "controller" else front, signal.SIGKILL)
    until(lambda: project.controller() is None)
    until(lambda: cooked(running))
    running.press("Enter")
    running.prompts()
    running.type("echo usable")
    running.press("Enter")
    running.shows("\nusable")
    if whom == "controller":
        running.shows("the loop was killed")
        assert pictures(running) == []
    agents = [p for p in project.processes() if "scripted_program" in Path(f"/proc/{p}/cmdline").read_text()]
    assert agents == []


def test_a_signal_to_the_process_in_front_reaches_the_loop_once(project: Project, running: Terminal):
    pid = project.controller()
    front = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.killpg(os.getpgid(front), signal.SIGTERM)
    running.shows(f"flyball resume {TASK}")
    until(lambda: project.controller() is None)
    stopped = project.site.state(TASK).stopped
    assert stopped is not None, "it had the time to save"
    assert stopped.reason == "interrupted by SIGTERM"


def test_questions_are_answered_in_lines_while_keys_wait(project: Project, terminal: Terminal):
    terminal.run("run", "--from", "docs/discount.md", "--attended", "--approve-plan")
    terminal.shows("asks:")
    until(lambda: cooked(terminal))
    terminal.type("yes")
    terminal.shows("> yes")
    terminal.press("Enter")
    terminal.shows("turn 1 · tester (scripted)")
    until(lambda: not cooked(terminal))
    terminal.press("?")
    terminal.shows("stage   a step of the work")


def test_input_that_is_no_terminal_is_not_eaten(project: Project, terminal: Terminal):
    terminal.type("(sleep 8; echo after) | (")
    terminal.run(*RUN, "--max-turns", "1", "; cat )")
    terminal.shows("turn 1 · tester (scripted)")
    assert "d detail" not in "\n".join(terminal.screen())
    project.go()
    terminal.shows("\nafter")


def test_an_exported_number_of_columns_does_not_hide_the_size_of_the_terminal(project: Project, terminal: Terminal):
    terminal.resize(60)
    time.sleep(0.5)
    terminal.type("export COLUMNS=100")
    terminal.press("Enter")
    terminal.run(*RUN)
    project.go()
    terminal.shows("RED -> GREEN", scrollback=True)
    assert "done: tests for both criteria" in "\n".join(terminal.screen(scrollback=True))


def test_c9_a_task_begun_in_a_pipe_asks_who_resumes_it_at_a_terminal(project: Project, terminal: Terminal):
    begun = project.flyball("run", "x", "--agent-command", "true")
    assert "BLOCKED" in begun.stdout, begun.stderr
    terminal.run("resume")
    terminal.shows("asks:")
    terminal.type("abort")
    terminal.press("Enter")
    terminal.shows("ABORTED: aborted by a person")


def test_c9_who_comes_to_a_terminal_lifts_no_limit(project: Project, terminal: Terminal):
    project.go()
    assert project.flyball("run", "x", "--agent-command", "true", "--max-turns", "1").returncode == 4
    terminal.run("resume")
    terminal.shows("continue with: flyball resume")
    assert project.site.state(TaskId("001-x")).turns == 1
