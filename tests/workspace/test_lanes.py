"""Lanes of one task: each has a checkout and a git dir of its own, and their work is merged without touching anybody's files."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball import faults
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.workspace.checkout import agent_git
from flyball.workspace.files import remove
from flyball.workspace.workspace import GitWorkspace


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
    assert workspace.read_file(work, "b.txt") == b"kept\n"
    again = workspace.open_lane("1.1", work)
    assert (again.root / "b.txt").read_text() == "kept\n"
    assert again.base == work
    workspace.close_lane("1.1")
    workspace.close_lane("1.1")


def test_a_lane_gets_the_workspace_another_left_and_nothing_of_its_work(workspace: GitWorkspace) -> None:
    one = workspace.open_lane("1.1", workspace.base)
    place, tip = one.root, saved(one, "turn-1")
    (place / "b.txt").write_text("mine\n")
    (place / "new.txt").write_text("mine\n")
    (place / "x.log").write_text("ignored\n")
    (place / ".venv" / "bin").mkdir(parents=True)
    (place / "src" / ".git").mkdir()
    agent(place, "commit", "-qam", "from lane one")
    (place / "b.txt").write_text("stashed\n")
    agent(place, "stash")
    agent(place, "tag", "mine")
    agent(place, "config", "alias.x", "!true")
    agent_git(place).joinpath("hooks").mkdir(exist_ok=True)
    agent_git(place).joinpath("hooks", "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    workspace.close_lane("1.1")
    two = workspace.open_lane("1.2", workspace.base)
    assert two.root == place
    found = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert found == {*workspace.list_files(workspace.base), ".git"}
    assert (place / "b.txt").read_text() == "one\ntwo\n"
    assert not (place / ".venv").exists()
    seen = agent(place, "log", "--oneline", "--all") + agent(place, "stash", "list") + agent(place, "tag")
    assert "lane one" not in seen + agent(place, "config", "--list")
    assert "mine" not in seen
    assert not agent_git(place).joinpath("hooks", "pre-commit").exists()
    assert two.tip == two.base == workspace.base != tip
    assert two.unsaved_files() == ()


def test_the_environment_that_was_set_up_stays_in_a_workspace_and_in_no_checkpoint(workspace: GitWorkspace) -> None:
    one = workspace.open_lane("1.1", workspace.base, (".venv",))
    (one.root / ".venv").mkdir()
    (one.root / ".venv" / "installed").write_text("once\n")
    one.leave_out(workspace.base, AT)
    saved(one, "turn-1")
    workspace.close_lane("1.1")
    two = workspace.open_lane("1.2", workspace.base, (".venv",))
    assert (two.root / ".venv" / "installed").read_text() == "once\n"
    two.leave_out(workspace.base, AT)
    assert workspace.tree_of(saved(two, "turn-2")) == workspace.tree_of(workspace.base)


def test_what_is_in_no_checkpoint_is_saved_before_a_workspace_is_left(workspace: GitWorkspace) -> None:
    lane = workspace.open_lane("1.1", workspace.base)
    (lane.root / "late.txt").write_text("late\n")
    workspace.close_lane("1.1")
    workspace.close_lane("1.1")
    workspace.open_lane("1.2", workspace.base)
    assert not (lane.root / "late.txt").exists()
    kept = workspace.lane("1.1").checkpoints
    assert list(kept) == ["kept-1"]
    assert workspace.read_file(kept["kept-1"], "late.txt") == b"late\n"


def test_the_work_of_every_attempt_of_a_lane_stays_in_reach(workspace: GitWorkspace) -> None:
    attempts = []
    for number in range(3):
        lane = workspace.open_lane("1.1", workspace.base)
        (lane.root / "b.txt").write_text(f"attempt {number}\n")
        tree = workspace.tree_of(saved(lane, f"turn-{number}"))
        attempts.append(Commit(lane.accept("WORK", "work", AT, tree=tree, parent=lane.base).commit))
        workspace.close_lane("1.1")
    assert len(set(attempts)) == 3
    assert set(attempts[:2]) <= set(workspace.lane("1.1").checkpoints.values())


def test_a_lane_can_start_from_what_is_not_delivered_yet(workspace: GitWorkspace, user: User) -> None:
    before = user.everything()
    tree = workspace.overlay(workspace.base, {}, {"tip.txt": b"tip\n"})
    tip = Commit(workspace.accept("batch-1", "accepted: tip", AT, tree=tree, parent=workspace.base).commit)
    lane = workspace.open_lane("1.1", tip)
    assert agent(lane.root, "log", "--format=%s", "-2").splitlines()[0] == "accepted: tip"
    assert agent(lane.root, "status", "--porcelain") == ""
    assert agent(lane.root, "show", "HEAD:tip.txt") == "tip\n"
    agent(lane.root, "fsck", "--connectivity-only")
    assert user.everything() == before


def test_clean_saves_what_open_lanes_have_and_removes_every_workspace(workspace: GitWorkspace) -> None:
    one, two = (workspace.open_lane(name, workspace.base) for name in ("1.1", "1.2"))
    (one.root / "late.txt").write_text("late\n")
    workspace.close_lane("1.2")
    assert workspace.keep_lanes() == {"1.1": "kept-1"}
    first, *_, last = workspace.removable["lanes"]
    assert first == one.checkout.ready, "without it a tree that is half removed is taken for none"
    assert two.root.is_relative_to(last)
    for path in workspace.removable["lanes"]:
        remove(path)
    assert not last.exists()
    assert not workspace.lane("1.1").is_made
    assert workspace.read_file(workspace.lane("1.1").checkpoints["kept-1"], "late.txt") == b"late\n"


class Killed(Exception):
    """What a fault point raises here in place of a kill."""


@pytest.mark.slow
def test_a_kill_anywhere_while_lanes_are_closed_and_opened_loses_nothing(
    workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    monkeypatch.setattr(faults, "point", names.append)
    _hand_over(workspace, "counted")
    workspace.close_lane("bcounted")
    begins = names.index("lane.close.saved")
    points = {name: n for n, name in enumerate(names) if n >= begins - 1}.values()
    assert {"lane.close.saved", "lane.reset.before", "lane.reset.after"} <= set(names)
    for number in points:
        left = [number]

        def point(_name: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                raise Killed

        first, second = f"a{number}", f"b{number}"
        monkeypatch.setattr(faults, "point", point)
        with suppress(Killed):
            _hand_over(workspace, str(number))
        monkeypatch.setattr(faults, "point", lambda _name: None)
        again = GitWorkspace(workspace.repository, workspace.home, workspace.task)
        _hand_over(again, str(number))
        kept = again.lane(first).checkpoints.values()
        held = {again.read_file(commit, "late.txt") for commit in kept}
        assert first.encode() in held, names[number]
        assert again.lane(second).unsaved_files() == (), names[number]
        assert (again.lane(second).root / "b.txt").read_text() == "one\ntwo\n", names[number]
        again.close_lane(second)
    assert len(list(workspace.checkout.lanes.iterdir())) == 1


def _hand_over(workspace: GitWorkspace, number: str) -> None:
    """One lane works, is closed with work in no checkpoint, and another gets its workspace; each step as after a kill."""
    first, second = f"a{number}", f"b{number}"
    if not workspace.lane(second).is_made and "kept-1" not in workspace.lane(first).checkpoints:
        lane = workspace.open_lane(first, workspace.base)
        (lane.root / "late.txt").write_text(first)
    workspace.close_lane(first)
    workspace.open_lane(second, workspace.base)


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
