"""What set-up leaves in a tree is in no checkpoint, and stays in the folder."""

import os

import pytest

from flyball.ports import Kept

pytestmark = pytest.mark.req("C8")

AGENTS = {"src/new.py": "work\n"}


def set_up(workspace, at):
    """As `pip install -e .` and `npm install` do: an egg-info, a lock file made, one changed, and one file removed."""
    started = Kept(workspace.base, workspace.tree_of(workspace.base), None)
    for path, text in {
        "thing.egg-info/PKG-INFO": "Name: thing\n",
        "src/lib/thing.egg-info/SOURCES.txt": "a\n",
        "package-lock.json": "{}\n",
        "yarn.lock": "changed by set-up\n",
        "docs/made.txt": "made\n",
    }.items():
        put(workspace, path, text)
    (workspace.root / "gone.txt").unlink()
    return started, workspace.leave_out(started.commit, at)


def put(workspace, path, text):
    place = workspace.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.fixture
def ready(user, open_workspace):
    user.write("yarn.lock", "tracked\n")
    user.write("gone.txt", "removed by set-up\n")
    user.write("docs/page.md", "page\n")
    user.commit("More")
    return open_workspace(user)


def of(workspace, commit):
    return {path for _, path in workspace.changed_files(workspace.base, commit)}


def test_files_it_created_or_changed_are_named_and_in_no_checkpoint(ready, at):
    started, left = set_up(ready, at)
    assert left == (
        "docs/made.txt",
        "gone.txt",
        "package-lock.json",
        "src/lib/thing.egg-info",
        "thing.egg-info",
        "yarn.lock",
    )
    assert ready.snapshot("one", "m", at).tree == started.tree
    put(ready, "src/new.py", "work\n")
    put(ready, "docs/adr.md", "a new page beside what set-up made\n")
    assert of(ready, ready.snapshot("two", "m", at).commit) == {"src/new.py", "docs/adr.md"}


def test_a_created_file_stays_out_whatever_becomes_of_it_and_so_does_what_tools_add_to_their_folder(ready, at):
    started, _ = set_up(ready, at)
    put(ready, "package-lock.json", '{"more": 1}\n')
    put(ready, "thing.egg-info/top_level.txt", "added when the agent installed it again\n")
    assert ready.snapshot("one", "m", at).tree == started.tree


def test_a_tracked_file_that_somebody_else_changes_later_is_work(ready, at):
    set_up(ready, at)
    put(ready, "yarn.lock", "with the dependency that was asked for\n")
    put(ready, "gone.txt", "written anew\n")
    saved = ready.snapshot("one", "m", at)
    assert ready.read_file(saved.commit, "yarn.lock") == b"with the dependency that was asked for\n"
    assert of(ready, saved.commit) == {"yarn.lock", "gone.txt"}
    put(ready, "yarn.lock", "tracked\n")
    assert of(ready, ready.snapshot("two", "m", at).commit) == {"gone.txt"}


def test_rolling_back_leaves_the_folder_as_set_up_left_it(ready, at, contents):
    set_up(ready, at)
    left = contents(ready.root)
    ready.snapshot("one", "m", at)
    put(ready, "src/new.py", "work\n")
    put(ready, "yarn.lock", "work\n")
    put(ready, "package-lock.json", '{"more": 1}\n')
    ready.snapshot("two", "m", at)
    ready.restore("one")
    assert contents(ready.root) == left | {"package-lock.json": b'{"more": 1}\n'}
    ready.restore("two")
    assert (ready.root / "yarn.lock").read_text() == "work\n"
    assert (ready.root / "src/new.py").exists()


def test_what_was_left_is_known_to_the_next_controller_and_taken_in_anew_when_set_up_runs_again(
    ready, user, open_workspace, at
):
    started, _ = set_up(ready, at)
    again = open_workspace(user)
    assert again.snapshot("one", "m", at).tree == started.tree
    put(again, "thing.egg-info/requires.txt", "x\n")
    put(again, "uv.lock", "made by the second run\n")
    assert "uv.lock" in again.leave_out(started.commit, at)
    assert again.snapshot("two", "m", at).tree == started.tree


def test_an_accepted_tree_is_followed_and_set_up_is_still_there(ready, at):
    started, _ = set_up(ready, at)
    put(ready, "src/new.py", "work\n")
    saved = ready.snapshot("one", "m", at)
    tree = ready.overlay(saved.commit, {"src/new.py": None})
    ready.accept("RED", "m", at, tree=tree, parent=started.commit)
    assert not (ready.root / "src/new.py").exists()
    assert (ready.root / "thing.egg-info/PKG-INFO").exists()
    assert (ready.root / "yarn.lock").read_text() == "changed by set-up\n"


def test_names_that_are_no_text_are_written_down_all_the_same(workspace, at):
    started = Kept(workspace.base, workspace.tree_of(workspace.base), None)
    (workspace.root / os.fsdecode(b"made-\xff.lock")).write_text("x\n")
    (name,) = workspace.leave_out(started.commit, at)
    name.encode()
    assert workspace.snapshot("one", "m", at).tree == started.tree


def test_a_copy_for_a_reviewer_has_what_set_up_created_and_edits_of_that_are_no_edits(ready, at):
    put(ready, ".venv/bin/python", "an environment\n")
    put(ready, ".gitignore", "*.log\n.venv/\n")
    set_up(ready, at)
    ready.set_aside()
    saved = ready.snapshot("one", "m", at)
    for _ in range(2):
        copy = ready.copy("reviewer", saved.commit)
        for name in (".venv/bin/python", "thing.egg-info/PKG-INFO", "docs/made.txt"):
            assert (copy / name).read_text() == (ready.root / name).read_text()
        put_into = copy / ".venv/bin/python"
        put_into.write_text("changed by the reviewer\n")
        (copy / "docs/made.txt").unlink()
        assert ready.discard("reviewer") == ()
    assert (ready.root / ".venv/bin/python").read_text() == "an environment\n"
