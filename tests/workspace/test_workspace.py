import os
from pathlib import Path

import pytest

from flyball.ports import Workspace


def test_it_plays_the_port(workspace):
    port: Workspace = workspace
    assert port.branch == "flyball/001-thing"


@pytest.mark.req("C61")
def test_accepting_a_tree_puts_it_on_its_parent_and_may_be_repeated(workspace, at):
    (workspace.root / "b.txt").write_text("weakened\n")
    (workspace.root / "c.txt").write_text("new\n")
    candidate = workspace.snapshot("turn-1", "m", at)
    tree = workspace.overlay(candidate.commit, {"b.txt": workspace.base})
    accepted = workspace.accept("one", "checkpoint: one", at, tree=tree, parent=workspace.base)
    assert accepted.parent == workspace.base
    assert (workspace.root / "b.txt").read_text() == "one\ntwo\n"
    assert (workspace.root / "c.txt").read_text() == "new\n"
    assert workspace.tip == accepted.commit == workspace.checkpoints["one"]
    assert workspace.accept("one", "checkpoint: one", at, tree=tree, parent=workspace.base) == accepted


@pytest.mark.req("O44")
def test_a_tree_that_changed_nothing_makes_no_commit_but_has_its_label(workspace, at):
    (workspace.root / "c.txt").write_text("new\n")
    kept = workspace.snapshot("turn-1", "m", at)
    green = workspace.accept("GREEN", "green", at, tree=kept.tree, parent=workspace.base)
    workspace.snapshot("turn-2", "m", at)
    again = workspace.accept("REFACTOR", "refactor", at, tree=kept.tree, parent=green.commit)
    assert again.commit == green.commit
    assert workspace.checkpoints["REFACTOR"] == workspace.checkpoints["GREEN"] == workspace.tip
    assert workspace.accept("REFACTOR", "refactor", at, tree=kept.tree, parent=green.commit).commit == green.commit


def test_a_copy_is_disposable_and_tells_what_was_edited(user, workspace, at, contents):
    copy = workspace.copy("reviewer", workspace.base)
    assert contents(copy) == contents(workspace.root)
    assert type(user)(copy).git("status", "--porcelain") == ""
    (copy / "b.txt").write_text("edited\n")
    (copy / "new.txt").write_text("new\n")
    (copy / "x.log").write_text("ignored\n")
    assert workspace.discard("reviewer") == ("b.txt", "new.txt")
    assert not copy.exists()
    again = workspace.copy("reviewer", workspace.base)
    assert workspace.discard("reviewer") == ()
    assert not again.exists()


def test_two_exports_do_not_disturb_each_other(workspace, tmp_path, at):
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    for tree, name in ((saved.tree, "x"), (workspace.tree_of(workspace.base), "y"), (saved.tree, "x")):
        workspace.export(tree, tmp_path / name)
    assert (tmp_path / "x" / "b.txt").read_text() == "changed\n"
    assert (tmp_path / "y" / "b.txt").read_text() == "one\ntwo\n"
    assert os.listdir(Path(workspace.checkout.exports))
