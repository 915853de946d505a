"""Any program is an agent: what it is given, and how its end is named."""

import json
import os
import signal
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.process.held_clock import hold_time

from flyball.agents.run.command import Command, CommandAgent
from flyball.agents.run.frame import Patience, ProgramFrame
from flyball.agents.run.own_path import own_programs
from flyball.clock import system_clock
from flyball.core.model.effects import RunAgent
from flyball.core.model.task import EffectId
from flyball.process import StopFlag
from flyball.workspace import sandbox

NONCE = "00112233445566778899aabbccddeeff"
DUMP = "json.dump(dict(os.environ), open('env.json', 'w'))"


def report(**content: Any) -> str:
    return f"open(os.environ['FLYBALL_REPORT_FILE'], 'w').write(json.dumps({dict(nonce=NONCE, **content)!r}))\n"


@pytest.mark.req("C2")
def test_the_program_is_told_what_the_turn_is_about(turns):
    turns.python(DUMP, stage="RED", role="tester", iteration=4, item="AC-2")
    env = json.loads((turns.tree / "env.json").read_text())
    given = {name: value for name, value in env.items() if name.startswith("FLYBALL_")}
    shared = turns.transcript.resolve() / "shared"
    assert given == {
        "FLYBALL_TASK": "001-it",
        "FLYBALL_WORKFLOW": "tdd",
        "FLYBALL_STAGE": "RED",
        "FLYBALL_ROLE": "tester",
        "FLYBALL_SUBTASK": "AC-2",
        "FLYBALL_ITERATION": "4",
        "FLYBALL_TURN": "1",
        "FLYBALL_NONCE": NONCE,
        "FLYBALL_PROMPT_FILE": str(shared / "prompt.md"),
        "FLYBALL_REPORT_FILE": str(shared / "report.json"),
    }


def test_only_listed_variables_of_the_user_reach_the_program(turns):
    turns.environment |= {
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm",
        "SECRET_TOKEN": "s",
        "WANTED": "w",
        "FLYBALL_HOME": "/secret",
        "FLYBALL_NONCE": "forged",
        "PYTHONPATH": "/evil",
    }
    turns.python(DUMP, env=("WANTED", "FLYBALL_HOME", "ABSENT"))
    env = json.loads((turns.tree / "env.json").read_text())
    assert {"SECRET_TOKEN", "FLYBALL_HOME", "PYTHONPATH", "ABSENT"} & env.keys() == set()
    assert (env["WANTED"], env["TERM"], env["LC_ALL"], env["TZ"]) == ("w", "dumb", "C.UTF-8", "UTC")
    assert env["FLYBALL_NONCE"] == NONCE


@pytest.mark.req("C43")
def test_who_works_writes_a_copy_of_environments_and_who_reviews_sees_what_gates_see(turns):
    asked = []

    def confine(argv, *, tree, env, environments, **_):
        asked.append(environments)
        return list(argv), tree, dict(env)

    turns.confine = confine
    for how in ({}, {"copy": "reviewer"}, {"access": "read"}):
        turns.play("true", **how)
    assert asked == ["disposable", "pristine", "pristine"]


def test_placeholders_in_the_command_are_filled_and_other_braces_left(turns):
    code = "import json, sys; json.dump(sys.argv[1:], open('argv.json', 'w'))"
    words = ("--model={model}", "{prompt_file}", "{report_file}", '{"json": {}}')
    turns.play(sys.executable, "-c", code, *words, model="big-1")
    shared = turns.transcript.resolve() / "shared"
    told = json.loads((turns.tree / "argv.json").read_text())
    assert told == ["--model=big-1", str(shared / "prompt.md"), str(shared / "report.json"), '{"json": {}}']


def test_a_command_that_asks_for_a_model_is_not_started_without_one(turns):
    ended = turns.play("true", "{model}", model="")
    assert ended.kind == "not_installed"
    assert "no model is set for the role 'implementer'" in ended.detail


@pytest.mark.parametrize("argv", [(), ("",), (" ",)])
def test_an_empty_command_is_refused_when_it_is_made(argv):
    with pytest.raises(ValueError, match="name a program"):
        CommandAgent(
            Command("odd", argv),
            ProgramFrame(task="1", workflow="tdd", confine=sandbox.Unconfined(), environment={}, clock=system_clock),
        )


def test_a_program_that_does_not_read_its_prompt_is_an_agent_too(turns):
    ended = turns.play("true", prompt="x" * 5_000_000)
    assert (ended.kind, ended.claim.source, ended.claim.exit_signal) == ("ok", "none", False)


class TestHowItEnded:
    def test_success_needs_exit_status_0(self, turns):
        assert turns.python(report(status="complete")).kind == "ok"

    def test_a_crash_is_told_by_the_last_line_of_stderr(self, turns):
        ended = turns.python("raise RuntimeError('no\\x1b[31m answer')")
        assert (ended.kind, ended.exit_code, ended.detail) == ("crashed", 1, "exit status 1: RuntimeError: no answer")

    def test_a_signal_from_outside_is_killed_and_one_from_inside_crashed(self, turns):
        killed = turns.python(f"os.kill(os.getpid(), {int(signal.SIGKILL)})")
        assert (killed.kind, killed.exit_code) == ("killed", None)
        assert "SIGKILL" in killed.detail
        crashed = turns.python(f"os.kill(os.getpid(), {int(signal.SIGABRT)})")
        assert (crashed.kind, "SIGABRT" in crashed.detail) == ("crashed", True)

    def test_a_signal_a_shell_passes_on_is_known(self, turns):
        assert turns.play("sh", "-c", "exit 137").kind == "killed"
        assert turns.play("sh", "-c", "exit 139").kind == "crashed"

    @pytest.mark.req("C11")
    def test_an_error_object_at_the_end_of_stdout_names_a_limit(self, turns):
        line = json.dumps({"type": "error", "error": {"type": "usage_limit_reached", "resets_in_seconds": 600}})
        for code in (0, 1):
            ended = turns.python(f"print('working'); print({line!r}); sys.exit({code})")
            assert ended.kind == "usage_limit"
            assert ended.reset_at is not None
            assert timedelta(minutes=9) < ended.reset_at - datetime.now(UTC) <= timedelta(minutes=10)

    @pytest.mark.req("C11")
    def test_an_error_object_is_not_believed_against_a_report_or_in_the_middle(self, turns):
        line = json.dumps({"type": "error", "error": {"type": "rate_limit_error"}})
        assert turns.python(f"print({line!r})\n" + report(status="complete")).kind == "ok"
        assert turns.python(f"print({line!r}); print('and I went on')").kind == "ok"
        bare = json.dumps({"error": {"code": 429}})
        assert turns.python(f"print({bare!r})").kind == "ok"
        assert turns.python(f"print({bare!r}); sys.exit(1)").kind == "overloaded"

    @pytest.mark.req("C11")
    def test_the_report_may_name_a_limit(self, turns):
        error = {"type": "usage_limit", "reset_at": (datetime.now(UTC) + timedelta(hours=2)).isoformat()}
        ended = turns.python(report(error=error))
        assert ended.kind == "usage_limit"
        assert ended.reset_at is not None

    @pytest.mark.req("C11")
    def test_exit_status_75_is_an_overload(self, turns):
        assert turns.python("sys.exit(75)").kind == "overloaded"

    @pytest.mark.req("C11")
    def test_a_client_that_sleeps_on_a_limit_is_limited_from_when_it_said_so(self, turns, monkeypatch):
        hold_time(monkeypatch, turns.tree / "begun")
        source = (
            "print('Quota exceeded. Retrying after 7200000ms...', file=sys.stderr, flush=True)\n"
            "open('begun', 'w').close(); time.sleep(600)"
        )
        ended = turns.python(source, patience=Patience(wall_s=300, idle_s=0.3, grace_s=0.3))
        assert ended.kind == "usage_limit"
        assert ended.reset_at is not None
        assert ended.reset_at - datetime.now(UTC) < timedelta(hours=2)

    def test_a_missing_program_is_not_installed_in_a_sandbox_too(self, turns):
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            pytest.skip(program.reason)
        turns.confine = sandbox.Confined(program, root=turns.tree, hidden=())
        ended = turns.play("no-such-program-anywhere")
        assert ended.kind == "not_installed"
        assert "no-such-program-anywhere" in ended.detail


class TestSignal:
    @pytest.mark.req("C40")
    def test_c40_a_clean_exit_is_no_signal_unless_it_was_opted_in(self, turns):
        assert not turns.play("true").claim.exit_signal
        ended = turns.play("true", exit_signal="exit-0")
        assert (ended.claim.exit_signal, ended.claim.source, ended.claim.problems) == (True, "none", ())
        assert "exit-0" in ended.detail

    @pytest.mark.req("C40")
    def test_c40_a_program_that_reports_is_taken_at_its_report(self, turns):
        assert not turns.python(report(exit_signal=False), exit_signal="exit-0").claim.exit_signal

    @pytest.mark.req("C40")
    def test_c40_a_failed_exit_is_never_the_signal(self, turns):
        assert not turns.play("false", exit_signal="exit-0").claim.exit_signal
        limited = turns.python("print('usage limit reached', file=sys.stderr); sys.exit(1)", exit_signal="exit-0")
        assert not limited.claim.exit_signal


class TestReportFile:
    @pytest.mark.parametrize("kind", ["symlink", "fifo", "folder"])
    def test_what_is_no_plain_file_is_not_read(self, turns, kind, tmp_path):
        secret = tmp_path / "secret.json"
        secret.write_text(json.dumps({"nonce": NONCE, "exit_signal": True}))
        make = {"symlink": f"os.symlink({str(secret)!r}, p)", "fifo": "os.mkfifo(p)", "folder": "os.mkdir(p)"}[kind]
        claim = turns.python(f"p = os.environ['FLYBALL_REPORT_FILE']; {make}").claim
        assert not claim.exit_signal
        assert "report file cannot be read" in claim.problems[0]
        assert not (turns.transcript / "report.json").exists()

    def test_a_shared_folder_swapped_for_a_link_is_not_followed(self, turns, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "report.json").write_text(json.dumps({"nonce": NONCE, "exit_signal": True}))
        swap = "d = os.path.dirname(os.environ['FLYBALL_REPORT_FILE']); import shutil; shutil.rmtree(d); "
        claim = turns.python(swap + f"os.symlink({str(elsewhere)!r}, d)").claim
        assert not claim.exit_signal
        assert (elsewhere / "report.json").exists()

    def test_a_huge_report_is_kept_and_refused(self, turns):
        ended = turns.python("open(os.environ['FLYBALL_REPORT_FILE'], 'w').write('[' * 3_000_000)")
        assert (turns.transcript / "report.json").stat().st_size == 3_000_000
        assert "at most" in ended.claim.problems[0]

    def test_no_folder_of_the_turn_is_left_to_the_program(self, turns):
        turns.python("open(os.path.dirname(os.environ['FLYBALL_REPORT_FILE']) + '/other', 'w')\n" + report())
        assert sorted(path.name for path in turns.transcript.iterdir()) == [
            "prompt.md",
            "report.json",
            "stderr",
            "stdout",
            "turn.json",
        ]

    def test_in_a_sandbox_only_tree_and_report_can_be_written(self, turns):
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            pytest.skip(program.reason)
        turns.confine = sandbox.Confined(program, root=turns.tree, hidden=())
        turns.number = 0
        folder = turns.folder / "turns" / "1"
        source = f"""
for path in ({str(folder)!r} + '/stdout', {str(folder)!r} + '/turn.json', '/etc/made', 'made'):
    try: open(path, 'a').write('forged')
    except OSError: pass
"""
        ended = turns.python(source + report(exit_signal=True))
        assert ended.claim.exit_signal
        assert (turns.tree / "made").read_text() == "forged"
        assert (folder / "stdout").read_bytes() == b""
        assert json.loads((folder / "turn.json").read_text())["ended_by"] == "exit"

    def test_a_reading_turn_cannot_write_the_tree_in_a_sandbox(self, turns):
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            pytest.skip(program.reason)
        turns.confine = sandbox.Confined(program, root=turns.tree, hidden=())
        ended = turns.python("open('made', 'w')", access="read")
        assert ended.kind == "crashed"
        assert list(turns.tree.iterdir()) == []

    def test_a_crash_for_want_of_a_writable_place_names_the_sandbox_and_the_way_out(self, turns):
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            pytest.skip(program.reason)
        turns.confine = sandbox.Confined(program, root=turns.tree, hidden=())
        ended = turns.play("mkdir", "/usr/made")
        assert ended.kind == "crashed"
        assert "Read-only file system" in ended.detail
        assert "flyball's sandbox" in ended.detail
        assert "--sandbox none" in ended.detail


def test_outside_a_sandbox_none_is_blamed(turns):
    ended = turns.python("sys.exit('Read-only file system')")
    assert ended.detail == "exit status 1: Read-only file system"


@pytest.mark.req("C2")
def test_flyballs_own_environment_is_not_on_the_agents_path_but_flyball_is(turns, tmp_path):
    own, other = tmp_path / "own" / "bin", tmp_path / "other"
    for folder, names in ((own, ("flyball", "pytest", "agent")), (other, ("pytest",))):
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).write_text(f"#!/bin/sh\necho {folder.name} {name}; command -v pytest; flyball\n")
            (folder / name).chmod(0o755)
    (own / "flyball").write_text("#!/bin/sh\necho it answers\n")
    turns.own = own
    turns.environment["PATH"] = f"{own}:{other}:/usr/bin:/bin"
    said = turns.play("agent").final_message.split("\n")
    assert said[:3] == ["bin agent", str(other / "pytest"), "it answers"], "a person may name a program that lies there"
    turns.own = None
    assert turns.play("agent").final_message.split("\n")[1] == str(own / "pytest")


def test_an_environment_in_the_project_is_the_projects(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert own_programs(tmp_path) is None
    assert own_programs(tmp_path / "elsewhere") == tmp_path / ".venv" / "bin"
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / ".venv"))
    assert own_programs(tmp_path / "elsewhere") is None


def test_the_same_agent_may_run_turns_at_the_same_time(turns):
    agent = CommandAgent(
        Command("tried", (sys.executable, "-c", "import os; print(os.environ['FLYBALL_TURN'])")),
        ProgramFrame(
            task="1",
            workflow="tdd",
            confine=sandbox.Unconfined(),
            environment={"PATH": os.environ["PATH"]},
            clock=system_clock,
        ),
    )
    said: dict[int, str] = {}

    def play(number: int) -> None:
        request = RunAgent(EffectId("t"), role="r", stage="S", agent="a", model="", prompt="", iteration=1, turn=number)
        folder = Path(turns.folder, "parallel", str(number))
        ended = agent.turn(request, tree=turns.tree, folder=folder, nonce="n", stop=StopFlag(), notify=lambda *_: None)
        said[number] = ended.final_message.strip()

    threads = [threading.Thread(target=play, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {number: str(number) for number in range(4)}
