"""The program as a whole: usage, internal errors, pipes, completion, help."""

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from tests.support.builders import short_tdd_run
from typer.main import get_command

from flyball.__main__ import main
from flyball.cli import app as table
from flyball.cli.support import exits
from flyball.cli.support.arguments import task_ids
from flyball.core.model.task import TaskId
from flyball.documents.errors import LoopFolderUnwritable

COMMANDS = (
    "demo init run resume reopen list status logs answer reset skip abort modify pause checkpoints rollback diff clean report prompt "
    "trust check doctor agents evaluate monitor dispatch hook mcp merge export serve learnings watch notify"
)


def flyball_program(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flyball", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


def test_every_command_is_there_documented_and_none_is_a_stub():
    commands = get_command(table.app).commands  # type: ignore[attr-defined]
    assert set(commands) == set(COMMANDS.split())
    for name, command in commands.items():
        assert command.help, name
        assert all(getattr(p, "help", None) for p in command.params), name


@pytest.mark.parametrize("name", COMMANDS.split())
def test_every_command_has_help(flyball, name):
    shown = flyball(name, "--help")
    assert shown.code == 0
    assert "Usage" in shown.out
    assert "[default" not in shown.out, "the text names the default"
    assert "<bool>" not in shown.out, "a flag takes no value"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["bogus"], "flyball --help"),
        (["run", "--bogus"], "flyball run --help"),
        (["rollback", "1"], "flyball rollback --help"),
        (["export"], "flyball export --help"),
        (["report", "--format", "pdf"], "flyball report --help"),
    ],
)
def test_wrong_usage_is_one_sentence_with_where_to_look_and_exit_2(monkeypatch, capsys, words, place):
    monkeypatch.setattr(sys, "argv", ["flyball", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("flyball: ")
    assert said.strip().endswith(f"See: {place}")
    assert len(said.strip().splitlines()) == 1
    assert "Value error" not in said


WHOLE = "a whole number from 1 (leave it out for no limit)"
AMOUNT = "a finite number greater than 0 (leave it out for no limit)"


@pytest.mark.parametrize(
    ("words", "wanted", "shown"),
    [
        (("run", "--max-turns", "0"), WHOLE, "0"),
        (("run", "--max-iterations", "-3"), WHOLE, "-3"),
        (("resume", "--max-cycles", "many"), WHOLE, '"many"'),
        (("run", "--budget-tokens", "1.5"), WHOLE, '"1.5"'),
        (("run", "--parallel", "0"), "a whole number from 1", "0"),
        (("run", "--parallel", "9" * 30), f"a whole number from 1 to {2**53}", "9" * 30),
        (("run", "--max-hours", "nan"), AMOUNT, "nan"),
        (("run", "--budget-usd", "-1"), AMOUNT, "-1"),
        (("run", "--budget-usd", "1e999"), AMOUNT, "1e999"),
        (("logs", "--turn", "0"), "a whole number from 1", "0"),
        (("serve", "--port", "70000"), "a whole number from 0 to 65535", "70000"),
        (("evaluate", "--max-cycles", "-1"), "a whole number from 0", "-1"),
    ],
)
def test_a_number_that_does_not_fit_is_named_with_what_may_be_typed(monkeypatch, capsys, words, wanted, shown):
    assert misuse(monkeypatch, capsys, *words) == (
        f"flyball: {words[1]}: expected {wanted}, but it is {shown}. See: flyball {words[0]} --help"
    )


def test_no_option_leaves_it_to_the_library_to_refuse_a_number(monkeypatch, capsys):
    found = [
        (name, option)
        for name, command in get_command(table.app).commands.items()  # type: ignore[attr-defined]
        for option in command.params
        if {int, float} & set(get_args(hint := get_type_hints(command.callback)[option.name]) or (hint,))
    ]
    assert len(found) > 15
    for name, option in found:
        said = misuse(monkeypatch, capsys, name, option.opts[0], "x")
        assert said.startswith(f"flyball: {option.opts[0]}: expected a "), said


def misuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said of wrong usage, in one line."""
    monkeypatch.setattr(sys, "argv", ["flyball", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err.removesuffix("\n")


def test_without_a_command_the_help_is_shown(tmp_path):
    shown = flyball_program("--help", cwd=tmp_path).stdout
    assert "Usage" in shown
    assert "<bool>" not in shown
    assert flyball_program("--version", cwd=tmp_path).stdout.startswith("flyball ")


def test_an_internal_error_keeps_its_traceback_and_exits_1(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    with pytest.raises(ZeroDivisionError) as raised:
        raise ZeroDivisionError("oh")
    assert table.report_crash(raised.value) == 1
    (kept,) = (tmp_path / "home").glob("crash-*.txt")
    assert "ZeroDivisionError: oh" in kept.read_text()
    said = capsys.readouterr().err
    assert str(kept) in said
    assert "Traceback" not in said


def test_an_error_nobody_foresaw_reaches_no_person_as_a_traceback(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))

    def broken(**_: object) -> int:
        raise KeyError("surprise")

    monkeypatch.setattr(table, "app", broken)
    with pytest.raises(SystemExit) as ended:
        table.run()
    assert ended.value.code == 1
    assert "internal error: KeyError: 'surprise'" in capsys.readouterr().err


def test_where_no_traceback_can_be_kept_it_is_printed(monkeypatch, capsys):
    monkeypatch.setenv("FLYBALL_HOME", "/dev/null/nowhere")
    assert table.report_crash(ValueError("oh")) == 1
    assert "ValueError: oh" in capsys.readouterr().err


def test_what_the_system_refuses_is_no_internal_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    assert table.report_crash(OSError(errno.EROFS, "Read-only file system", "/etc/rules")) == 1
    assert capsys.readouterr().err.startswith("flyball: /etc/rules: Read-only file system. ")
    assert not (tmp_path / "home").exists()


def test_files_that_cannot_be_rendered_are_no_wrong_usage(capsys):
    with pytest.raises(SystemExit) as ended, exits.exit_on_refusal():
        raise LoopFolderUnwritable("full")
    assert ended.value.code == 1
    assert capsys.readouterr().err == "flyball: full\n"


def test_whoever_breaks_off_before_anything_began_reads_no_traceback(monkeypatch, capsys):
    def broken_off() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(table, "run", broken_off)
    monkeypatch.setattr(sys, "argv", ["flyball", "list"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["list"], ["--help"]])
def test_an_output_on_a_full_disk_is_said_in_one_sentence(repository, tmp_path, words):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "flyball", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list((tmp_path / "home").glob("crash-*"))


def test_a_reader_that_closes_the_pipe_causes_no_complaint(told, repository, tmp_path):
    told(short_tdd_run())
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "flyball", "logs", "7"]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=repository, timeout=60
    )
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_closed_standard_output_causes_no_complaint_either(told, repository):
    told(short_tdd_run())
    command = f"exec {shlex.quote(sys.executable)} -m flyball status 7 --json >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, cwd=repository, timeout=60
    )
    assert done.returncode == 141
    assert done.stderr == ""


def with_closed(streams: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = f"exec {shlex.join([sys.executable, '-m', 'flyball', *words])} {streams}"
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=cwd, timeout=300)


GATE = """test=echo '<testsuite><testcase name="old"/></testsuite>' > {junit}"""
RUN = ("run", "y", "--agent-command", "true", "--gate", GATE, "--sandbox", "none", "--max-turns", "1")


@pytest.mark.slow
def test_with_a_closed_standard_input_nobody_attends(repository, site):
    done = with_closed("<&-", *RUN, cwd=repository)
    assert "internal error" not in done.stderr
    assert done.returncode == 4
    assert not site.state(TaskId("001-y")).task.settings.attended


@pytest.mark.parametrize("words", [["status", "nothing"], ["hook", "stop"]])
def test_a_closed_standard_input_has_nothing_to_read(told, repository, words):
    told(short_tdd_run())
    closed, empty = (with_closed(streams, *words, cwd=repository) for streams in ("<&-", "</dev/null"))
    assert (closed.returncode, closed.stdout, closed.stderr) == (empty.returncode, empty.stdout, empty.stderr)


@pytest.mark.parametrize(
    ("streams", "words", "code"),
    [
        ("2>&-", ["status", "7"], 0),
        ("2>&-", ["status", "nothing"], 2),
        (">&-", ["status", "nothing"], 2),
        (">&-", ["--version"], 0),
        (">&-", ["--help"], 0),
        pytest.param(*("2>&-", RUN, 4), marks=pytest.mark.slow),
        pytest.param(*(">&-", RUN, 4), marks=pytest.mark.slow),
        pytest.param(*("<&- >&- 2>&-", RUN, 4), marks=pytest.mark.slow),
    ],
)
def test_a_closed_stream_changes_no_exit_code(told, repository, tmp_path, streams, words, code):
    told(short_tdd_run())
    done = with_closed(streams, *words, cwd=repository)
    assert (done.returncode, list((tmp_path / "home").glob("crash-*"))) == (code, [])


def test_a_reader_of_standard_error_that_has_gone_changes_no_exit_code(repository):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "flyball", "status"]
    done = subprocess.run(command, stderr=writer, check=False, cwd=repository, timeout=300)
    os.close(writer)
    assert done.returncode == 2


def test_task_ids_are_completed_from_the_journal(told, repository, monkeypatch, tmp_path):
    told(short_tdd_run())
    assert task_ids("00") == [("007-parse-rows", "parse the rows")]
    assert task_ids("parse") == [("007-parse-rows", "parse the rows")]
    assert task_ids("x") == []
    monkeypatch.chdir(tmp_path)
    assert task_ids("") == []


def test_the_shell_is_given_ids_and_commands(told, repository):
    told(short_tdd_run())
    env = {**os.environ, "_FLYBALL_COMPLETE": "complete_bash", "COMP_WORDS": "flyball status 0", "COMP_CWORD": "2"}
    program = Path(sys.executable).with_name("flyball")
    done = subprocess.run([program], env=env, cwd=repository, capture_output=True, text=True, check=False, timeout=60)
    assert "007-parse-rows" in done.stdout
