"""Short commands that are trusted to end."""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from flyball.process import CommandTimedOut, ProgramMissing, capture, capturing, kill_captured

if TYPE_CHECKING:
    from tests.process.conftest import Scene


def test_capture_gives_code_and_output(scene: Scene) -> None:
    captured = capture(["sh", "-c", "cat; echo oops >&2; exit 3"], cwd=scene.folder, env=scene.env, input=b"in")
    assert (captured.code, captured.stdout, captured.stderr) == (3, b"in", b"oops\n")


def test_capture_kills_what_does_not_end_in_time(scene: Scene) -> None:
    with pytest.raises(CommandTimedOut, match=r"sleep 60.*did not end within 0.3 s"):
        capture(["sh", "-c", "trap '' TERM; sleep 60 & sleep 60"], cwd=scene.folder, env=scene.env, timeout=0.3)
    assert scene.becomes_empty()


@pytest.mark.parametrize(
    ("script", "stdout"),
    [
        ("head -c 300000 /dev/zero >&2; echo out", b"out\n"),
        ("head -c 300000 /dev/zero", b"\0" * 100_000),
        ("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero", b"\0" * 100_000),
    ],
    ids=["much on standard error first", "more than is taken", "both"],
)
def test_of_a_command_that_says_much_no_more_is_taken_and_it_ends(scene: Scene, script: str, stdout: bytes) -> None:
    captured = capture(["sh", "-c", script], cwd=scene.folder, env=scene.env, most=100_000, timeout=20)
    assert captured.stdout == stdout
    assert scene.becomes_empty()


def test_a_command_of_which_so_much_is_taken_is_ended_in_time(scene: Scene) -> None:
    with pytest.raises(CommandTimedOut, match=r"did not end within 0.3 s"):
        capture(["sh", "-c", "echo x; sleep 60"], cwd=scene.folder, env=scene.env, timeout=0.3, most=100_000)
    assert scene.becomes_empty()


def test_who_ends_without_waiting_leaves_no_short_command_behind(scene: Scene) -> None:
    ends: list[int] = []
    argv = ["sh", "-c", "trap '' TERM; sleep 60 & sleep 60"]
    thread = threading.Thread(target=lambda: ends.append(capture(argv, cwd=scene.folder, env=scene.env).code))
    thread.start()
    assert scene.eventually(lambda: len(scene.alive()) == 3)
    kill_captured()
    thread.join(60)
    assert ends == [-signal.SIGKILL]
    assert scene.becomes_empty()


def test_who_ends_without_waiting_leaves_no_command_behind_that_is_just_being_started(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine may let the command run for a while before it is known here that it was started."""
    ends: list[int] = []
    started = threading.Event()

    class Slow(capturing._Prompt):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.set()
            time.sleep(0.3)

    monkeypatch.setattr(capturing, "_Prompt", Slow)
    thread = threading.Thread(
        target=lambda: ends.append(capture(["sleep", "60"], cwd=scene.folder, env=scene.env).code)
    )
    thread.start()
    assert started.wait(60)
    kill_captured()
    thread.join(20)
    assert ends == [-signal.SIGKILL]


def test_capture_names_a_missing_program_and_a_missing_folder(scene: Scene) -> None:
    with pytest.raises(ProgramMissing, match="not found on PATH"):
        capture(["no-such-git"], cwd=scene.folder, env=scene.env)
    with pytest.raises(ProgramMissing, match="nowhere cannot be entered"):
        capture(["true"], cwd=scene.folder / "nowhere", env=scene.env)
