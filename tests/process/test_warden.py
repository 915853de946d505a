"""The warden outlives nobody and leaves nobody: whoever is killed, the tree ends."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flyball import warden
from flyball.process import Exit, WardenFailed, run
from flyball.warden import Process, descendants, processes

if TYPE_CHECKING:
    from tests.process.conftest import Scene

FOR_EVER = "while True: time.sleep(60)\n"
UNTIL_LATE = "until = time.monotonic() + 120\nwhile time.monotonic() < until:\n"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
SAY_PIDS = "open('pids.new', 'w').write(f'{os.getpid()} {os.getppid()}'); os.rename('pids.new', 'pids')\n"


def controller(scene: Scene, source: str, options: str = "", before: str = "") -> subprocess.Popen[bytes]:
    """A process of its own that runs the program and can be killed."""
    argv = scene.program(source)
    text = f"""
from pathlib import Path
from flyball.process import run
{before}
run({argv!r}, cwd=Path({str(scene.folder)!r}), env={scene.env!r}, {options})
"""
    return subprocess.Popen([sys.executable, "-c", text])


def pids(scene: Scene) -> tuple[int, int]:
    """The program and its warden."""
    program, keeper = scene.appears("pids").split()
    return int(program), int(keeper)


def exists(pid: int) -> bool:
    return any(process.pid == pid and process.state not in "ZX" for process in processes())


def none_exist(pids: list[int]) -> bool:
    return not any(map(exists, pids))


def in_thread(scene: Scene, source: str, **options: Any) -> tuple[threading.Thread, list[Exit]]:
    ends: list[Exit] = []
    thread = threading.Thread(target=lambda: ends.append(scene.run(source, **options)))
    thread.start()
    return thread, ends


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_controller_is_killed_nothing_it_started_is_left(scene: Scene, number: int) -> None:
    process = controller(scene, DEAF + scene.daemon("time.sleep(60)") + SAY_PIDS + FOR_EVER)
    _, keeper = pids(scene)
    assert len(scene.alive()) == 2
    process.send_signal(number)
    process.wait()
    assert scene.becomes_empty()
    assert scene.eventually(lambda: not exists(keeper))


def test_when_the_controller_is_killed_at_once_nothing_is_left(scene: Scene) -> None:
    for delay in (0.05, 0.1, 0.12, 0.14, 0.16, 0.2):
        process = controller(scene, FOR_EVER)
        time.sleep(delay)
        process.send_signal(signal.SIGSTOP)
        below = [each.pid for each in descendants({process.pid}, processes())]
        process.kill()
        process.wait()
        assert scene.eventually(partial(none_exist, below))
        assert not scene.alive()


def test_a_lock_held_for_the_run_is_free_only_when_the_last_descendant_is_gone(scene: Scene) -> None:
    lock = scene.folder / "lock"
    hold = f"import fcntl; lock = open({str(lock)!r}, 'w'); fcntl.flock(lock, fcntl.LOCK_EX)"
    process = controller(scene, DEAF + SAY_PIDS + FOR_EVER, "hold_fds=[lock.fileno()]", hold)
    program, keeper = pids(scene)
    assert str(lock) not in {os.path.realpath(fd) for fd in Path(f"/proc/{program}/fd").iterdir()}
    os.kill(keeper, signal.SIGSTOP)
    process.kill()
    process.wait()
    with lock.open() as mine:
        with pytest.raises(BlockingIOError):
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert scene.alive()
        os.kill(keeper, signal.SIGCONT)
        fcntl.flock(mine, fcntl.LOCK_EX)
        assert not scene.alive()


def test_when_the_warden_is_killed_the_program_ends_and_the_run_says_so(scene: Scene) -> None:
    thread, ends = in_thread(scene, DEAF + scene.daemon("time.sleep(60)") + SAY_PIDS + FOR_EVER)
    _, keeper = pids(scene)
    os.kill(keeper, signal.SIGKILL)
    thread.join(60)
    assert (ends[0].code, ends[0].signal, ends[0].ended_by) == (None, signal.SIGKILL, "exit")
    assert "warden was killed" in ends[0].detail
    assert ends[0].strays == 1
    assert not scene.alive()


def test_when_controller_and_warden_are_killed_the_program_ends_with_them(scene: Scene) -> None:
    process = controller(scene, DEAF + SAY_PIDS + FOR_EVER)
    _, keeper = pids(scene)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(keeper, signal.SIGKILL)
    process.kill()
    process.wait()
    assert scene.becomes_empty()


def test_a_program_too_quick_for_any_list_of_processes_is_overtaken(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = Path(warden.__file__).read_text() + "\n\ndef processes() -> list[Process]:\n    return []\n"
    (scene.folder / "warden.py").write_text(blind)
    monkeypatch.setattr(warden, "__file__", str(scene.folder / "warden.py"))
    runner = DEAF + UNTIL_LATE + "    if os.fork(): os._exit(0)\n    os.setsid()\n"
    ended = scene.run(runner, linger=0.1, grace=0.1)
    assert (ended.code, ended.strays > 0) == (0, True)
    assert "could not be ended" not in ended.detail
    assert not scene.alive()


SLOW_TO_TELL = """

def tell_late(self, line, tell=Warden.tell):
    time.sleep(0.5 if line.startswith(b"started") else 0)
    tell(self, line)


Warden.tell = tell_late
"""


@pytest.mark.parametrize("more", ["", SLOW_TO_TELL], ids=["quick", "slow to tell"])
def test_a_program_that_kills_its_warden_does_not_get_away(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    (scene.folder / "warden.py").write_text(Path(warden.__file__).read_text() + more)
    monkeypatch.setattr(warden, "__file__", str(scene.folder / "warden.py"))
    ended = scene.run(scene.daemon("time.sleep(60)") + "os.kill(os.getppid(), signal.SIGKILL)\n" + FOR_EVER)
    assert ended.signal == signal.SIGKILL
    assert not scene.alive()


def test_a_warden_asked_to_end_ends_its_tree(scene: Scene) -> None:
    thread, ends = in_thread(scene, SAY_PIDS + FOR_EVER)
    _, keeper = pids(scene)
    os.kill(keeper, signal.SIGTERM)
    thread.join(60)
    assert ends[0].signal == signal.SIGTERM
    assert not scene.alive()


def test_a_killed_warden_does_not_take_another_runs_program_with_it(scene: Scene) -> None:
    other, other_ends = in_thread(scene, "time.sleep(1.2)\nprint('whole')")
    assert scene.eventually(scene.alive)
    scene.run("os.kill(os.getppid(), signal.SIGKILL)\n" + FOR_EVER)
    other.join(60)
    assert (other_ends[0].code, other_ends[0].stdout_tail) == (0, b"whole\n")


def test_an_interrupt_from_the_terminal_does_not_reach_the_program(scene: Scene) -> None:
    thread, ends = in_thread(scene, "print(os.getpgrp(), os.getsid(0), os.getpgid(os.getppid()))")
    thread.join(60)
    groups = {int(number) for number in ends[0].stdout_tail.split()}
    assert len(groups) == 2
    assert os.getpgrp() not in groups


def test_a_warden_that_cannot_work_is_an_error_with_its_words(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warden, "__file__", str(scene.folder / "warden.py"))
    (scene.folder / "warden.py").write_text("raise SystemExit('broken on purpose')")
    with pytest.raises(WardenFailed, match="broken on purpose"):
        run(["true"], cwd=scene.folder, env=scene.env)


def test_the_warden_starts_without_heavy_imports() -> None:
    source = f"import sys; sys.path.append({str(Path(warden.__file__).parent)!r}); import warden; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, check=True)
    heavy = {"flyball", "typing", "enum", "re", "pathlib", "subprocess", "socket", "json", "collections", "signal"}
    assert not heavy & set(loaded.stdout.split())


def test_a_name_with_blanks_and_parentheses_does_not_confuse_the_process_table() -> None:
    process = Process(7, b"7 (a) (b) S 9) R 3 4 5 0 -1 4194560")
    assert (process.state, process.parent, process.group, process.session) == ("R", 3, 4, 5)


def test_descendants_are_found_at_any_depth_and_the_dead_are_left_out() -> None:
    table = [
        Process(pid, b"%d (x) %s %d 0 0 0" % (pid, state, parent))
        for pid, parent, state in [(2, 1, b"S"), (3, 2, b"Z"), (4, 3, b"R"), (5, 9, b"S"), (6, 4, b"T")]
    ]
    assert {process.pid for process in descendants({1}, table)} == {2, 4, 6}
