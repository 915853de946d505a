import shutil

import pytest

from flyball.workspace.errors import WorkspaceError
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace


def packs(workspace):
    return sorted(path.name for path in (workspace.vault.objects / "pack").glob("*.pack"))


@pytest.mark.req("O44", "O45")
def test_every_checkpoint_comes_back_after_the_users_git_folder_is_deleted(user, workspace, at, contents):
    before = contents(workspace.root)
    (workspace.root / "b.txt").write_text("changed\n")
    (workspace.root / "new.txt").write_text("new\n")
    after = contents(workspace.root)
    saved = workspace.snapshot("one", "m", at)
    shutil.rmtree(user.root / ".git")
    shutil.rmtree(workspace.root)
    workspace.root.mkdir()
    workspace.restore("base")
    assert contents(workspace.root) == before
    workspace.restore("one")
    assert contents(workspace.root) == after
    assert workspace.snapshot("two", "m", at).tree == saved.tree
    assert b"+changed" in workspace.diff(workspace.base, saved.commit)
    workspace.export(saved.tree, workspace.checkout.folder / "out")


def test_publishing_after_that_is_refused_and_says_where_the_work_is(user, open_workspace, at):
    user.commit("Second")
    workspace = open_workspace(user)
    saved = workspace.snapshot("one", "m", at)
    shutil.rmtree(user.root / ".git")
    with pytest.raises(WorkspaceError, match="vault"):
        workspace.publish(saved.commit)
    user.git("init", "-q")
    user.commit("Again")
    with pytest.raises(WorkspaceError, match="archive"):
        workspace.publish(saved.commit)


def test_a_repository_begun_again_still_finds_its_checkpoints(user, workspace, home, at):
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.snapshot("one", "m", at)
    shutil.rmtree(user.root / ".git")
    user.git("init", "-q")
    user.commit("Again")
    again = GitWorkspace(Repository.find(user.root), home, workspace.task)
    again.prepare()
    again.restore("base")
    again.restore("one")
    assert (again.root / "b.txt").read_text() == "changed\n"


def test_a_base_that_the_user_pruned_is_sent_back_with_the_result(user, open_workspace, at):
    user.write("b.txt", "second\n")
    base = user.commit("Second")
    workspace = open_workspace(user)
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    user.git("reset", "-q", "--hard", "HEAD^")
    user.git("reflog", "expire", "--expire=now", "--all")
    user.git("gc", "-q", "--prune=now")
    user.git("cat-file", "-e", base, ok=False)
    workspace.publish(saved.commit)
    user.git("fsck", "--connectivity-only")
    assert user.git("log", "--format=%s", "flyball/001-thing") == "m\nSecond\nStart"


def test_a_second_task_copies_only_what_the_first_did_not(user, open_workspace):
    first = packs(open_workspace(user, "001-a"))
    assert len(first) == 1
    assert packs(open_workspace(user, "002-b")) == first
    user.write("big.txt", "x\n" * 1000)
    user.commit()
    third = open_workspace(user, "003-c")
    (new,) = set(packs(third)) - set(first)
    listing = third.vault.git().out("verify-pack", "-v", str(third.vault.objects / "pack" / new)).decode()
    assert sum(" blob " in line for line in listing.splitlines()) == 1


def test_objects_of_the_users_alternates_are_protected_too(user, tmp_path, open_workspace, at):
    clone = tmp_path / "clone"
    user.git("clone", "-q", "--shared", str(user.root), str(clone))
    workspace = open_workspace(type(user)(clone))
    shutil.rmtree(user.root / ".git")
    shutil.rmtree(clone / ".git")
    (workspace.root / "b.txt").unlink()
    workspace.restore("base")
    assert (workspace.root / "b.txt").read_text() == "one\ntwo\n"
