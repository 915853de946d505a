import shutil

import pytest

from flyball.core.model.task import Commit, TaskId
from flyball.ports import Workspace
from flyball.workspace.checkout import agent_git
from flyball.workspace.errors import WorkspaceError
from flyball.workspace.files import remove
from flyball.workspace.repository import Repository
from flyball.workspace.workspace import GitWorkspace


def agent(user, workspace):
    return type(user)(workspace.root)


def test_the_checkout_is_the_commit_and_the_users_changes_stay_where_they_are(user, open_workspace, contents):
    user.write("b.txt", "not committed\n")
    user.write("untracked.txt")
    workspace = open_workspace(user)
    assert contents(workspace.root) == {
        ".gitignore": b"*.log\nbuild/\n",
        "b.txt": b"one\ntwo\n",
        "src/a.py": b"print('a')\n",
    }
    assert (user.root / "b.txt").read_text() == "not committed\n"


def test_the_workspace_plays_the_port(workspace):
    port: Workspace = workspace
    assert port.root == workspace.root


def test_an_agent_has_a_git_that_works(user, workspace):
    user.git("tag", "v1")
    mine = agent(user, workspace)
    assert mine.git("status", "--porcelain") == ""
    assert mine.git("branch", "--show-current") == "flyball/001-thing"
    assert mine.git("log", "--format=%s") == "Start"
    assert mine.git("rev-parse", "main") == user.git("rev-parse", "main")
    mine.write("b.txt", "changed\n")
    assert "+changed" in mine.git("diff")
    mine.git("add", "-A")
    mine.git("commit", "-q", "-m", "by the agent")
    assert mine.git("log", "--format=%s") == "by the agent\nStart"


@pytest.mark.req("C25")
def test_an_agent_can_look_at_the_work_that_was_undone(user, workspace, at):
    mine = agent(user, workspace)
    mine.write("b.txt", "good\n")
    good = workspace.snapshot("turn-1", "turn-1", at)
    mine.write("b.txt", "worse\n")
    worse = workspace.snapshot("turn-2", "turn-2", at)
    workspace.restore(good.commit)
    told = mine.git("diff", good.commit[:12], worse.commit[:12])
    assert "-good" in told
    assert "+worse" in told
    workspace.restore(good.commit)


def named(workspace, **commits):
    workspace.show({"start": workspace.base, "tree": workspace.tip, **commits})


@pytest.mark.req("C2", "C25")
def test_an_agent_finds_commits_by_name_and_one_diff_shows_new_files_of_earlier_turns(user, workspace, at):
    before = user.everything()
    mine = agent(user, workspace)
    mine.write("new.txt", "new\n")
    mine.write("b.txt", "good\n")
    good = workspace.snapshot("turn-1", "turn-1", at)
    mine.write("new.txt", "worse\n")
    worse = workspace.snapshot("turn-2", "turn-2", at)
    workspace.restore(good.commit)
    named(workspace, undone=worse.commit)
    assert mine.git("rev-parse", "flyball/start", "flyball/tree", "flyball/undone").split() == [
        workspace.base,
        good.commit,
        worse.commit,
    ]
    assert mine.git("diff", "--name-only", "flyball/start").split() == ["b.txt", "new.txt"]
    assert "+worse" in mine.git("diff", "flyball/tree", "flyball/undone")
    mine.write("new.txt", "newer\n")
    assert mine.git("diff", "--name-only", "flyball/tree") == "new.txt"
    named(workspace)
    assert mine.git("rev-parse", "--verify", "--quiet", "flyball/undone", ok=False) == ""
    assert user.everything() == before


@pytest.mark.req("C2", "C61")
@pytest.mark.parametrize("index", [b"broken", None])
def test_an_index_that_is_lost_or_broken_keeps_no_turn_from_its_commits(user, workspace, index):
    mine = agent(user, workspace)
    workspace.checkout.index.unlink()
    if index is not None:
        workspace.checkout.index.write_bytes(index)
    named(workspace)
    assert mine.git("status", "--porcelain") == ""


@pytest.mark.req("C2", "C42")
@pytest.mark.parametrize("place", ["refs", "refs/flyball", "objects/pack", "index"])
def test_names_are_written_into_the_agents_git_dir_wherever_it_lets_that_lead(user, workspace, tmp_path, place):
    mine = agent(user, workspace)
    named(workspace)
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "kept").write_text("kept")
    remove(agent_git(workspace.root) / place)
    (agent_git(workspace.root) / place).symlink_to(trap / "kept" if place == "index" else trap)
    named(workspace)
    assert [path.name for path in trap.iterdir()] == ["kept"]
    assert (trap / "kept").read_text() == "kept"
    assert mine.git("rev-parse", "flyball/start") == workspace.base


def test_an_agents_git_names_the_users_objects_so_that_other_readers_than_git_find_them(workspace):
    listed = (agent_git(workspace.root) / "objects" / "info" / "alternates").read_text()

    assert listed == f"{workspace.checkout.history}\n"


@pytest.mark.req("O46")
def test_what_an_agent_does_with_its_git_changes_nothing_for_the_user_or_a_checkpoint(user, workspace, at):
    before = user.everything()
    mine = agent(user, workspace)
    mine.write("b.txt", "changed\n")
    mine.commit("by the agent")
    mine.git("branch", "-f", "main", "HEAD")
    mine.git("update-index", "--assume-unchanged", "b.txt")
    mine.write("b.txt", "changed again\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.read_file(saved.commit, "b.txt") == b"changed again\n"
    assert saved.parent == workspace.base
    assert user.everything() == before


def test_prepare_again_keeps_the_tree_and_the_base(user, workspace, home, at):
    (workspace.root / "b.txt").write_text("half done\n")
    (workspace.root / ".git").unlink()
    base = workspace.base
    user.write("later.txt")
    user.commit("The user goes on")
    again = GitWorkspace(Repository.find(user.root), home, workspace.task)
    again.prepare()
    assert (again.root / "b.txt").read_text() == "half done\n"
    assert again.base == base
    assert agent(user, again).git("status", "--porcelain") == " M b.txt"


def test_a_half_made_checkout_is_made_again(workspace):
    (workspace.root / "b.txt").unlink()
    (workspace.root / "rubbish").mkdir()
    workspace.checkout.ready.unlink()
    workspace.prepare()
    assert (workspace.root / "b.txt").exists()
    assert not (workspace.root / "rubbish").exists()


def test_a_deleted_checkout_comes_back_at_the_last_checkpoint(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.snapshot("one", "m", at)
    shutil.rmtree(workspace.root)
    workspace.prepare()
    assert (workspace.root / "b.txt").read_text() == "changed\n"
    assert workspace.snapshot("one", "m", at).commit == workspace.tip


def test_submodules_and_filters_are_noted(user, new_user, home, at):
    inner = new_user("inner")
    inner.write("i.txt")
    inner.commit()
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib/inner")
    user.write(".gitattributes", "*.bin filter=lfs\n")
    user.commit()
    workspace = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"))
    notes = workspace.prepare()
    assert "The submodule lib/inner is left empty; changes inside it are not saved." in notes
    assert any(".gitattributes names filters" in note for note in notes)
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.changed_files(workspace.base, Commit(saved.commit)) == (("M", "b.txt"),)
    assert "lib/inner" not in workspace.list_files(Commit(saved.commit))


def test_files_put_into_an_empty_submodule_are_noted(user, new_user, open_workspace, at):
    inner = new_user("inner")
    inner.write("i.txt")
    inner.commit()
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "inner_lib")
    user.commit()
    workspace = open_workspace(user)
    (workspace.root / "inner_lib" / "lost.txt").write_text("x")
    assert any("inner_lib" in note for note in workspace.snapshot("one", "m", at).notes)


def test_a_merge_in_progress_does_not_disturb_an_isolated_task(user, open_workspace, home):
    user.git("switch", "-q", "-c", "other")
    user.write("b.txt", "other\n")
    user.commit()
    user.git("switch", "-q", "main")
    user.write("b.txt", "main\n")
    user.commit()
    user.git("merge", "other", ok=False)
    before = user.everything()
    workspace = open_workspace(user)
    assert (workspace.root / "b.txt").read_text() == "main\n"
    assert user.everything() == before


def test_a_detached_head_is_a_fine_base(user, open_workspace, at):
    user.git("checkout", "-q", "--detach")
    workspace = open_workspace(user)
    saved = workspace.snapshot("one", "m", at)
    workspace.publish(saved.commit)
    assert user.git("rev-parse", "flyball/001-thing") == saved.commit
    assert user.git("branch", "--show-current") == ""


def test_a_linked_worktree_is_worked_from_its_own_head(user, tmp_path, open_workspace, at):
    user.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = type(user)(tmp_path / "side")
    side.write("side.txt")
    side.commit()
    workspace = open_workspace(side)
    assert (workspace.root / "side.txt").exists()
    assert agent(user, workspace).git("status", "--porcelain") == ""
    saved = workspace.snapshot("one", "m", at)
    workspace.publish(saved.commit)
    assert user.git("rev-parse", "flyball/001-thing") == saved.commit


def test_refusals_come_before_anything_is_made(user, new_user, home):
    empty = new_user("empty")
    with pytest.raises(WorkspaceError, match="no commit to start from"):
        GitWorkspace(Repository.find(empty.root), home, TaskId("001-a")).prepare()
    user.git("branch", "flyball")
    with pytest.raises(WorkspaceError, match="git branch -m flyball"):
        GitWorkspace(Repository.find(user.root), home, TaskId("001-a")).prepare()
    user.git("branch", "-m", "flyball", "flyball/001-a")
    with pytest.raises(WorkspaceError, match="git branch -m"):
        GitWorkspace(Repository.find(user.root), home, TaskId("001-a")).prepare()
    assert not (home / "tasks").exists()
    assert not (user.root / "state").exists()


def test_dependencies_that_an_agent_links_into_its_tree_are_not_saved(workspace, at, tmp_path):
    (workspace.root / ".venv").symlink_to(tmp_path)
    (workspace.root / "node_modules").symlink_to(tmp_path)
    assert workspace.snapshot("one", "m", at).tree == workspace.tree_of(workspace.base)
