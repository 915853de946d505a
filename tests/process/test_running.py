"""What a program is given, and what is heard of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flyball.process import Exit, ProgramMissing, StopFlag, capture, run
from flyball.warden import processes

if TYPE_CHECKING:
    from tests.process.conftest import Scene

FOR_EVER = "while True: time.sleep(60)\n"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def test_exit_code_output_and_input_are_reported(scene: Scene) -> None:
    ended = scene.run(
        "data = sys.stdin.read(); print(data.upper()); print('oops', file=sys.stderr); sys.exit(7)", stdin=b"abc"
    )
    assert (ended.code, ended.signal, ended.ended_by, ended.strays) == (7, None, "exit", 0)
    assert (ended.stdout_tail, ended.stderr_tail) == (b"ABC\n", b"oops\n")
    assert (ended.stdout_bytes, ended.stderr_bytes) == (4, 5)
    assert ended.seconds > 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_program_ended_by_a_signal_says_which(scene: Scene, number: int) -> None:
    ended = scene.run(f"os.kill(os.getpid(), {int(number)})")
    assert (ended.code, ended.signal, ended.ended_by) == (None, number, "exit")


def test_the_environment_is_exactly_what_was_given(scene: Scene) -> None:
    ended = scene.run(["env", "-0"])
    assert set(ended.stdout_tail.split(b"\0")) - {b""} == {f"{k}={v}".encode() for k, v in scene.env.items()}


def test_arguments_and_environment_arrive_unchanged(scene: Scene) -> None:
    odd = ["", " two words ", "-I", "naïve \udcff", "new\nline", "a=b"]
    scene.env["ODD"] = "x=y\n\udcfe"
    program = scene.program("for text in [*sys.argv[1:], os.environ['ODD']]: os.write(1, os.fsencode(text) + b'\\0')")
    ended = scene.run([*program, *odd])
    assert ended.stdout_tail == b"".join(os.fsencode(text) + b"\0" for text in [*odd, scene.env["ODD"]])


def test_the_program_inherits_no_descriptor_but_the_three(scene: Scene) -> None:
    with (scene.folder / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        ended = scene.run("print(sorted(os.listdir('/proc/self/fd'))[:-1])")
    assert ended.stdout_tail == b"['0', '1', '2']\n"


def test_the_program_has_default_signals_whatever_the_controller_blocks_or_ignores(scene: Scene) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        ended = scene.run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])
    finally:
        signal.signal(signal.SIGUSR2, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
    # 32 and 33 are the C library's own: nobody can set them, and a parent's setting is inherited.
    reserved = (1 << 31) | (1 << 32)
    assert [int(line.split()[1], 16) & ~reserved for line in ended.stdout_tail.splitlines()] == [0, 0]


def test_the_program_leads_a_session_of_its_own(scene: Scene) -> None:
    ended = scene.run("print(os.getpid(), os.getpgrp(), os.getsid(0))")
    assert len(set(ended.stdout_tail.split())) == 1


def test_output_is_spilled_whole_and_its_tail_kept(scene: Scene) -> None:
    out, err = scene.folder / "out.log", scene.folder / "err.log"
    out.write_bytes(b"earlier\n")
    ended = scene.run("for n in range(20000): print(n); print(-n, file=sys.stderr)", stdout=out, stderr=err)
    whole = "".join(f"{n}\n" for n in range(20000)).encode()
    assert out.read_bytes() == b"earlier\n" + whole
    assert err.read_bytes() == "".join(f"{-n}\n" for n in range(20000)).encode()
    assert ended.stdout_tail == whole[-64 * 1024 :]
    assert ended.stdout_bytes == len(whole)


def test_binary_output_is_kept_byte_for_byte(scene: Scene) -> None:
    out = scene.folder / "out.log"
    heard: list[tuple[str, bytes]] = []
    ended = scene.run(
        "os.write(1, bytes(range(256)) * 1000)", stdout=out, on_output=lambda name, chunk: heard.append((name, chunk))
    )
    assert out.read_bytes() == bytes(range(256)) * 1000
    assert ended.stdout_tail == (bytes(range(256)) * 1000)[-64 * 1024 :]
    assert b"".join(chunk for name, chunk in heard if name == "stdout") == out.read_bytes()


def test_output_beyond_the_limit_is_drained_but_not_stored(scene: Scene) -> None:
    out = scene.folder / "out.log"
    ended = scene.run("os.write(1, b'a' * 300_000); os.write(1, b'end')", stdout=out, max_bytes=100_000)
    stored = out.read_bytes()
    assert (ended.code, ended.stdout_bytes) == (0, 300_003)
    assert stored.startswith(b"a" * 100_000 + b"\n[flyball: ")
    assert stored.endswith(b"no more of it is kept]\n")
    assert len(stored) < 100_200
    assert ended.stdout_tail.endswith(b"aend")


@pytest.mark.slow
def test_300_mb_of_output_are_stored_in_constant_memory(scene: Scene) -> None:
    out = scene.folder / "out.log"
    source = f"""
import resource
from pathlib import Path
from flyball.process import run
def go(size):
    return run(["head", "-c", str(size), "/dev/zero"], cwd=Path("."), env={scene.env!r}, stdout=Path({str(out)!r}))
go(1_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ended = go(300_000_000)
print(ended.stdout_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", source], cwd=scene.folder, capture_output=True, text=True, check=True)
    size, growth_in_kb = map(int, done.stdout.split())
    assert size == 300_000_000
    assert out.stat().st_size == 301_000_000
    assert growth_in_kb < 4096


def test_a_program_that_never_reads_a_large_prompt_ends_all_the_same(scene: Scene) -> None:
    ended = scene.run("time.sleep(0.3); print('done')", stdin=b"x" * 1_000_000, wall=60)
    assert (ended.code, ended.stdout_tail, ended.ended_by) == (0, b"done\n", "exit")


def test_a_large_prompt_is_read_while_output_is_written(scene: Scene) -> None:
    ended = scene.run(["cat"], stdin=b"0123456789" * 300_000, wall=60)
    assert (ended.code, ended.stdout_bytes) == (0, 3_000_000)


def test_a_program_that_closes_its_input_is_no_error(scene: Scene) -> None:
    ended = scene.run("os.close(0); time.sleep(0.3); print('fine')", stdin=b"x" * 1_000_000, wall=60)
    assert (ended.code, ended.stdout_tail) == (0, b"fine\n")


def test_without_a_prompt_input_is_at_its_end(scene: Scene) -> None:
    assert scene.run(["cat"], wall=60).code == 0


def test_a_program_that_closes_its_output_goes_on_until_it_ends(scene: Scene) -> None:
    ended = scene.run("os.closerange(0, 3); time.sleep(0.5); os._exit(9)", wall=60)
    assert (ended.code, ended.ended_by) == (9, "exit")


def test_a_missing_program_is_named_with_what_to_do(scene: Scene) -> None:
    ended = scene.run(["no-such-agent", "--go"])
    assert (ended.ended_by, ended.code, ended.signal) == ("missing", None, None)
    assert "'no-such-agent' was not found on PATH" in ended.detail
    assert "install it" in ended.detail


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (None, 0, "does not exist"),
        ("#!/bin/sh\n", 0o644, "chmod +x"),
        ("#!/no/such/shell\n", 0o755, "interpreter"),
        ("just text", 0o755, "#!/bin/sh"),
    ],
)
def test_a_program_that_cannot_be_executed_says_why(scene: Scene, text: str | None, mode: int, words: str) -> None:
    path = scene.folder / "agent"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    ended = scene.run([str(path)])
    assert ended.ended_by == "missing"
    assert str(path) in ended.detail
    assert words in ended.detail
    with pytest.raises(ProgramMissing, match=words.replace("+", r"\+")):
        capture([str(path)], cwd=scene.folder, env=scene.env)


def test_a_missing_folder_is_not_taken_for_a_missing_program(scene: Scene) -> None:
    ended = run(["true"], cwd=scene.folder / "nowhere", env=scene.env)
    assert ended.ended_by == "missing"
    assert "nowhere cannot be entered" in ended.detail


@pytest.mark.parametrize(("argv", "env"), [([], {}), (["true"], {"A=B": "c"}), (["tr\0ue"], {}), (["true"], {"": "x"})])
def test_what_no_program_can_be_given_is_refused_before_anything_starts(
    tmp_path: Path, argv: list[str], env: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"empty|NUL|="):
        run(argv, cwd=tmp_path, env=env)


def test_parallel_runs_do_not_end_each_others_children(scene: Scene) -> None:
    ends: dict[str, Exit] = {}
    work = scene.daemon("(time.sleep(0.8), open('outlived', 'w').write('yes'))")
    work += "while not os.path.exists('outlived'): time.sleep(0.01)\ntime.sleep(0.2)\n"
    patient, hasty = scene.program(work), scene.program(FOR_EVER)
    threads = [
        threading.Thread(target=lambda: ends.update(patient=scene.run(patient, wall=60))),
        threading.Thread(target=lambda: ends.update(hasty=scene.run(hasty, wall=0.3))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (ends["hasty"].ended_by, ends["patient"].code, ends["patient"].strays) == ("wall", 0, 0)
    assert (scene.folder / "outlived").read_text() == "yes"


def test_an_error_in_the_callers_own_code_still_ends_the_tree(scene: Scene) -> None:
    def fail(name: str, chunk: bytes) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scene.run("print('x', flush=True)\n" + DEAF + FOR_EVER, on_output=fail, grace=0.2)
    assert not scene.alive()


def test_a_full_disk_is_told_and_ends_the_tree(scene: Scene) -> None:
    with pytest.raises(OSError, match="No space left"):
        scene.run("print('x', flush=True)\n" + FOR_EVER, stdout=Path("/dev/full"))
    assert not scene.alive()


def test_runs_leave_no_descriptor_and_no_zombie_behind(scene: Scene) -> None:
    scene.run(["true"])
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        scene.run(["true"], stdin=b"x", stop=StopFlag())
        scene.run(["no-such-program"])
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not [process for process in processes() if process.parent == os.getpid() and process.state == "Z"]
