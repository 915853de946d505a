import os

import pytest


@pytest.fixture
def here(user, open_workspace):
    return open_workspace(user, in_place=True)


@pytest.mark.req("O46")
def test_in_place_the_tree_is_the_users_and_git_notices_nothing(user, here, at):
    assert here.root == user.root
    before = user.everything()
    user.write("b.txt", "changed\n")
    user.write("new.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "b.txt"), ("A", "new.txt"))
    here.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
    assert not (user.root / "new.txt").exists()
    assert user.everything() == before
    here.restore("one")
    assert (user.root / "new.txt").read_text() == "new\n"
    assert user.everything() == before


def test_a_dirty_start_is_saved_whole(user, open_workspace, at):
    user.write("b.txt", "dirty\n")
    user.write("staged.txt", "staged\n")
    user.git("add", "staged.txt")
    user.write("untracked.txt")
    user.write("x.log")
    (user.root / "src" / "a.py").unlink()
    before = user.everything()
    here = open_workspace(user, in_place=True)
    saved = here.snapshot("start", "m", at)
    assert here.changed_files(here.base, saved.commit) == (
        *(("M", "b.txt"), ("D", "src/a.py"), ("A", "staged.txt"), ("A", "untracked.txt")),
    )
    user.write("b.txt", "worse\n")
    here.restore("start")
    assert (user.root / "b.txt").read_text() == "dirty\n"
    assert (user.root / "staged.txt").read_text() == "staged\n"
    assert not (user.root / "src" / "a.py").exists()
    assert (user.root / "x.log").exists()
    assert user.everything() == before


def test_files_outside_a_sparse_checkout_are_not_taken_for_deleted(user, open_workspace, at):
    user.write("far/away.txt", "far\n")
    user.commit()
    user.git("sparse-checkout", "set", "src")
    assert not (user.root / "far").exists()
    here = open_workspace(user, in_place=True)
    user.write("src/a.py", "changed\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "src/a.py"),)


def test_files_that_a_filter_changed_are_not_taken_for_edits(user, open_workspace, at):
    user.git("config", "filter.upper.clean", "tr a-z A-Z")
    user.git("config", "filter.upper.smudge", "tr A-Z a-z")
    user.write(".gitattributes", "*.up filter=upper\n")
    os.utime(user.write("x.up", "hello\n"), (1, 1))
    user.commit()
    here = open_workspace(user, in_place=True)
    saved = here.snapshot("one", "m", at)
    assert saved.tree == here.tree_of(here.base)


def test_a_split_index_is_no_obstacle(user, open_workspace, at):
    user.git("update-index", "--split-index")
    user.write("b.txt", "changed\n")
    before = user.everything()
    here = open_workspace(user, in_place=True)
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "b.txt"),)
    assert user.everything() == before


def test_the_populated_submodule_stays_as_it_is(user, new_user, open_workspace, at):
    inner = new_user("inner")
    inner.write("i.txt")
    inner.commit()
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib")
    user.commit()
    here = open_workspace(user, in_place=True)
    user.write("lib/i.txt", "changed inside\n")
    user.write("b.txt", "changed\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "b.txt"),)
    here.restore("base")
    assert (user.root / "lib" / "i.txt").read_text() == "changed inside\n"
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
