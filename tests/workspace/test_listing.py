"""A listing grown from the one before is what git lists."""

import os
import shutil

import pytest

from flyball.workspace.listing import listed


def told_by_git(workspace, tree):
    lines = workspace.vault.git().out("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]
    heads = [(line.split(b"\t", 1)[0].split(), os.fsdecode(line.split(b"\t", 1)[1])) for line in lines]
    return [(mode.decode(), blob.decode(), path) for (mode, _, blob), path in heads]


def add(root):
    (root / "src" / "deep" / "er").mkdir(parents=True)
    (root / "src" / "deep" / "er" / "x.py").write_text("x\n")
    (root / "src-more").write_text("sorts between src and its files\n")
    (root / os.fsdecode(b"caf\xe9\n")).write_text("odd\n")


def turn_a_folder_into_a_file(root):
    shutil.rmtree(root / "src")
    (root / "src").write_text("a file now\n")


def turn_a_file_into_a_folder(root):
    (root / "b.txt").unlink()
    (root / "b.txt").mkdir()
    (root / "b.txt" / "inner").symlink_to("nowhere")


def change_modes(root):
    (root / "src" / "a.py").chmod(0o755)


def empty(root):
    for path in root.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_whatever_was_done_between_two_trees_the_second_is_listed_as_git_does(
    new_user, open_workspace, at, object_format
):
    user = new_user("project", f"--object-format={object_format}")
    user.write("src/a.py")
    user.write("lib/kept/b.py")
    user.write("b.txt")
    user.commit()
    workspace = open_workspace(user)
    trees = [workspace.tree_of(workspace.base)]
    for deed in (add, change_modes, turn_a_file_into_a_folder, turn_a_folder_into_a_file, empty):
        deed(workspace.root)
        trees.append(workspace.snapshot(deed.__name__, "m", at).tree)
    for tree in (*trees, *trees[::-1]):
        found = listed(workspace.vault, tree).files
        assert [(each.mode, each.blob, each.path) for each in found.values()] == told_by_git(workspace, tree)
        assert list(found) == [each.path for each in found.values()]


def test_a_tree_that_grew_by_loose_objects_alone_is_listed_without_git(workspace, at, monkeypatch):
    listed(workspace.vault, workspace.tree_of(workspace.base))
    (workspace.root / "b.txt").write_text("changed\n")
    tree = workspace.snapshot("one", "m", at).tree
    wanted = told_by_git(workspace, tree)
    monkeypatch.setattr("flyball.process.capture", lambda *_, **__: pytest.fail("git was asked"))
    found = listed(workspace.vault, tree).files
    assert [(each.mode, each.blob, each.path) for each in found.values()] == wanted


def test_folders_deeper_than_python_goes_are_left_to_git(workspace, at, monkeypatch):
    def too_deep(*_: object) -> None:
        raise RecursionError

    listed(workspace.vault, workspace.tree_of(workspace.base))
    (workspace.root / "b.txt").write_text("changed\n")
    tree = workspace.snapshot("one", "m", at).tree
    monkeypatch.setattr("flyball.workspace.listing._read", too_deep)
    assert list(listed(workspace.vault, tree).files) == [path for _, _, path in told_by_git(workspace, tree)]
