"""Pushing, which happens only when the user set it."""

import os

import pytest

from flyball.core.model.task import TaskId
from flyball.workspace.errors import WorkspaceError
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace


@pytest.mark.req("C52")
def test_the_branch_is_pushed_to_the_users_remote(user, home, at, tmp_path):
    remote = tmp_path / "remote.git"
    user.git("init", "--quiet", "--bare", str(remote))
    user.git("remote", "add", "origin", str(remote))
    workspace = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), environment=os.environ)
    workspace.prepare()
    (workspace.root / "new.txt").write_text("new\n")
    saved = workspace.snapshot("one", "m", at)
    workspace.publish(saved.commit)
    assert "origin" in workspace.push()
    assert user.git("--git-dir", str(remote), "rev-parse", "flyball/001-thing") == saved.commit


@pytest.mark.req("C52")
def test_without_a_remote_or_with_a_broken_one_the_push_says_what_to_do(user, home, at, tmp_path):
    workspace = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), environment=os.environ)
    workspace.prepare()
    with pytest.raises(WorkspaceError, match="git remote add"):
        workspace.push()
    user.git("remote", "add", "origin", str(tmp_path / "nowhere.git"))
    workspace.publish(workspace.snapshot("one", "m", at).commit)
    with pytest.raises(WorkspaceError, match="Try it yourself: git push origin"):
        workspace.push()
