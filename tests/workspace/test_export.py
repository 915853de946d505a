import os
import socket
from pathlib import Path

import pytest


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.mark.req("C42")
def test_an_export_is_exactly_the_tree_whatever_lay_there(workspace, out, contents):
    out.mkdir()
    (out / "x.log").write_text("ignored by the tree's own rules")
    (out / "sitecustomize.py").write_text("raise SystemExit")
    (out / ".git").mkdir()
    (out / ".git" / "config").write_text("x")
    (out / "src").mkdir()
    (out / "src" / ".git").mkdir()
    (out / "src" / "a.py").mkdir()
    (out / "src" / "a.py" / "deep").write_text("in the way")
    (out / "b.txt").symlink_to("/etc/hostname")
    os.mkfifo(out / "pipe")
    (out / "closed").mkdir()
    (out / "closed" / "file").write_text("x")
    (out / "closed").chmod(0)
    workspace.export(workspace.tree_of(workspace.base), out)
    assert contents(out) == contents(workspace.root)
    assert sorted(os.listdir(out)) == [".gitignore", "b.txt", "src"]
    assert os.listdir(out / "src") == ["a.py"]
    assert not (out / "b.txt").is_symlink()


def test_environment_folders_are_kept_at_any_depth(workspace, out):
    for name in (".venv", "src/node_modules", "other/node_modules"):
        (out / name).mkdir(parents=True)
        (out / name / "installed").write_text("x")
    workspace.export(workspace.tree_of(workspace.base), out, keep=(".venv", "node_modules"))
    assert (out / ".venv" / "installed").exists()
    assert (out / "src" / "node_modules" / "installed").exists()
    assert not (out / "other").exists()


def test_unchanged_files_keep_their_times_and_changed_ones_are_put_right(workspace, out, at):
    base = workspace.tree_of(workspace.base)
    workspace.export(base, out)
    before = (out / "src" / "a.py").stat()
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    workspace.export(saved.tree, out)
    assert (out / "b.txt").read_text() == "changed\n"
    assert (out / "src" / "a.py").stat().st_mtime_ns == before.st_mtime_ns
    assert (out / "src" / "a.py").stat().st_ino == before.st_ino
    old = (out / "b.txt").stat()
    (out / "b.txt").write_text("CHANGED\n")
    os.utime(out / "b.txt", ns=(old.st_atime_ns, old.st_mtime_ns))
    (out / "src" / "a.py").chmod(0o755)
    (out / ".gitignore").unlink()
    workspace.export(saved.tree, out)
    assert (out / "b.txt").read_text() == "changed\n"
    assert not (out / "src" / "a.py").stat().st_mode & 0o100
    assert (out / ".gitignore").exists()


def test_a_broken_export_index_is_made_again(workspace, out):
    tree = workspace.tree_of(workspace.base)
    workspace.export(tree, out)
    for index in (workspace.checkout.folder / "exports").iterdir():
        index.write_bytes(b"rubbish" * 20)
    (out / "b.txt").write_text("changed\n")
    workspace.export(tree, out)
    assert (out / "b.txt").read_text() == "one\ntwo\n"


def test_a_socket_left_by_a_test_is_removed(workspace, out, monkeypatch):
    tree = workspace.tree_of(workspace.base)
    workspace.export(tree, out)
    monkeypatch.chdir(out)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("left")
    workspace.export(tree, out)
    assert not Path("left").exists()


def test_an_export_is_what_a_clone_would_hold(user, workspace, at, tmp_path):
    root, place = workspace.root, tmp_path / "gate"
    (root / "id.py").write_text("x = '$Id$'\n")
    (root / "run.bat").write_text("echo\n")
    (root / "big.bin").write_text("pointer\n")
    plain = workspace.snapshot("plain", "m", at)
    workspace.export(plain.tree, place)
    (root / ".gitattributes").write_text(
        "*.py ident\n*.bat text eol=crlf\n*.txt working-tree-encoding=UTF-16\n*.bin filter=lfs\n"
    )
    saved = workspace.snapshot("attributes", "m", at)
    for _ in range(2):
        workspace.export(saved.tree, place)
        assert (place / "id.py").read_text().startswith("x = '$Id: ")
        assert (place / "run.bat").read_bytes() == b"echo\r\n"
        assert (place / "b.txt").read_bytes().decode("utf-16") == "one\ntwo\n"
        assert (place / "big.bin").read_text() == "pointer\n"
        workspace.export(plain.tree, place)
        assert (place / "id.py").read_text() == "x = '$Id$'\n"
        assert (place / "run.bat").read_bytes() == b"echo\n"
        assert (place / "b.txt").read_bytes() == b"one\ntwo\n"
    workspace.publish(saved.commit)
    user.git("clone", "-q", "-b", workspace.branch, str(user.root), str(tmp_path / "clone"))
    workspace.export(saved.tree, place)
    for name in ("id.py", "run.bat", "b.txt"):
        assert (place / name).read_bytes() == (tmp_path / "clone" / name).read_bytes()


def test_a_disposable_copy_holds_the_bytes_that_an_agent_sees_in_its_own_tree(workspace, at):
    (workspace.root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    saved = workspace.snapshot("one", "m", at)
    assert (workspace.copy("review", saved.commit) / "b.txt").read_bytes() == b"one\ntwo\n"
    assert workspace.discard("review") == ()
