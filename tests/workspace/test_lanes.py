"""Lanes of one task: each has a checkout and a git dir of its own, and their work is merged without touching anybody's files."""

import subprocess
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.workspace import GitWorkspace
from flyball.workspace.checkout import agent_git


def agent(tree: Path, *args: str) -> str:
    """Git as an agent runs it in its tree."""
    done = subprocess.run(["git", *args], cwd=tree, capture_output=True, text=True, check=True)
    return done.stdout


def saved(lane: GitWorkspace, label: str) -> Commit:
    return Commit(lane.snapshot(label, label, AT).commit)


def test_a_lane_starts_from_its_base_and_what_it_does_is_seen_in_no_other(workspace: GitWorkspace, user: User) -> None:
    before = user.everything()
    one, two = (workspace.open_lane(name, workspace.base) for name in ("1.1", "1.2"))
    (one.root / "b.txt").write_text("one lane\n")
    agent(one.root, "commit", "-qam", "from lane one")
    assert "from lane one" in agent(one.root, "log", "--oneline", "--all")
    assert "from lane one" not in agent(two.root, "log", "--oneline", "--all")
    assert (two.root / "b.txt").read_text() == (workspace.root / "b.txt").read_text() == "one\ntwo\n"
    assert agent(two.root, "status", "--porcelain") == ""
    assert saved(one, "turn-1") != saved(two, "turn-1"), "labels of lanes do not stand in each other's way"
    assert workspace.tip == workspace.base
    assert user.everything() == before


def test_a_disposable_copy_has_a_git_dir_of_its_own_that_goes_with_it(workspace: GitWorkspace) -> None:
    one, two = (workspace.copy(name, workspace.base) for name in ("one", "two"))
    (one / "b.txt").write_text("reviewed\n")
    agent(one, "commit", "-qam", "from a reviewer")
    assert "from a reviewer" not in agent(two, "log", "--oneline", "--all")
    assert "from a reviewer" not in agent(workspace.root, "log", "--oneline", "--all")
    assert workspace.discard("one") == ("b.txt",)
    assert not agent_git(one).exists()


def test_work_is_merged_from_its_base_into_a_later_commit(workspace: GitWorkspace, user: User) -> None:
    before = user.everything()
    one, two = (workspace.open_lane(name, workspace.base) for name in ("1.1", "1.2"))
    (one.root / "b.txt").write_text("ONE\ntwo\n")
    (two.root / "new.txt").write_text("new\n")
    first = workspace.integrate(saved(one, "a"), base=workspace.base, onto=workspace.base, message="one", at=AT)
    assert isinstance(first, Integrated)
    second = workspace.integrate(saved(two, "b"), base=workspace.base, onto=first.commit, message="two", at=AT)
    assert isinstance(second, Integrated)
    assert workspace.read_file(second.commit, "b.txt") == b"ONE\ntwo\n"
    assert workspace.read_file(second.commit, "new.txt") == b"new\n"
    assert workspace.tree_of(second.commit) == second.tree
    again = workspace.integrate(saved(two, "b"), base=workspace.base, onto=first.commit, message="two", at=AT)
    assert again == second, "doing it again gives the same commit"
    empty = workspace.integrate(saved(two, "b"), base=workspace.base, onto=second.commit, message="two", at=AT)
    assert empty == NothingToIntegrate()
    assert user.everything() == before


def test_a_conflict_names_its_files_and_leaves_no_marker_anywhere(workspace: GitWorkspace) -> None:
    one, two = (workspace.open_lane(name, workspace.base) for name in ("1.1", "1.2"))
    (one.root / "b.txt").write_text("ONE\ntwo\n")
    (two.root / "b.txt").write_text("uno\ntwo\n")
    mine, theirs = saved(two, "b"), saved(one, "a")
    met = workspace.integrate(mine, base=workspace.base, onto=theirs, message="two", at=AT)
    assert isinstance(met, Conflicted)
    assert (met.paths, met.detail) == (("b.txt",), "both sides changed b.txt")
    for commit in (mine, theirs):
        assert b"<<<<" not in (workspace.read_file(commit, "b.txt") or b"")
    assert (two.root / "b.txt").read_text() == "uno\ntwo\n"


def test_a_closed_lane_keeps_its_checkpoints_and_may_be_opened_from_the_new_tip(workspace: GitWorkspace) -> None:
    lane = workspace.open_lane("1.1", workspace.base)
    (lane.root / "b.txt").write_text("kept\n")
    work = saved(lane, "turn-1")
    workspace.close_lane("1.1")
    assert not lane.checkout.folder.exists()
    assert workspace.read_file(work, "b.txt") == b"kept\n"
    again = workspace.open_lane("1.1", work)
    assert (again.root / "b.txt").read_text() == "kept\n"
    assert again.base == work
    workspace.close_lane("1.1")
    workspace.close_lane("1.1")


@pytest.mark.parametrize("name", ["../../x", "a/b", ".lock", "1.2", "ü"])
def test_whatever_a_lane_is_called_it_stays_in_the_tasks_folder(workspace: GitWorkspace, name: str) -> None:
    lane = workspace.open_lane(name, workspace.base)
    assert lane.root.resolve().is_relative_to(workspace.checkout.folder.resolve() / "lanes")
    assert len(lane.root.resolve().relative_to(workspace.checkout.folder.resolve()).parts) == 3
    assert saved(lane, "turn-1")


def test_the_sandbox_shows_each_tree_its_own_git_dir(workspace: GitWorkspace, tmp_path: Path) -> None:
    lane = workspace.open_lane("1.1", workspace.base)
    copy = lane.copy("reviewer", workspace.base)
    for tree in (workspace.root, lane.root, copy):
        writable, history = workspace.git_dirs(tree)
        assert (writable.kind, writable.target) == ("writable", agent_git(tree))
        assert (history.kind, history.source) == ("read-only", workspace.repository.objects)
        assert history.target.is_symlink()
    assert workspace.git_dirs(tmp_path) == ()
