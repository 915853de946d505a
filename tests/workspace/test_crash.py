"""SIGKILL in the middle of a checkpoint, a restore or a publication: the repeat succeeds and nothing stale is left."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from flyball.core.task import Commit
from flyball.workspace import GitWorkspace, Repository

CHILD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from flyball.workspace import GitWorkspace, Repository

root, home = map(Path, sys.argv[1:])
workspace = GitWorkspace(Repository.find(root), home, "001-thing")
print("go", flush=True)
workspace.prepare()
workspace.snapshot("one", "m", datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
workspace.restore("base")
workspace.restore("one")
workspace.publish(workspace.resolve("one"))
print("end", flush=True)
"""


def wait_for_git(home):
    """Orphaned git children end by themselves; they must not disturb the repeat either, but the test reads files."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(str(home).encode() in line for line in command_lines()):
        time.sleep(0.02)


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()


@pytest.mark.req("C61")
@pytest.mark.parametrize("position", range(10))
def test_a_kill_at_any_moment_is_healed_by_doing_it_again(user, workspace, home, at, position):
    for number in range(200):
        (workspace.root / f"f{number}").write_text(f"{number}\n")
    begun = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(user.root), str(home)], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"go\n"
    time.sleep(0.03 + 0.09 * position)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert time.monotonic() - begun < 10
    wait_for_git(home)
    again = GitWorkspace(Repository.find(user.root), home, workspace.task)
    again.prepare()
    if "one" in again.checkpoints:
        again.restore("one")
    saved = again.snapshot("one", "m", at)
    again.restore("one")
    again.publish(saved.commit)
    assert saved.parent == again.base
    assert again.vault.git().line("rev-list", "--count", f"{again.base}..{saved.commit}") == "1"
    assert {f"f{number}" for number in range(200)} < set(again.list_files(Commit(saved.commit)))
    assert user.git("rev-parse", "flyball/001-thing") == saved.commit
    assert not list((user.root / ".git").rglob("*.lock"))
    assert not list(again.checkout.folder.glob("scratch-*"))
    assert user.git("status", "--porcelain") == ""
    user.git("fsck", "--strict")


def test_locks_of_a_killed_git_in_the_vault_are_no_obstacle(workspace, at):
    refs = workspace.vault.git_dir / "refs" / "flyball"
    (refs / "001-thing" / "tip.lock").write_text("")
    workspace.checkout.index.with_name("index.lock").write_text("")
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.tip == saved.commit
    assert not list(refs.rglob("*.lock"))
