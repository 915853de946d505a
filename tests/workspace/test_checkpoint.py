import os
import socket
import subprocess
from datetime import timedelta

import pytest

from flyball.workspace.errors import GitFailed, UnknownCommit, WorkspaceError
from flyball.workspace.vault import RefUpdate


@pytest.mark.req("O44")
def test_a_checkpoint_leaves_the_users_repository_byte_identical(user, workspace, at):
    before = user.everything()
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.snapshot("one", "checkpoint: one", at)
    workspace.restore("base")
    assert user.everything() == before
    assert user.git("status", "--porcelain") == ""


def test_a_checkpoint_holds_the_tree_and_its_message_on_the_tip(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "checkpoint: one - T001\n\nbody", at)
    assert saved.parent == workspace.base
    assert workspace.tip == saved.commit
    assert workspace.checkpoints == {"one": saved.commit}
    assert workspace.tree_of(saved.commit) == saved.tree
    text = workspace.vault.git().out("cat-file", "commit", saved.commit).decode()
    assert text.endswith("\n\ncheckpoint: one - T001\n\nbody\n")
    assert f"author flyball <flyball@localhost> {int(at.timestamp())} +0000" in text


@pytest.mark.req("C61")
def test_the_same_checkpoint_twice_is_one_commit(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    first = workspace.snapshot("one", "m", at)
    again = workspace.snapshot("one", "m", at + timedelta(hours=1))
    assert again == first
    assert workspace.tip == first.commit


def test_commit_ids_depend_on_nothing_but_what_is_given(user, open_workspace, at):
    ids = set()
    for task in ("001-a", "002-b"):
        workspace = open_workspace(user, task)
        (workspace.root / "b.txt").write_text("changed\n")
        ids.add(workspace.snapshot("one", "m", at).commit)
    assert len(ids) == 1


def test_a_label_is_not_moved_to_other_files(workspace, at):
    first = workspace.snapshot("one", "m", at)
    (workspace.root / "b.txt").write_text("changed\n")
    with pytest.raises(WorkspaceError, match="one"):
        workspace.snapshot("one", "m", at + timedelta(hours=1))
    assert workspace.checkpoints == {"one": first.commit}


@pytest.mark.req("C61")
def test_the_same_act_repeated_after_a_crash_gives_the_same_checkpoint_whatever_changed_meanwhile(workspace, at):
    first = workspace.snapshot("one", "m\n\nbody\n", at)
    (workspace.root / "b.txt").write_text("changed\n")
    assert workspace.snapshot("one", "m\n\nbody\n", at) == first
    assert (workspace.root / "b.txt").read_text() == "changed\n"


def test_a_ref_moves_only_from_where_it_is_said_to_stand(workspace, at):
    saved = workspace.snapshot("one", "m", at)
    ref = "refs/flyball/001-thing/tip"
    with pytest.raises(GitFailed):
        workspace.vault.move([RefUpdate("refs/flyball/x", saved.commit, None), RefUpdate(ref, saved.commit, None)])
    assert workspace.vault.ref("refs/flyball/x") is None
    assert workspace.tip == saved.commit


@pytest.mark.req("O3")
def test_of_the_task_folder_only_plan_learnings_and_report_are_saved(user, open_workspace, at):
    user.write(".gitignore", ".loop/\n")
    user.commit()
    workspace = open_workspace(user)
    for name in ("plan.md", "report.md", "context.md", "loop-state.json", "learnings/001-a.md", "learnings/deep/b.md"):
        place = workspace.root / ".loop" / "001-thing" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    (workspace.root / ".loop" / "plan.md").write_text("not in a task's folder")
    other = workspace.root / ".loop" / "002-other"
    other.mkdir()
    (other / "plan.md").write_text("another task's")
    saved = workspace.snapshot("one", "m", at)
    kept = [path for path in workspace.list_files(saved.commit) if path.startswith(".loop")]
    folder = ".loop/001-thing"
    assert kept == [
        f"{folder}/learnings/001-a.md",
        f"{folder}/learnings/deep/b.md",
        f"{folder}/plan.md",
        f"{folder}/report.md",
    ]
    (workspace.root / folder / "learnings" / "001-a.md").unlink()
    again = workspace.snapshot("two", "m", at)
    assert ("D", f"{folder}/learnings/001-a.md") in workspace.changed_files(saved.commit, again.commit)


def test_foreign_files_of_the_loop_folder_that_are_tracked_stay_as_they_were(user, open_workspace, at):
    user.write(".loop/notes.md", "theirs\n")
    user.commit()
    workspace = open_workspace(user)
    (workspace.root / ".loop" / "notes.md").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.read_file(saved.commit, ".loop/notes.md") == b"theirs\n"
    (workspace.root / ".loop" / "notes.md").unlink()
    again = workspace.snapshot("two", "m", at)
    assert again.tree == saved.tree


def test_files_of_a_repository_inside_the_tree_are_saved(workspace, at):
    empty, full = workspace.root / "empty", workspace.root / "full"
    subprocess.run(["git", "init", "-q", str(empty)], check=True)
    (empty / "e.txt").write_text("e")
    subprocess.run(["git", "init", "-q", str(full)], check=True)
    (full / "deep").mkdir()
    (full / "deep" / "f.txt").write_text("f")
    subprocess.run("git add . && git commit -q -m x", shell=True, cwd=full, check=True)
    subprocess.run(["git", "init", "-q", str(full / "inner")], check=True)
    (full / "inner" / "i.txt").write_text("i")
    subprocess.run(["git", "init", "-q", str(workspace.root / "src")], check=True)
    (workspace.root / "src" / "new.py").write_text("n")
    saved = workspace.snapshot("one", "m", at)
    assert {path for status, path in workspace.changed_files(workspace.base, saved.commit) if status == "A"} == {
        "empty/e.txt",
        "full/deep/f.txt",
        "full/inner/i.txt",
        "src/new.py",
    }
    assert any("empty/ is a git repository of its own" in note for note in saved.notes)
    (full / "deep" / "f.txt").write_text("changed")
    (full / "more.txt").write_text("more")
    again = workspace.snapshot("two", "m", at)
    assert workspace.changed_files(saved.commit, again.commit) == (("M", "full/deep/f.txt"), ("A", "full/more.txt"))


def test_what_git_cannot_hold_is_noted(workspace, at):
    os.mkfifo(workspace.root / "pipe")
    (workspace.root / "b.txt").unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.getcwd()
        os.chdir(workspace.root)
        listener.bind("b.txt")
        os.chdir(before)
        saved = workspace.snapshot("one", "m", at)
    assert any(note.startswith("b.txt is neither a file nor a link") for note in saved.notes)
    assert workspace.changed_files(workspace.base, saved.commit) == (("D", "b.txt"),)


def test_names_git_refuses_are_noted_and_the_rest_is_saved(workspace, at):
    (workspace.root / "git~1").write_text("x")
    (workspace.root / "fine").write_text("x")
    saved = workspace.snapshot("one", "m", at)
    assert "fine" in workspace.list_files(saved.commit)
    assert "git~1" in workspace.list_files(saved.commit) or any("git~1" in note for note in saved.notes)


def test_attributes_do_not_change_a_byte(user, open_workspace, at, contents):
    user.write(".gitattributes", "* text=auto eol=crlf ident\n*.u filter=lfs working-tree-encoding=UTF-16\n")
    user.write("lf.txt", "a\nb\n$Id$\n")
    user.commit()
    workspace = open_workspace(user)
    assert (workspace.root / "lf.txt").read_bytes() == b"a\nb\n$Id$\n"
    (workspace.root / "crlf.txt").write_bytes(b"a\r\nb\r\n$Id: x $\r\n")
    (workspace.root / "mixed.txt").write_bytes(b"a\r\nb\n\x00\xff")
    (workspace.root / "x.u").write_bytes(b"plain\n")
    before = contents(workspace.root)
    saved = workspace.snapshot("one", "m", at)
    workspace.restore("base")
    workspace.restore(saved.commit)
    assert contents(workspace.root) == before
    assert workspace.read_file(saved.commit, "crlf.txt") == b"a\r\nb\r\n$Id: x $\r\n"


def test_restore_keeps_ignored_files_and_the_loop_folder_and_removes_the_rest(workspace, at):
    saved = workspace.snapshot("one", "m", at)
    loop = workspace.root / ".loop" / "001-thing"
    loop.mkdir(parents=True)
    (loop / "plan.md").write_text("plan")
    (loop / "context.md").write_text("context")
    (workspace.root / "x.log").write_text("ignored")
    (workspace.root / "build").mkdir()
    (workspace.root / "build" / "out").write_text("ignored")
    (workspace.root / "added" / "deep").mkdir(parents=True)
    (workspace.root / "added" / "deep" / "file").write_text("added")
    later = workspace.snapshot("two", "m", at)
    (workspace.root / "unsaved").write_text("added")
    (workspace.root / "b.txt").unlink()
    workspace.restore(saved.commit)
    assert sorted(os.listdir(workspace.root)) == [
        *(".git", ".gitignore", ".loop", "b.txt", "build", "src", "x.log"),
    ]
    assert (loop / "plan.md").read_text() == "plan"
    assert (loop / "context.md").read_text() == "context"
    assert workspace.tip == saved.commit
    assert workspace.checkpoints["two"] == later.commit
    workspace.restore(saved.commit)
    workspace.restore("two")
    assert (workspace.root / "added" / "deep" / "file").read_text() == "added"


def test_restore_removes_ignored_files_only_where_a_file_must_stand(workspace, at):
    (workspace.root / "build").write_text("a file")
    (workspace.root / ".gitignore").write_text("*.log\n")
    (workspace.root / "logs.log").unlink(missing_ok=True)
    saved = workspace.snapshot("one", "m", at)
    (workspace.root / ".gitignore").write_text("*.log\nbuild/\n")
    (workspace.root / "build").unlink()
    (workspace.root / "build").mkdir()
    (workspace.root / "build" / "out").write_text("ignored")
    workspace.restore(saved.commit)
    assert (workspace.root / "build").read_text() == "a file"


def test_unchanged_files_keep_their_times_in_a_restore(workspace, at):
    saved = workspace.snapshot("one", "m", at)
    before = (workspace.root / "src" / "a.py").stat()
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.snapshot("two", "m", at)
    workspace.restore(saved.commit)
    after = (workspace.root / "src" / "a.py").stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_lost_or_broken_index_is_made_again(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    workspace.checkout.index.unlink()
    first = workspace.snapshot("one", "m", at)
    workspace.checkout.index.write_bytes(b"DIRC rubbish" * 10)
    again = workspace.snapshot("two", "m", at)
    assert again.tree == first.tree


def test_an_unknown_commit_is_named(workspace):
    for call in (workspace.restore, workspace.tree_of):
        with pytest.raises(UnknownCommit, match="cafebabe"):
            call("cafebabe")
    with pytest.raises(UnknownCommit, match="cafebabe"):
        workspace.diff(workspace.base, "cafebabe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything; see test_unprivileged.py")
def test_unreadable_files_are_noted_and_kept_as_they_were(workspace, at):
    (workspace.root / "b.txt").write_text("changed\n")
    (workspace.root / "b.txt").chmod(0)
    saved = workspace.snapshot("one", "m", at)
    assert any("b.txt cannot be read" in note for note in saved.notes)
    assert workspace.read_file(saved.commit, "b.txt") == b"one\ntwo\n"


@pytest.mark.parametrize("label", ["turn/1", "turn/1/partial", "a b", "..", "x.lock", "ü", "%2F", "-"])
def test_any_label_will_do_and_none_stands_in_anothers_way(workspace, at, label):
    first = workspace.snapshot("turn", "m", at)
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot(label, "m", at)
    assert workspace.checkpoints == {"turn": first.commit, label: saved.commit}
    assert workspace.resolve(label) == saved.commit
