import os

import pytest

from flyball.workspace.trees import Lines, entries


@pytest.fixture
def two(workspace, at):
    """The base and a checkpoint with every kind of change."""
    root = workspace.root
    (root / "b.txt").write_text("one\n2\nthree\n")
    (root / "src" / "a.py").rename(root / "src" / "moved.py")
    (root / "bin").write_bytes(b"\0\1\2")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("b.txt")
    (root / os.fsdecode(b"caf\xe9\n")).write_text("odd\n")
    return workspace, workspace.base, workspace.snapshot("one", "m", at).commit


def test_a_moved_file_is_one_deleted_and_one_added(two):
    workspace, old, new = two
    odd = os.fsdecode(b"caf\xe9\n")
    assert set(workspace.changed_files(old, new)) == {
        ("M", "b.txt"),
        ("D", "src/a.py"),
        *(("A", path) for path in ("src/moved.py", "bin", "run.sh", "link", odd)),
    }


def test_lines_are_counted_file_by_file(two):
    workspace, old, new = two
    counted = {each.path: each for each in workspace.numstat(old, new)}
    assert counted["b.txt"] == Lines("b.txt", 2, 1)
    assert counted["bin"] == Lines("bin", None, None)


def test_a_diff_applies_and_can_be_narrowed(two, user, tmp_path):
    workspace, old, new = two
    patch = tmp_path / "patch"
    patch.write_bytes(workspace.diff(old, new))
    user.git("apply", "--index", str(patch))
    assert user.git("write-tree") == workspace.tree_of(new)
    assert b"run.sh" not in workspace.diff(old, new, ["b.txt"])
    assert workspace.diff(old, new, ["*"]) == b""


def test_files_are_read_and_listed(two):
    workspace, old, new = two
    odd = os.fsdecode(b"caf\xe9\n")
    assert workspace.read_file(new, odd) == b"odd\n"
    assert workspace.read_file(new, "link") == b"b.txt"
    assert workspace.read_file(new, "bin") == b"\0\1\2"
    assert workspace.read_file(new, "absent") is None
    assert workspace.read_file(new, "src") is None
    assert workspace.read_file(new, "absent/deeper") is None
    assert workspace.list_files(old) == (".gitignore", "b.txt", "src/a.py")


@pytest.mark.req("C42")
def test_an_overlay_takes_the_named_paths_from_another_commit(two):
    workspace, old, new = two
    tree = workspace.overlay(new, {"b.txt": old, "run.sh": None, "link": old, "src": old})
    assert workspace.read_file(tree, "b.txt") == b"one\ntwo\n"
    assert set(workspace.list_files(tree)) == {".gitignore", "b.txt", "bin", "src/a.py", os.fsdecode(b"caf\xe9\n")}
    assert workspace.overlay(new, {}) == workspace.tree_of(new)


def test_an_overlay_may_hold_new_contents_as_executable_as_they_were(two):
    workspace, old, new = two
    tree = workspace.overlay(new, {"b.txt": old}, {"run.sh": b"echo\n", "fresh/file": b"new\n"})
    assert workspace.read_file(tree, "run.sh") == b"echo\n"
    assert workspace.read_file(tree, "fresh/file") == b"new\n"
    modes = {e.path: e.mode for e in entries(workspace.vault, tree)}
    assert (modes["run.sh"], modes["fresh/file"]) == ("100755", "100644")


def test_an_overlay_swaps_a_file_for_a_folder_and_back(workspace, at):
    root = workspace.root
    (root / "thing").write_text("file\n")
    first = workspace.snapshot("one", "m", at).commit
    (root / "thing").unlink()
    (root / "thing").mkdir()
    (root / "thing" / "inside").write_text("folder\n")
    second = workspace.snapshot("two", "m", at).commit
    assert workspace.overlay(second, {"thing": first}) == workspace.tree_of(first)
    assert workspace.overlay(first, {"thing": second}) == workspace.tree_of(second)
    assert workspace.overlay(second, {"thing": None}) == workspace.tree_of(workspace.base)


@pytest.mark.slow
def test_many_paths_can_be_overlaid(workspace, at):
    for number in range(1200):
        (workspace.root / f"f{number}").write_text("x")
    saved = workspace.snapshot("one", "m", at).commit
    assert workspace.overlay(saved, {f"f{n}": workspace.base for n in range(1200)}) == workspace.tree_of(workspace.base)
