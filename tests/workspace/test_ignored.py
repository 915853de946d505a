"""What the user had ignored when a task began stays theirs, whatever becomes of the ignore rules."""

import os

import pytest

from flyball.workspace.ignored import Ignored

LEFT_OUT = "ignored or unreadable when the task began"


@pytest.fixture
def here(user, open_workspace):
    user.write(".gitignore", "*.log\nbuild/\n.env\nsecret/\n")
    user.commit()
    user.write(".env", "KEY=1\n")
    user.write("secret/deep/diary.txt", "dear diary\n")
    user.write("src/app.log", "mine\n")
    return open_workspace(user, in_place=True)


def told(saved):
    return [note for note in saved.notes if LEFT_OUT in note]


@pytest.mark.req("O46")
def test_what_was_ignored_at_the_start_is_neither_saved_nor_removed_once_it_is_no_longer_ignored(user, here, at):
    here.start(at)
    user.write(".gitignore", "")
    user.write("src/new.py", "new\n")
    saved = here.snapshot("one", "m", at)
    assert [path for _, path in here.changed_files(here.base, saved.commit)] == [".gitignore", "src/new.py"]
    assert [note.partition(":")[0] for note in told(saved)] == [".env, secret, src/app.log"]
    here.restore("base")
    here.restore("one")
    assert (user.root / ".env").read_text() == "KEY=1\n"
    assert (user.root / "secret/deep/diary.txt").read_text() == "dear diary\n"
    assert (user.root / "src/app.log").read_text() == "mine\n"


def test_what_was_ignored_is_remembered_by_the_next_controller(user, here, open_workspace, at):
    user.write(".gitignore", "")
    again = open_workspace(user, in_place=True)
    assert [path for _, path in again.changed_files(again.base, again.snapshot("one", "m", at).commit)] == [
        ".gitignore"
    ]


def test_a_new_file_beside_ignored_ones_is_saved(user, here, at):
    user.write("logs/old.log", "old\n")
    user.write("src/readme.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("A", "src/readme.txt"),)
    assert not told(saved)


def test_a_folder_whose_files_alone_are_ignored_is_open_to_new_work(user, open_workspace, at):
    user.write("pkg/cache.log", "old\n")
    here = open_workspace(user, in_place=True)
    user.write("pkg/new.py", "new\n")
    assert here.changed_files(here.base, here.snapshot("one", "m", at).commit) == (("A", "pkg/new.py"),)


def test_going_back_does_not_lay_a_tracked_version_over_a_file_the_user_stopped_tracking(user, open_workspace, at):
    user.write("conf/.env", "old\n")
    user.commit()
    user.git("rm", "-q", "--cached", "conf/.env")
    user.write(".gitignore", ".env\n")
    user.write("conf/.env", "KEY=1\n")
    here = open_workspace(user, in_place=True)
    here.start(at)
    here.restore("base")
    assert (user.root / "conf/.env").read_text() == "KEY=1\n"
    assert (user.root / ".gitignore").read_text() == "*.log\nbuild/\n"


def test_a_file_in_place_of_a_folder_with_ignored_files_never_makes_the_folder_go(user, here, at):
    (user.root / "src" / "a.py").unlink()
    (user.root / "src" / "app.log").unlink()
    (user.root / "src").rmdir()
    user.write("src", "a file now\n")
    here.snapshot("one", "m", at)
    (user.root / "src").unlink()
    user.write("src/app.log", "mine again\n")
    here.restore("one")
    assert (user.root / "src/app.log").read_text() == "mine again\n"


def test_ignored_files_of_a_repository_inside_the_tree_stay_out_as_well(user, open_workspace, at):
    user.git("init", "-q", "inner")
    user.write("inner/.gitignore", ".env\n")
    user.write("inner/.env", "KEY=1\n")
    here = open_workspace(user, in_place=True)
    here.start(at)
    user.write("inner/.gitignore", "\n")
    user.write("inner/new.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert [path for _, path in here.changed_files(here.base, saved.commit)] == ["inner/.gitignore", "inner/new.txt"]
    here.restore("start")
    assert (user.root / "inner/.env").read_text() == "KEY=1\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_could_not_be_read_at_the_start_is_not_removed_when_it_can(user, open_workspace, at):
    closed = user.write("closed.txt", "mine\n")
    closed.chmod(0)
    here = open_workspace(user, in_place=True)
    here.start(at)
    closed.chmod(0o600)
    assert told(here.snapshot("one", "m", at))
    here.restore("start")
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
