"""What was ignored before the first turn stays out of checkpoints, whatever becomes of the ignore rules."""

import os

import pytest

from flyball.workspace.ignored import Ignored

LEFT_OUT = "ignored or unreadable when the task began"


@pytest.fixture
def here(user, open_workspace):
    user.write(".gitignore", "*.log\nbuild/\n.env\nsecret/\n")
    user.commit()
    workspace = open_workspace(user)
    put(workspace, ".env", "KEY=1\n")
    put(workspace, "secret/deep/diary.txt", "dear diary\n")
    put(workspace, "src/app.log", "mine\n")
    workspace.set_aside()
    return workspace


def put(workspace, path, text):
    place = workspace.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def told(saved):
    return [note for note in saved.notes if LEFT_OUT in note]


@pytest.mark.req("O46")
def test_what_was_ignored_at_the_start_is_neither_saved_nor_removed_once_it_is_no_longer_ignored(user, here, at):
    put(here, ".gitignore", "")
    put(here, "src/new.py", "new\n")
    saved = here.snapshot("one", "m", at)
    assert [path for _, path in here.changed_files(here.base, saved.commit)] == [".gitignore", "src/new.py"]
    assert [note.partition(":")[0] for note in told(saved)] == [".env, secret, src/app.log"]
    here.restore("base")
    here.restore("one")
    assert (here.root / ".env").read_text() == "KEY=1\n"
    assert (here.root / "secret/deep/diary.txt").read_text() == "dear diary\n"
    assert (here.root / "src/app.log").read_text() == "mine\n"


def test_what_was_ignored_is_remembered_by_the_next_controller(user, here, open_workspace, at):
    put(here, ".gitignore", "")
    again = open_workspace(user)
    assert [path for _, path in again.changed_files(again.base, again.snapshot("one", "m", at).commit)] == [
        ".gitignore"
    ]


def test_a_new_file_beside_ignored_ones_is_saved(user, here, at):
    put(here, "logs/old.log", "old\n")
    put(here, "src/readme.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("A", "src/readme.txt"),)
    assert not told(saved)


def test_a_folder_whose_files_alone_are_ignored_is_open_to_new_work(user, open_workspace, at):
    here = open_workspace(user)
    put(here, "pkg/cache.log", "old\n")
    here.set_aside()
    put(here, "pkg/new.py", "new\n")
    assert here.changed_files(here.base, here.snapshot("one", "m", at).commit) == (("A", "pkg/new.py"),)


def test_a_file_in_place_of_a_folder_with_ignored_files_never_makes_the_folder_go(user, here, at):
    (here.root / "src" / "a.py").unlink()
    (here.root / "src" / "app.log").unlink()
    (here.root / "src").rmdir()
    put(here, "src", "a file now\n")
    here.snapshot("one", "m", at)
    (here.root / "src").unlink()
    put(here, "src/app.log", "mine again\n")
    here.restore("one")
    assert (here.root / "src/app.log").read_text() == "mine again\n"


def test_ignored_files_of_a_repository_inside_the_tree_stay_out_as_well(user, open_workspace, at):
    here = open_workspace(user)
    user.git("init", "-q", str(here.root / "inner"))
    put(here, "inner/.gitignore", ".env\n")
    put(here, "inner/.env", "KEY=1\n")
    here.set_aside()
    put(here, "inner/.gitignore", "\n")
    put(here, "inner/new.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert [path for _, path in here.changed_files(here.base, saved.commit)] == ["inner/.gitignore", "inner/new.txt"]
    here.restore("base")
    assert (here.root / "inner/.env").read_text() == "KEY=1\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_could_not_be_read_at_the_start_is_not_removed_when_it_can(user, open_workspace, at):
    here = open_workspace(user)
    closed = put(here, "closed.txt", "mine\n")
    closed.chmod(0)
    here.set_aside()
    closed.chmod(0o600)
    assert told(here.snapshot("one", "m", at))
    here.restore("base")
    assert closed.read_text() == "mine\n"


def test_what_set_up_left_ignored_in_an_isolated_tree_is_not_saved_once_it_is_no_longer_ignored(workspace, at):
    installed = workspace.root / "build" / "lib.so"
    installed.parent.mkdir()
    installed.write_text("installed\n")
    workspace.set_aside()
    (workspace.root / ".gitignore").write_text("")
    (workspace.root / "made.log").write_text("made by the agent\n")
    saved = workspace.snapshot("one", "m", at)
    assert [path for _, path in workspace.changed_files(workspace.base, saved.commit)] == [".gitignore", "made.log"]
    workspace.restore("base")
    assert installed.exists()


def test_paths_are_held_by_what_they_lie_in_and_by_what_they_stand_in_place_of():
    ignored = Ignored.of(["secret/", "a/b.env"])
    assert ignored.holding("secret/deep/x") == "secret"
    assert ignored.holding("secret") == "secret"
    assert ignored.holding("secrets") is None
    assert ignored.holding("a") == "a"
    assert ignored.holding("a/c") is None
    assert ignored.split(["a/", "a/b.env", "c"]) == (["a/", "c"], ["a/b.env"])
