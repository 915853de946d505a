import pytest

from flyball.workspace.errors import WorkspaceError
from flyball.workspace.vault import RefUpdate

BRANCH = "flyball/001-thing"


@pytest.fixture
def saved(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    return workspace.snapshot("one", "checkpoint: one", at)


@pytest.mark.req("O46")
def test_the_result_is_a_branch_and_nothing_else_moves(user, workspace, saved):
    user.write("untracked.txt")
    before = user.everything()
    workspace.publish(saved.commit)
    after = user.everything()
    new = {name for name in after if name not in before}
    assert {name: after[name] for name in before} == before
    assert {name for name in new if not name.startswith("objects/pack/")} == {f"refs/heads/{BRANCH}"}
    assert user.git("show", f"{BRANCH}:b.txt") == "changed"
    assert user.git("status", "--porcelain") == "?? untracked.txt"
    user.git("fsck", "--strict")


def test_publishing_goes_on_from_the_last_one_and_may_be_repeated(user, workspace, saved, at):
    workspace.publish(saved.commit)
    workspace.publish(saved.commit)
    (workspace.root / "b.txt").write_text("again\n")
    later = workspace.snapshot("two", "m", at)
    workspace.publish(later.commit)
    assert user.git("rev-parse", BRANCH) == later.commit
    workspace.restore("one")
    workspace.publish(saved.commit)
    assert user.git("rev-parse", BRANCH) == saved.commit


def test_a_branch_the_user_moved_is_left_alone(user, workspace, saved, at):
    workspace.publish(saved.commit)
    user.git("branch", "-f", BRANCH, "main")
    (workspace.root / "b.txt").write_text("again\n")
    later = workspace.snapshot("two", "m", at)
    with pytest.raises(WorkspaceError, match=f"git branch -m {BRANCH}"):
        workspace.publish(later.commit)
    assert user.git("rev-parse", BRANCH) == user.git("rev-parse", "main")
    user.git("branch", "-D", BRANCH)
    with pytest.raises(WorkspaceError, match="absent"):
        workspace.publish(later.commit)


def test_a_branch_that_is_checked_out_is_not_moved(user, workspace, saved, at, tmp_path):
    workspace.publish(saved.commit)
    (workspace.root / "b.txt").write_text("again\n")
    later = workspace.snapshot("two", "m", at)
    user.git("switch", "-q", BRANCH)
    with pytest.raises(WorkspaceError, match="switch --detach"):
        workspace.publish(later.commit)
    user.git("switch", "-q", "main")
    user.git("worktree", "add", "-q", str(tmp_path / "look here"), BRANCH)
    with pytest.raises(WorkspaceError, match="look here"):
        workspace.publish(later.commit)
    user.git("worktree", "remove", str(tmp_path / "look here"))
    workspace.publish(later.commit)


def test_a_lock_left_by_a_killed_publication_is_no_obstacle(user, workspace, saved):
    lock = user.root / ".git" / "refs" / "heads" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    workspace.publish(saved.commit)
    assert user.git("rev-parse", BRANCH) == saved.commit
    assert not lock.exists()


def test_the_result_is_whole_when_the_vault_is_gone(user, workspace, saved):
    workspace.publish(saved.commit)
    workspace.vault.git_dir.rename(workspace.vault.git_dir.with_name("away"))
    user.git("fsck", "--strict")
    user.git("switch", "-q", BRANCH)
    assert (user.root / "b.txt").read_text() == "changed\n"


def test_who_may_read_the_users_objects_is_up_to_the_user(user, workspace, saved):
    user.git("config", "core.sharedRepository", "group")
    workspace.publish(saved.commit)
    packs = list((user.root / ".git" / "objects" / "pack").glob("*.pack"))
    assert packs
    assert all(pack.stat().st_mode & 0o040 for pack in packs)


@pytest.mark.req("C61")
def test_a_kill_right_after_the_branch_moved_is_not_taken_for_the_users_doing(user, workspace, saved, at):
    workspace.publish(saved.commit)
    (workspace.root / "b.txt").write_text("again\n")
    later = workspace.snapshot("two", "m", at)
    workspace.publish(later.commit)
    prefix = "refs/flyball/001-thing/"
    workspace.vault.move([RefUpdate(prefix + "published", saved.commit, later.commit)])
    (workspace.root / "b.txt").write_text("and again\n")
    last = workspace.snapshot("three", "m", at)
    workspace.publish(last.commit)
    assert user.git("rev-parse", BRANCH) == last.commit
