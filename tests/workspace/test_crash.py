"""SIGKILL in the middle of a checkpoint, a restore or a publication: the repeat succeeds and nothing stale is left."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from flyball.core.model.task import Commit, TaskId
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace

CHILD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from flyball.workspace.workspace import GitWorkspace
from flyball.workspace.repository import Repository

root, home = map(Path, sys.argv[1:])
workspace = GitWorkspace(Repository.find(root), home, "001-thing")
workspace.prepare()
workspace.snapshot("one", "m", datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
workspace.restore("base")
workspace.restore("one")
workspace.publish(workspace.resolve("one"))
"""


def wait_for_git(home):
    """Orphaned git children end by themselves; they must not disturb the repeat either, but the test reads files."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(str(home).encode() in line for line in command_lines()):
        time.sleep(0.02)


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()


def deadly_git(folder, call):
    """A git that kills its caller from the so-manieth call on, when it has just begun; at odd calls it dies too."""
    folder.mkdir()
    calls, program, real = folder / "calls", folder / "git", shutil.which("git")
    victims = "$PPID 0" if call % 2 else "$PPID"
    program.write_text(
        f"#!/bin/sh\necho >> {calls}\n"
        f'[ "$(wc -l < {calls})" -lt {call} ] || {{ {real} "$@" & kill -KILL {victims}; exit; }}\n'
        f'exec {real} "$@"\n'
    )
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.req("C61")
def test_a_kill_at_any_moment_is_healed_by_doing_it_again(new_user, tmp_path, at):
    for call in range(3, 1000, 4):
        user, home = new_user(f"project-{call}"), tmp_path / f"home-{call}"
        user.write("b.txt")
        user.commit("Start")
        workspace = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"))
        workspace.prepare()
        for number in range(200):
            (workspace.root / f"f{number}").write_text(f"{number}\n")
        killed = subprocess.run(
            [sys.executable, "-c", CHILD, str(user.root), str(home)],
            env=deadly_git(tmp_path / f"deadly-{call}", call),
            start_new_session=True,
            check=False,
        )
        if killed.returncode == 0:
            break
        assert killed.returncode == -signal.SIGKILL
        wait_for_git(home)
        assert_healed(user, home, at)
    assert call > 20


def assert_healed(user, home, at):
    again = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"))
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
