"""Programs that do not want to end, or leave others behind."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from tests.process.held_clock import hold_time

from flyball.warden import processes

if TYPE_CHECKING:
    from tests.process.conftest import Scene

FOR_EVER = "while True: time.sleep(60)\n"
UP = "open('up', 'w').close()\n"
UNTIL_LATE = "until = time.monotonic() + 120\nwhile time.monotonic() < until:\n"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@pytest.fixture
def held(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A scene whose time limits count from when its program has made the file `up`."""
    hold_time(monkeypatch, scene.folder / "up")
    return scene


def test_a_program_that_never_ends_is_ended_at_its_wall_clock_limit(held: Scene) -> None:
    ended = held.run(["sh", "-c", "echo begun; : > up; sleep 600"], wall=1.5)
    assert (ended.ended_by, ended.signal, ended.stdout_tail) == ("wall", signal.SIGTERM, b"begun\n")
    assert ended.seconds >= 1.5
    assert "time limit of 1.5 s" in ended.detail
    assert not held.alive()


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(scene: Scene) -> None:
    ended = scene.run(DEAF + UP + FOR_EVER, stop=scene.stop_when(scene.folder.joinpath("up").exists), grace=0.3)
    assert (ended.ended_by, ended.signal) == ("stop", signal.SIGKILL)
    assert not scene.alive()


def test_a_program_may_tidy_up_on_sigterm_and_keeps_its_exit_code(scene: Scene) -> None:
    tidy = "signal.signal(signal.SIGTERM, lambda *_: (print('tidied', flush=True), sys.exit(5)))\n"
    ended = scene.run(tidy + UP + FOR_EVER, stop=scene.stop_when(scene.folder.joinpath("up").exists), grace=60)
    assert (ended.ended_by, ended.code, ended.stdout_tail) == ("stop", 5, b"tidied\n")


def test_a_stopped_program_is_ended_too(scene: Scene) -> None:
    ended = scene.run("os.kill(os.getpid(), signal.SIGSTOP)\n" + FOR_EVER, wall=1.0, grace=60)
    assert (ended.ended_by, ended.signal) == ("wall", signal.SIGTERM)


def test_silence_ends_a_program_at_its_idle_limit(held: Scene) -> None:
    ended = held.run(["sh", "-c", "echo word; : > up; sleep 600"], idle=1.5, wall=60)
    assert (ended.ended_by, ended.stdout_tail) == ("idle", b"word\n")
    assert "1.5 s without output" in ended.detail


def test_output_on_either_stream_holds_the_idle_limit_off(held: Scene) -> None:
    talk = UP + "for n in range(20):\n    os.write(1 + n % 2, b'.')\n    time.sleep(0.1)\n"
    ended = held.run(talk, idle=1.5)
    assert (ended.ended_by, ended.code) == ("exit", 0)


def test_time_limits_do_not_touch_a_program_that_has_already_ended(held: Scene) -> None:
    ended = held.run(["sh", "-c", ": > up; sleep 60 &"], wall=1.5, idle=1.5, linger=1.8)
    assert (ended.ended_by, ended.code, ended.strays) == ("exit", 0, 1)


def test_a_daemon_that_holds_stdout_open_does_not_outlive_the_turn(scene: Scene) -> None:
    source = scene.daemon("[print('still here', flush=True) or time.sleep(0.05) for _ in range(10000)]")
    ended = scene.run(source, linger=0.3, wall=60)
    assert (ended.ended_by, ended.code, ended.strays) == ("exit", 0, 1)
    assert "left running by it and ended: 1" in ended.detail
    assert not scene.alive()


def test_a_daemon_that_closed_everything_and_ignores_sigterm_is_found_and_killed(scene: Scene) -> None:
    hide = DEAF + scene.daemon("(os.closerange(0, 100), open('hidden', 'w').write('yes'), time.sleep(60))")
    await_it = "while not os.path.exists('hidden'): time.sleep(0.01)\n"
    ended = scene.run(hide + await_it, linger=0.3, grace=0.2)
    assert (ended.code, ended.strays) == (0, 1)
    assert not scene.alive()


def test_what_ends_by_itself_within_the_linger_time_is_no_stray_and_is_heard(scene: Scene) -> None:
    ended = scene.run(["sh", "-c", "(sleep 0.2; echo last words) & echo first"], linger=5)
    assert (ended.stdout_tail, ended.strays) == (b"first\nlast words\n", 0)


def test_a_whole_tree_of_children_each_in_its_own_session_is_ended(scene: Scene) -> None:
    tree = (
        DEAF
        + "for _ in range(5):\n    if os.fork() == 0: os.setsid()\nopen(f'up{os.getpid()}', 'w').close()\n"
        + FOR_EVER
    )
    whole = scene.stop_when(lambda: len(list(scene.folder.glob("up*"))) == 32)
    ended = scene.run(tree, stop=whole, grace=0.2)
    assert ended.ended_by == "stop"
    assert not scene.alive()


def test_a_program_that_forks_and_exits_for_ever_is_caught(scene: Scene) -> None:
    runner = DEAF + UNTIL_LATE + "    if os.fork(): os._exit(0)\n    os.setsid()\n"
    ended = scene.run(runner, linger=0.2, grace=0.1)
    assert (ended.ended_by, ended.code) == ("exit", 0)
    assert ended.strays
    assert "could not be ended" not in ended.detail
    assert not scene.alive()


def test_a_fork_storm_is_ended(scene: Scene) -> None:
    # Each process keeps starting others, and replaces those that end; bounded, since other tests share the machine.
    crowd = len(processes()) + 120
    storm = (
        DEAF
        + "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        + UNTIL_LATE
        + f"    if len(os.listdir('/proc')) < {crowd} and os.fork() == 0: os.setsid()\n"
        + "    time.sleep(0.02)\n"
    )
    ended = scene.run(storm, stop=scene.stop_when(lambda: len(scene.alive()) > 50), grace=0.1)
    assert (ended.ended_by, ended.signal) == ("stop", signal.SIGKILL)
    assert "could not be ended" not in ended.detail
    assert not scene.alive()
