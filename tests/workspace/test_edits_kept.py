"""In place no byte of the user's is lost: what git overlooks is saved, and nothing is restored over that was not."""

import itertools
import os
import shutil
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from flyball import faults, swap
from flyball.workspace import Repository, staging
from flyball.workspace.errors import GitFailed

pytestmark = pytest.mark.req("C46")


@pytest.fixture
def begin(user, open_workspace, at):
    """The workspace in place with what was there saved as the start, as a task begins."""

    def make():
        here = open_workspace(user, in_place=True)
        here.start(at)
        here.set_aside()
        return here

    return make


def saved_somewhere(here, path, content):
    """Whether some checkpoint holds the content at the path."""
    return any(here.read_file(commit, path) == content for commit in here.checkpoints.values())


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


FLAGS = ("--assume-unchanged", "--skip-worktree")


@pytest.mark.parametrize("flag", FLAGS)
def test_an_edit_git_was_told_to_overlook_is_saved_at_the_start_and_comes_back(user, begin, flag):
    user.git("update-index", flag, "b.txt")
    user.write("b.txt", "my local settings\n")
    here = begin()
    assert here.read_file(here.resolve("start"), "b.txt") == b"my local settings\n"
    user.write("b.txt", "an agent's\n")
    here.restore("start")
    assert (user.root / "b.txt").read_text() == "my local settings\n"


@pytest.mark.parametrize("flag", FLAGS)
def test_what_an_agent_writes_into_an_overlooked_file_is_measured_and_saved(user, begin, at, flag):
    user.git("update-index", flag, "b.txt")
    here = begin()
    user.write("b.txt", "an agent's\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "b.txt"),)
    here.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("flag", FLAGS)
def test_the_users_flags_stay_as_they_are(user, begin, at, flag):
    user.git("update-index", flag, "b.txt")
    before = user.everything()
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert user.everything() == before


@pytest.mark.parametrize("flag", FLAGS)
def test_an_overlooked_edit_counts_as_uncommitted(user, flag):
    user.git("update-index", flag, "b.txt")
    assert not Repository.find(user.root).uncommitted_files()
    user.write("b.txt", "my local settings\n")
    assert len(Repository.find(user.root).uncommitted_files()) == 1


def test_a_deleted_file_that_is_assumed_unchanged_is_a_change(user, begin):
    user.git("update-index", "--assume-unchanged", "b.txt")
    (user.root / "b.txt").unlink()
    here = begin()
    assert here.read_file(here.resolve("start"), "b.txt") is None


@pytest.fixture
def sparse(user):
    """A sparse checkout without the folder `far`."""
    user.write("far/away.txt", "far\n")
    user.write("far/deep/er.txt", "deep\n")
    user.commit()
    user.git("sparse-checkout", "set", "src")
    assert not (user.root / "far").exists()


def test_what_is_written_outside_a_sparse_cone_is_measured_and_saved(user, sparse, begin, at):
    here = begin()
    user.write("far/away.txt", "an agent's\n")
    user.write("far/new.txt", "new\n")
    saved = here.snapshot("one", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "far/away.txt"), ("A", "far/new.txt"))


def test_going_back_leaves_a_sparse_tree_sparse(user, sparse, begin, at):
    here = begin()
    user.write("far/away.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert not (user.root / "far").exists()
    saved = here.snapshot("two", "m", at)
    assert saved.tree == here.tree_of(here.base)
    here.restore("one")
    assert (user.root / "far" / "away.txt").read_text() == "an agent's\n"
    assert not (user.root / "far" / "deep").exists()


def test_what_was_written_outside_the_cone_and_removed_again_is_not_deleted(user, sparse, begin, at):
    here = begin()
    user.write("far/away.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    shutil.rmtree(user.root / "far")
    assert here.snapshot("two", "m", at).tree == here.tree_of(here.base)


def test_a_file_the_user_put_outside_the_cone_is_saved_and_comes_back(user, sparse, begin, at):
    user.write("far/away.txt", "the user's\n")
    assert len(Repository.find(user.root).uncommitted_files()) == 1
    here = begin()
    user.write("far/away.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("start")
    assert (user.root / "far" / "away.txt").read_text() == "the user's\n"


@pytest.mark.parametrize("options", [("--cone", "--sparse-index"), ("--no-cone", "--no-sparse-index")])
def test_any_kind_of_sparse_index_is_read(user, begin, at, options):
    user.write("far/deep/er.txt", "deep\n")
    user.commit()
    user.git("sparse-checkout", "init", *options)
    user.git("sparse-checkout", "set", *options, "src")
    here = begin()
    assert here.snapshot("one", "m", at).tree == here.tree_of(here.base)
    user.write("far/deep/er.txt", "an agent's\n")
    saved = here.snapshot("two", "m", at)
    assert here.changed_files(here.base, saved.commit) == (("M", "far/deep/er.txt"),)


def test_a_split_index_keeps_what_is_sparse_and_shows_what_is_overlooked(user, sparse, begin, at):
    user.git("update-index", "--assume-unchanged", "src/a.py")
    user.git("update-index", "--split-index")
    user.write("src/a.py", "the user's\n")
    here = begin()
    assert here.changed_files(here.base, here.resolve("start")) == (("M", "src/a.py"),)


def test_an_index_that_trusts_a_file_monitor_hides_nothing(user, begin):
    user.git("config", "core.fsmonitor", "true")
    user.git("status", ok=False)
    user.git("config", "core.untrackedCache", "true")
    user.git("update-index", "--fsmonitor-valid", "b.txt", ok=False)
    user.write("b.txt", "the user's\n")
    user.git("fsmonitor--daemon", "stop", ok=False)
    here = begin()
    assert here.read_file(here.resolve("start"), "b.txt") == b"the user's\n"


def test_a_file_added_in_intent_only_is_saved(user, begin):
    user.write("planned.txt", "the user's\n")
    user.git("add", "-N", "planned.txt")
    here = begin()
    assert here.read_file(here.resolve("start"), "planned.txt") == b"the user's\n"


def test_what_was_written_since_the_last_checkpoint_is_kept_before_a_restore(user, begin, at):
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    user.write("b.txt", "the user's, while the gates ran\n")
    user.write("mine.txt", "the user's, too\n")
    here.restore("base")
    assert saved_somewhere(here, "b.txt", b"the user's, while the gates ran\n")
    assert saved_somewhere(here, "mine.txt", b"the user's, too\n")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"


def test_a_repeated_restore_keeps_nothing_anew(user, begin, at):
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    known = here.checkpoints
    here.restore("base")
    here.restore("one")
    here.restore("base")
    assert here.checkpoints == known


def test_bytes_that_a_filter_made_are_kept_before_they_are_restored_over(user, begin, at):
    user.git("config", "filter.strip.clean", "grep -v SECRET")
    user.write(".gitattributes", "*.conf filter=strip\n")
    os.utime(user.write("x.conf", "a = 1\nSECRET = 2\n"), (1, 1))
    user.commit()
    here = begin()
    assert here.read_file(here.base, "x.conf") == b"a = 1\n"
    without = here.overlay(here.base, {"x.conf": None})
    here.accept("one", "m", at, tree=without, parent=here.base)
    assert not (user.root / "x.conf").exists()
    assert saved_somewhere(here, "x.conf", b"a = 1\nSECRET = 2\n")


MODES = (0o600, 0o640, 0o444, 0o700, 0o755, 0o660, 0o604)


@pytest.fixture
def secrets(user):
    """A committed file for each mode."""
    files = {mode: user.write(f"secret-{mode:o}.txt", "mine\n") for mode in MODES}
    for mode, secret in files.items():
        secret.chmod(mode)
    user.commit()
    return files


def test_a_file_keeps_its_mode_when_it_is_restored(secrets, begin, at):
    here = begin()
    for mode, secret in secrets.items():
        secret.chmod(0o644 | mode & 0o100)
        secret.write_text("an agent's\n")
        secret.chmod(mode)
    here.snapshot("one", "m", at)
    here.restore("base")
    assert {mode: (file.read_text(), mode_of(file)) for mode, file in secrets.items()} == {
        mode: ("mine\n", mode) for mode in MODES
    }


def test_a_file_that_was_deleted_comes_back_with_its_mode(secrets, begin, at):
    here = begin()
    for secret in secrets.values():
        secret.unlink()
    here.snapshot("one", "m", at)
    here.restore("base")
    assert {mode: (file.read_text(), mode_of(file)) for mode, file in secrets.items()} == {
        mode: ("mine\n", mode) for mode in MODES
    }


def test_a_file_that_was_replaced_by_a_wider_one_is_narrow_again(user, begin, at):
    secret = user.write("secret.txt", "mine\n")
    secret.chmod(0o600)
    user.commit()
    here = begin()
    secret.unlink()
    secret.write_text("an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert mode_of(secret) == 0o600


def test_a_folder_comes_back_as_narrow_as_it_was(user, begin, at):
    user.write("private/key.txt", "mine\n").chmod(0o600)
    (user.root / "private").chmod(0o700)
    user.commit()
    here = begin()
    shutil.rmtree(user.root / "private")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert mode_of(user.root / "private") == 0o700
    assert mode_of(user.root / "private" / "key.txt") == 0o600


def test_only_the_bit_to_execute_follows_the_checkpoint(user, begin, at):
    script = user.write("run.sh", "#!/bin/sh\n")
    script.chmod(0o700)
    user.commit()
    here = begin()
    script.chmod(0o600)
    here.snapshot("one", "m", at)
    here.restore("base")
    assert mode_of(script) == 0o700
    here.restore("one")
    assert mode_of(script) == 0o600


ODD = {
    "a newline": "odd\nname.txt",
    "no UTF-8": os.fsdecode(b"odd-\xff\xfe.txt"),
    "a blank at its end": "odd ",
    "a quote": "o'd\"d.txt",
    "the sign of an option": "-rf",
    "a backslash": "odd\\name",
}


def test_files_with_odd_names_are_saved_and_come_back(user, begin, at):
    for name in ODD.values():
        user.write(name, f"the user's {name!a}\n")
    here = begin()
    for name in ODD.values():
        user.write(name, "an agent's\n")
    here.snapshot("one", "m", at)
    for name in ODD.values():
        user.write(name, f"the user's again {name!a}\n")
    here.restore("start")
    for kind, name in ODD.items():
        assert (user.root / name).read_text() == f"the user's {name!a}\n", kind
        assert saved_somewhere(here, name, f"the user's again {name!a}\n".encode()), kind


def test_names_that_differ_in_case_alone_are_two_files(user, begin, at):
    user.write("README", "upper\n")
    user.write("readme", "lower\n")
    here = begin()
    user.write("README", "changed\n")
    (user.root / "readme").unlink()
    here.snapshot("one", "m", at)
    here.restore("start")
    assert (user.root / "README").read_text() == "upper\n"
    assert (user.root / "readme").read_text() == "lower\n"


def test_links_are_saved_and_restored_as_links(user, begin, at, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("outside\n")
    (user.root / "link").symlink_to(outside)
    here = begin()
    (user.root / "link").unlink()
    user.write("link", "a file now\n")
    here.snapshot("one", "m", at)
    here.restore("start")
    assert (user.root / "link").readlink() == outside
    assert outside.read_text() == "outside\n"


def test_nothing_is_written_through_a_link_an_agent_put_in_place_of_a_folder(user, begin, at, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("outside\n")
    here = begin()
    shutil.rmtree(user.root / "src")
    (user.root / "src").symlink_to(outside)
    here.snapshot("one", "m", at)
    here.restore("base")
    assert (outside / "a.py").read_text() == "outside\n"
    assert (user.root / "src" / "a.py").read_text() == "print('a')\n"


def test_ignored_files_of_the_user_stay_whatever_is_restored(user, begin, at):
    user.write("build/out.bin", "built\n")
    user.write("x.log", "logged\n")
    here = begin()
    user.write(".gitignore", "")
    here.snapshot("one", "m", at)
    here.restore("base")
    here.restore("one")
    here.restore("base")
    assert (user.root / "build" / "out.bin").read_text() == "built\n"
    assert (user.root / "x.log").read_text() == "logged\n"


def test_ignored_files_in_a_folder_where_a_file_must_be_are_kept(user, begin, at):
    here = begin()
    (user.root / "b.txt").unlink()
    user.write("b.txt/notes.log", "somebody's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
    assert saved_somewhere(here, "b.txt/notes.log", b"somebody's\n")


def test_an_ignored_file_where_a_folder_must_be_is_kept(user, begin, at):
    user.write("thing.log/inside.txt", "tracked\n")
    user.git("add", "-f", "thing.log/inside.txt")
    user.git("commit", "-qm", "odd")
    here = begin()
    shutil.rmtree(user.root / "thing.log")
    user.write("thing.log", "somebody's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert (user.root / "thing.log" / "inside.txt").read_text() == "tracked\n"
    assert saved_somewhere(here, "thing.log", b"somebody's\n")


def test_a_pipe_in_the_tree_neither_hangs_nor_goes(user, begin, at):
    os.mkfifo(user.root / "pipe")
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert stat.S_ISFIFO((user.root / "pipe").lstat().st_mode)


def test_a_pipe_where_a_file_must_be_is_put_aside(user, begin, at):
    here = begin()
    (user.root / "b.txt").unlink()
    os.mkfifo(user.root / "b.txt")
    here.snapshot("one", "m", at)
    notes = here.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
    assert stat.S_ISFIFO((user.root / "b.txt.edited-1").lstat().st_mode)
    assert any("b.txt.edited-1" in note for note in notes)


def test_a_read_only_folder_is_no_obstacle_and_stays_read_only(user, begin, at):
    user.write("closed/a.txt", "mine\n")
    user.commit()
    here = begin()
    user.write("closed/a.txt", "an agent's\n")
    user.write("closed/b.txt", "new\n")
    here.snapshot("one", "m", at)
    (user.root / "closed").chmod(0o555)
    here.restore("base")
    assert sorted(os.listdir(user.root / "closed")) == ["a.txt"]
    assert (user.root / "closed" / "a.txt").read_text() == "mine\n"
    assert mode_of(user.root / "closed") == 0o555


def test_files_that_are_right_are_not_touched(user, begin, at):
    here = begin()
    before = (user.root / "src" / "a.py").stat()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    after = (user.root / "src" / "a.py").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_the_group_of_a_file_and_its_attributes_stay(user, begin, at):
    shared = user.write("shared.txt", "mine\n")
    user.commit()
    try:
        os.setxattr(shared, "user.origin", b"scanner")
    except OSError:
        pytest.skip("no attributes on this file system")
    here = begin()
    user.write("shared.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    here.restore("base")
    assert os.getxattr(shared, "user.origin") == b"scanner"


def test_a_clean_tree_is_clean_for_the_users_git_after_a_restore(user, begin, at):
    here = begin()
    user.write("b.txt", "an agent's\n")
    user.write("new/deep/file.txt", "new\n")
    (user.root / "src" / "a.py").unlink()
    here.snapshot("one", "m", at)
    here.restore("base")
    assert user.git("status", "--porcelain", "--ignored") == ""
    assert not (user.root / "new").exists()
    assert subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=user.root, check=False).returncode == 0


def test_a_save_in_the_last_instant_is_kept(user, begin, at, monkeypatch):
    here = begin()
    user.write("b.txt", "an agent's\n")
    user.write("new.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    before_exchange = swap.exchange

    def saved_just_before(fresh, name):
        user.write("b.txt", "the user's, just now\n")
        return before_exchange(fresh, name)

    monkeypatch.setattr("flyball.workspace.in_place.laying.exchange", saved_just_before)
    notes = here.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
    assert here.read_file(here.resolve("kept-1"), "b.txt") == b"the user's, just now\n"
    assert any("b.txt" in note and "kept-1" in note for note in notes)


def test_an_editor_that_still_writes_into_the_old_file_has_it_kept_whole(user, begin, at):
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    with (user.root / "b.txt").open("r+") as editor, ThreadPoolExecutor() as pool:
        going_back = pool.submit(here.restore, "base")
        time.sleep(0.4)
        editor.write("the user's, slowly\n")
        editor.close()
        going_back.result()
    assert saved_somewhere(here, "b.txt", b"the user's, slowly\n")


@pytest.mark.parametrize(
    "point", ["restore.files.before", "restore.files.inside", "restore.files.kept", "restore.files.after"]
)
def test_a_kill_while_files_are_exchanged_loses_nothing(user, begin, open_workspace, at, monkeypatch, point):
    here = begin()
    user.write("b.txt", "an agent's\n")
    user.write("new.txt", "an agent's\n")
    (user.root / "src" / "a.py").unlink()
    here.snapshot("one", "m", at)
    before_exchange = swap.exchange

    def saved_just_before(fresh, name):
        if name.endswith("b.txt"):
            user.write("b.txt", "the user's, just now\n")
        return before_exchange(fresh, name)

    def kill(name):
        if name == point:
            raise KeyboardInterrupt

    monkeypatch.setattr("flyball.workspace.in_place.laying.exchange", saved_just_before)
    monkeypatch.setattr(faults, "point", kill)
    with pytest.raises(KeyboardInterrupt):
        here.restore("base")
    monkeypatch.undo()
    again = open_workspace(user, in_place=True)
    again.restore("base")
    assert (user.root / "b.txt").read_text() == "one\ntwo\n"
    assert (user.root / "src" / "a.py").exists()
    assert not (user.root / "new.txt").exists()
    assert not (user.root / ".loop" / "001-thing" / ".restoring").exists()
    if point in {"restore.files.kept", "restore.files.after"}:
        assert saved_somewhere(again, "b.txt", b"the user's, just now\n")


@pytest.mark.parametrize("times", [1, 99])
def test_a_file_that_goes_while_it_is_saved_is_looked_at_again_and_not_for_ever(user, begin, at, monkeypatch, times):
    here = begin()
    names = iter(range(times))
    split = staging._split

    def split_and_lose(tree, paths, notes):
        found = split(tree, paths, notes)
        for number in itertools.islice(names, 1):
            user.write(f"lost-{number}.txt", "short")
            found[0].append(f"lost-{number}.txt")
            (user.root / f"lost-{number}.txt").unlink()
        return found

    monkeypatch.setattr(staging, "_split", split_and_lose)
    monkeypatch.setattr(staging, "_PAUSE_S", 0.0)
    user.write("b.txt", "an agent's\n")
    if times == 1:
        saved = here.snapshot("one", "m", at)
        assert here.read_file(saved.commit, "b.txt") == b"an agent's\n"
    else:
        with pytest.raises(GitFailed, match="update-index"):
            here.snapshot("one", "m", at)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["renamed", "written into"])
def test_of_all_saves_of_an_editor_beside_restores_none_is_lost(user, begin, at, way):
    """The editor saves text after text; each must be on disk, in a checkpoint, or replaced by the editor's own next one."""
    here = begin()
    user.write("b.txt", "an agent's\n")
    here.snapshot("one", "m", at)
    own = {b"one\ntwo\n", b"an agent's\n"}
    name, saves = user.root / "b.txt", []

    def save(number):
        text = b"the user's %d\n" % number
        if way == "renamed":
            draft = user.root.parent / "draft"
            draft.write_bytes(text)
            draft.replace(name)
        else:
            with name.open("r+b") as file:
                file.truncate()
                file.write(text)
        saves.append(text)

    def edit():
        for number in range(60):
            save(number)
            time.sleep(0.02)
            # Whatever flyball put over the save in the meantime, the save itself must be somewhere.
            if name.read_bytes() in own:
                replaced_by_us.append(saves[-1])

    replaced_by_us: list[bytes] = []
    with ThreadPoolExecutor() as pool:
        editing = pool.submit(edit)
        while not editing.done():
            here.restore("base")
            here.restore("one")
        editing.result()
    assert replaced_by_us, "the test did not get between"
    kept = {here.read_file(commit, "b.txt") for commit in here.checkpoints.values()}
    assert set(replaced_by_us) <= kept
