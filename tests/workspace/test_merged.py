"""Whether the task's work is in a branch of the user's by now, however they merged it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball.core.model.task import Commit
from flyball.workspace.workspace import GitWorkspace

Make = Callable[..., GitWorkspace]
pytestmark = pytest.mark.req("C52")


@pytest.fixture
def done(user: User, workspace: GitWorkspace) -> Commit:
    """Two accepted commits on the task's branch: a changed file, and a new one with flyball's report."""
    workspace.prepare()
    head = workspace.base
    second = {"c.py": "c = 1\n", f".loop/{workspace.task}/report.md": "r\n"}
    for label, files in {"one": {"b.txt": "one\ntwo\nthree\n"}, "two": second}.items():
        for name, text in files.items():
            place = workspace.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        kept = workspace.snapshot(f"turn-{label}", label, AT)
        head = Commit(workspace.accept(label, f"{label}: done", AT, tree=kept.tree, parent=head).commit)
    workspace.publish(head)
    return head


def move_on(user: User, *, file: str = "src/a.py") -> None:
    user.write(file, "print('moved on')\n")
    user.commit("meanwhile")


def merged(workspace: GitWorkspace, head: Commit) -> str:
    return workspace.merged_into(head, "main")


def test_a_branch_that_waits_is_not_merged_even_when_it_is_checked_out(user: User, workspace, done):
    assert merged(workspace, done) == ""
    move_on(user)
    user.git("switch", "-q", workspace.branch)
    assert merged(workspace, done) == ""


def test_a_fast_forward_is_a_merge(user: User, workspace, done):
    user.git("merge", "-q", "--ff-only", workspace.branch)
    assert merged(workspace, done) == "main"


def test_a_merge_commit_is_a_merge_and_stays_one_when_the_branch_is_deleted(user: User, workspace, done):
    move_on(user)
    user.git("merge", "-q", "--no-edit", workspace.branch)
    user.git("branch", "-q", "-d", workspace.branch)
    move_on(user, file="b.txt")
    assert merged(workspace, done) == "main"


@pytest.mark.parametrize("later", ["src/a.py", "b.txt"])
def test_a_squash_is_a_merge_though_no_commit_of_the_branch_is_there(user: User, workspace, done, later):
    move_on(user)
    user.git("merge", "-q", "--squash", workspace.branch)
    user.commit("All of it (#7)")
    user.git("branch", "-q", "-D", workspace.branch)
    move_on(user, file=later)
    user.git("reflog", "expire", "--expire=now", "--all")
    user.git("gc", "-q", "--prune=now")
    assert merged(workspace, done) == "main"


def test_a_squash_without_the_loop_folder_is_a_merge(user: User, workspace, done):
    user.git("merge", "-q", "--squash", workspace.branch)
    user.git("rm", "-rqf", ".loop")
    user.commit("All of it")
    move_on(user, file="b.txt")
    assert merged(workspace, done) == "main"


def test_a_rebase_is_a_merge(user: User, workspace, done):
    move_on(user)
    user.git("switch", "-q", "-c", "copy", workspace.branch)
    user.git("rebase", "-q", "main")
    user.git("switch", "-q", "main")
    user.git("merge", "-q", "--ff-only", "copy")
    move_on(user, file="c.py")
    assert merged(workspace, done) == "main"


def test_half_of_the_work_is_no_merge(user: User, workspace, done):
    user.git("cherry-pick", f"{workspace.branch}~1")
    assert merged(workspace, done) == ""


def test_a_merge_that_was_only_fetched_from_the_remote_is_known(user: User, workspace, done, tmp_path: Path):
    remote = tmp_path / "remote.git"
    user.git("clone", "-q", "--bare", str(user.root), str(remote))
    user.git("remote", "add", "origin", str(remote))
    user.git("push", "-q", "origin", f"{workspace.branch}:main")
    user.git("fetch", "-q", "origin")
    assert merged(workspace, done) == "origin/main"


def test_work_started_on_another_branch_is_merged_into_that_one(user: User, workspace, done):
    user.git("switch", "-q", "-c", "topic")
    user.git("merge", "-q", "--ff-only", workspace.branch)
    assert workspace.merged_into(done, "topic") == "topic"
    assert workspace.merged_into(done, "main") == ""
