"""What is looked at after a run: the branch it left, and the processes it did not."""

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.live.conftest import DOCUMENT, GATE, Live
from tests.support.model_server import ModelServer

from flyball.core.model.outcomes import TurnEnded
from flyball.warden import processes

PATIENCE_S = 180.0


def published(live: Live, branch: str, path: str) -> str:
    """A file as the task's branch has it."""
    words = ["git", "show", f"{branch}:{path}"]
    return subprocess.run(
        words, cwd=live.repository, env=live.environment(), check=True, capture_output=True
    ).stdout.decode()


def files(live: Live, branch: str) -> set[str]:
    """What the task's branch holds."""
    words = ["git", "ls-tree", "-r", "--name-only", branch]
    listed = subprocess.run(words, cwd=live.repository, env=live.environment(), check=True, capture_output=True)
    return set(listed.stdout.decode().splitlines())


def terminated(live: Live, agent: str, server: ModelServer, *words: str, env: Mapping[str, str]) -> int:
    """Run a task until its agent has asked the model, then end it with SIGTERM; its exit code."""
    source = live.folder / "prp.md"
    source.write_text(DOCUMENT)
    asked = ("run", "--from", str(source), "--agent", agent, "--gate", GATE, "--unattended", "--json")
    running = subprocess.Popen(
        [sys.executable, "-m", "flyball", *asked, "--workflow", "tdd", *words],
        cwd=live.repository,
        env=live.environment(env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not server.taken and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.taken, "the agent never asked the model"
        running.send_signal(signal.SIGTERM)
        return running.wait(PATIENCE_S)
    finally:
        running.kill()
        running.wait()


def tokens(turn: TurnEnded) -> tuple[int, int]:
    """What a turn read and wrote."""
    return turn.usage.input_tokens, turn.usage.output_tokens


def left_behind(live: Live) -> list[str]:
    """Programs that still run with this test's HOME."""
    mark = f"HOME={live.home}".encode()
    return [name for process in processes() if (name := _named(process.pid, mark))]


def _named(pid: int, mark: bytes) -> str:
    folder = Path(f"/proc/{pid}")
    try:
        if mark not in (folder / "environ").read_bytes().split(b"\0"):
            return ""
        return (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
