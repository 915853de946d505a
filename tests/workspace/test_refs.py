"""Refs of the vault are read and moved as git does, and whatever is not plain is left to git."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flyball.workspace import GitWorkspace, Repository, refs
from flyball.workspace.errors import GitFailed
from flyball.workspace.refs import NotPlain, RefUpdate

PREFIX = "refs/flyball/001-thing/"
KILLED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from flyball.workspace import GitWorkspace, Repository

workspace = GitWorkspace(Repository.find(Path(sys.argv[1])), Path(sys.argv[2]), "001-thing")
workspace.prepare()
workspace.snapshot("one", "m", datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
"""


def told_by_git(workspace):
    listing = workspace.vault.git().out("for-each-ref", "--format=%(refname) %(objectname)", PREFIX)
    return dict(line.split(" ") for line in listing.decode().splitlines())


def test_refs_are_read_as_git_reads_them_packed_or_not(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.snapshot("one", "m", at)
    assert refs.read(workspace.vault.git_dir, PREFIX) == told_by_git(workspace)
    workspace.vault.git().out("pack-refs", "--all")
    assert refs.read(workspace.vault.git_dir, PREFIX) == told_by_git(workspace)
    (workspace.root / "b.txt").write_text("again\n")
    workspace.snapshot("two", "m", at)
    assert refs.read(workspace.vault.git_dir, PREFIX) == told_by_git(workspace)
    assert sorted(workspace.checkpoints) == ["one", "two"]


def test_refs_of_nothing_are_none(workspace):
    assert refs.read(workspace.vault.git_dir, "refs/flyball/999-absent/") == {}


@pytest.mark.parametrize("content", [b"", b"ref: refs/heads/none\n", b"\xff\xfe"])
def test_a_ref_that_holds_no_id_is_left_to_git(workspace, content):
    (workspace.vault.git_dir / PREFIX / "odd").write_bytes(content)
    with pytest.raises(NotPlain):
        refs.read(workspace.vault.git_dir, PREFIX)
    assert workspace.tip == workspace.base


def test_a_ref_moves_only_from_where_it_is_said_to_stand_and_then_all_stay(workspace):
    git_dir, base = workspace.vault.git_dir, workspace.base
    free = RefUpdate(f"{PREFIX}at/free", base, None)
    for wrong in (RefUpdate(f"{PREFIX}tip", base, "1" * 40), RefUpdate(f"{PREFIX}tip", base, None)):
        assert not refs.move(git_dir, [free, wrong])
        with pytest.raises(GitFailed):
            workspace.vault.move([free, wrong])
    assert set(told_by_git(workspace)) == {f"{PREFIX}tip", f"{PREFIX}base"}
    assert not list((git_dir / "refs").rglob("*.lock"))
    assert refs.move(git_dir, [free])
    assert told_by_git(workspace)[free.ref] == base


def test_a_packed_ref_moves_too(workspace, at):
    workspace.vault.git().out("pack-refs", "--all")
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    assert told_by_git(workspace) == {
        f"{PREFIX}tip": saved.commit,
        f"{PREFIX}base": workspace.base,
        f"{PREFIX}at/one": saved.commit,
    }


def test_a_folder_where_a_ref_must_be_is_left_to_git(workspace):
    (workspace.vault.git_dir / PREFIX / "at" / "one").mkdir(parents=True)
    wanted = [RefUpdate(f"{PREFIX}at/one", workspace.base, None)]
    assert not refs.move(workspace.vault.git_dir, wanted)
    workspace.vault.move(wanted)
    assert told_by_git(workspace)[f"{PREFIX}at/one"] == workspace.base


@pytest.mark.req("C61")
def test_a_kill_between_a_label_and_the_tip_is_healed_by_doing_it_again(user, workspace: GitWorkspace, home: Path, at):
    (workspace.root / "b.txt").write_text("changed\n")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(user.root), str(home)],
        env={**os.environ, "FLYBALL_FAULT_KILL": "vault.refs.inside:1"},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = GitWorkspace(Repository.find(user.root), home, workspace.task)
    again.prepare()
    assert again.tip == again.base
    saved = again.snapshot("one", "m", at)
    assert again.checkpoints == {"one": saved.commit}
    assert again.tip == saved.commit
    assert saved.parent == again.base
