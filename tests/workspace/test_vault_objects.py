"""What flyball has git write into the vault: commits that depend on nothing but their inputs, refs that move together, all on disk."""

import json
import os

import pytest

from flyball.workspace.checkpoint import CommitAuthor, commit_tree
from flyball.workspace.errors import GitFailed, UnknownCommit
from flyball.workspace.repository import Repository
from flyball.workspace.vault import RefUpdate
from flyball.workspace.workspace import GitWorkspace

PREFIX = "refs/flyball/001-thing/"


def shown(vault, commit):
    return vault.git().line("log", "--no-walk", "--format=%an|%ae|%cn|%at|%ct|%s|%P", commit)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_commit_holds_what_is_given_and_nothing_else(new_user, open_workspace, at, object_format):
    user = new_user("project", f"--object-format={object_format}")
    user.write("a.txt")
    user.commit()
    workspace = open_workspace(user)
    tree, base = workspace.tree_of(workspace.base), workspace.base
    commit = commit_tree(workspace.vault, tree, base, message="m\n\n", at=at, author=CommitAuthor("A <b>\nC", "<a@b>"))
    assert shown(workspace.vault, commit) == f"A bC|a@b|A bC|1772366400|1772366400|m|{base}"
    workspace.vault.git().out("fsck", "--strict", commit)


@pytest.mark.req("C61")
def test_the_same_inputs_give_the_same_commit_whatever_the_clock_and_the_environment_say(workspace, at, monkeypatch):
    tree = workspace.tree_of(workspace.base)
    first = commit_tree(workspace.vault, tree, None, message="m", at=at, author=CommitAuthor())
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@1 +0000")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert commit_tree(workspace.vault, tree, None, message="m", at=at, author=CommitAuthor()) == first


@pytest.mark.parametrize(
    "text", ["", "\n\nlate", "ümlaut, 日本 and \udcff", "nul \0 in it", "a title\n\nand more\n\n\n"]
)
def test_any_message_can_be_committed(workspace, at, text):
    tree = workspace.vault.tree(workspace.base)
    commit = commit_tree(workspace.vault, tree, workspace.base, message=text, at=at, author=CommitAuthor())
    raw = workspace.vault.git().out("cat-file", "commit", commit).partition(b"\n\n")[2]
    assert raw == text.replace("\0", "").rstrip("\n").encode("utf-8", "backslashreplace") + b"\n"


def test_a_commit_whose_tree_is_nowhere_is_refused(workspace, at):
    with pytest.raises(UnknownCommit, match="no commit or tree"):
        commit_tree(workspace.vault, "1" * 40, workspace.base, message="m", at=at, author=CommitAuthor())


def test_an_id_that_stood_for_nothing_is_asked_again(workspace):
    git = workspace.vault.git()
    line = b"100644 blob %s\tx\0" % workspace.vault.write(b"later\n").encode()
    with_file = git.line(
        "hash-object", "-t", "tree", "--stdin", input=b"100644 x\0" + bytes.fromhex(line.split()[2].decode())
    )
    with pytest.raises(UnknownCommit):
        workspace.vault.tree(with_file)
    assert git.line("mktree", "-z", input=line) == with_file
    assert workspace.vault.tree(with_file) == with_file


def test_a_ref_moves_only_from_where_it_is_said_to_stand_and_then_all_stay(workspace):
    base = workspace.base
    free = RefUpdate(f"{PREFIX}at/free", base, None)
    for wrong in (RefUpdate(f"{PREFIX}tip", base, "1" * 40), RefUpdate(f"{PREFIX}tip", base, None)):
        with pytest.raises(GitFailed):
            workspace.vault.move([free, wrong])
    assert workspace.vault.refs(PREFIX) == {"tip": base, "base": base}
    assert not list((workspace.vault.git_dir / "refs").rglob("*.lock"))
    workspace.vault.move([free])
    assert workspace.vault.refs(PREFIX)["at/free"] == base


@pytest.mark.req("C61")
def test_a_kill_between_a_label_and_the_tip_is_healed_by_doing_it_again(user, workspace, home, at):
    (workspace.root / "b.txt").write_text("changed\n")
    killed = workspace.snapshot("one", "m", at)
    # Git moves the refs of a transaction one after the other; this is what a kill after the first leaves.
    workspace.vault.move([RefUpdate(f"{PREFIX}tip", workspace.base, killed.commit)])
    again = GitWorkspace(Repository.find(user.root), home, workspace.task)
    again.prepare()
    assert again.tip == again.base
    saved = again.snapshot("one", "m", at)
    assert again.checkpoints == {"one": saved.commit}
    assert again.tip == saved.commit == killed.commit
    assert saved.parent == again.base


def flushes(git, trace, *args, **options):
    """How often git waited for the disk."""
    env = {"GIT_TRACE2_EVENT": str(trace)} | options.pop("env", {})
    git.out(*args, env=env, **options)
    told = [json.loads(line) for line in trace.read_text().splitlines()]
    trace.unlink()
    return sum(int(each["value"]) for each in told if each.get("key", "").endswith("hardware-flush"))


def test_git_waits_for_the_disk_for_objects_and_refs_but_not_for_a_private_index(workspace, tmp_path):
    vault, trace = workspace.vault, tmp_path / "trace"
    who = {f"GIT_{role}_{part}": "x" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    commit = ("commit-tree", workspace.tree_of(workspace.base), "-F", "-")
    update = f"update refs/flyball/x\0{workspace.base}\0{vault.zero}\0".encode()
    assert flushes(vault.git(), trace, "hash-object", "-w", "--stdin", input=b"new") == 1
    assert flushes(vault.git(), trace, *commit, input=b"m\n", env=who) == 1
    assert flushes(vault.git(), trace, "update-ref", "-z", "--stdin", input=update) == 1
    git = vault.git(workspace.root, tmp_path / "index")
    assert flushes(git, trace, "read-tree", workspace.base) == 0


ODD = ('say "hi"', "two\nlines", "ends in return\r", "back\\slash", " blank ", os.fsdecode(b"caf\xe9"))


@pytest.mark.req("O45")
def test_files_of_any_name_that_come_out_as_they_were_saved_are_let_go(user, open_workspace, at):
    for name in ODD:
        user.write(name, "before\n")
    (user.root / "link").symlink_to("b.txt")
    user.commit()
    workspace = open_workspace(user)
    for name in ODD:
        (workspace.root / name).write_text("after\n")
    (workspace.root / "link").unlink()
    (workspace.root / "link").symlink_to("src")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.restore("base") == ()
    assert {(workspace.root / name).read_text() for name in ODD} == {"before\n"}
    assert os.readlink(workspace.root / "link") == "b.txt"
    assert set(workspace.checkpoints) == {"one"}
    workspace.restore(saved.commit)
    assert {(workspace.root / name).read_text() for name in ODD} == {"after\n"}
