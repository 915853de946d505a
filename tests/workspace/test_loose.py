"""What flyball writes into its vault without git is what git would have written, and what git wrote is read alike."""

import json
import os
from datetime import UTC, datetime

import pytest

from flyball.workspace import loose
from flyball.workspace.checkpoint import Author, commit_tree

DATE = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "flyball"), ("EMAIL", "flyball@localhost"), ("DATE", "@1772366400 +0000"))
}


@pytest.mark.parametrize("text", ["one line", "a title\n\nand more\n\n\n", "ümlaut, 日本 and \udcff", "", "\n\nlate"])
@pytest.mark.parametrize("rooted", [False, True])
def test_a_commit_is_the_one_that_git_would_have_made(workspace, at, text, rooted):
    tree, parent = workspace.tree_of(workspace.base), None if rooted else workspace.base
    message = text.rstrip("\n").encode("utf-8", "backslashreplace") + b"\n"
    parents = ["-p", parent] if parent else []
    wanted = workspace.vault.git().line("commit-tree", tree, *parents, "-F", "-", input=message, env=DATE)
    assert commit_tree(workspace.vault, tree, parent, message=text, at=at, author=Author()) == wanted


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_is_written_is_read_by_git_and_found_sound(new_user, open_workspace, at, object_format):
    user = new_user("project", f"--object-format={object_format}")
    user.write("a.txt")
    user.commit()
    workspace = open_workspace(user)
    tree = workspace.tree_of(workspace.base)
    author = Author("A <b>\nC", "<a@b>")
    commit = commit_tree(workspace.vault, tree, workspace.base, message="m", at=at, author=author)
    git = workspace.vault.git()
    assert git.line("log", "-1", "--format=%an|%ae|%at|%s|%P", commit) == f"A bC|a@b|1772366400|m|{workspace.base}"
    git.out("fsck", "--strict", commit)


def test_the_same_object_is_written_once(home):
    home.mkdir()
    first = loose.write(home, "sha1", "blob", b"content")
    (path,) = home.glob("*/*")
    written = path.stat()
    assert loose.write(home, "sha1", "blob", b"content") == first
    assert path.stat().st_ino == written.st_ino
    assert len(list(home.glob("*/*"))) == 1


def test_what_git_wrote_unpacked_is_read(user):
    blob = user.git("rev-parse", "HEAD:b.txt")
    assert loose.read(user.root / ".git/objects", blob) == ("blob", b"one\ntwo\n")


def test_an_object_that_is_packed_or_damaged_is_left_to_git(user, workspace, tmp_path):
    blob = workspace.vault.git().line("rev-parse", f"{workspace.base}:b.txt")
    assert loose.read(workspace.vault.objects, blob) is None
    assert workspace.vault.content("blob", blob) == b"one\ntwo\n"
    for damaged in (b"no zlib", b""):
        (tmp_path / "ab").mkdir(exist_ok=True)
        (tmp_path / "ab" / "cd").write_bytes(damaged)
        assert loose.read(tmp_path, "abcd") is None


def test_a_commit_whose_tree_is_nowhere_is_refused(workspace, at):
    with pytest.raises(Exception, match="no commit or tree"):
        commit_tree(workspace.vault, "1" * 40, workspace.base, message="m", at=at, author=Author())


def test_a_time_without_its_zone_is_refused(workspace):
    tree = workspace.tree_of(workspace.base)
    naive = datetime(2026, 3, 1, 12, 0, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(ValueError, match="zone"):
        commit_tree(workspace.vault, tree, None, message="m", at=naive, author=Author())


def flushes(git, trace, *args, **options):
    """How often git waited for the disk."""
    git.out(*args, env={"GIT_TRACE2_EVENT": str(trace)}, **options)
    told = [json.loads(line) for line in trace.read_text().splitlines()]
    trace.unlink()
    return sum(int(each["value"]) for each in told if each.get("key", "").endswith("hardware-flush"))


def test_git_waits_for_the_disk_for_objects_and_refs_but_not_for_a_private_index(workspace, tmp_path):
    vault, trace = workspace.vault, tmp_path / "trace"
    assert flushes(vault.git(), trace, "hash-object", "-w", "--stdin", input=b"new") == 1
    assert flushes(vault.git(), trace, "update-ref", "refs/flyball/x", workspace.base) == 1
    git = vault.git(workspace.root, tmp_path / "index")
    assert flushes(git, trace, "read-tree", workspace.base) == 0


def test_an_object_is_on_disk_when_it_is_named(tmp_path, monkeypatch):
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    loose.write(tmp_path, "sha1", "blob", b"content")
    assert len(synced) == 1
