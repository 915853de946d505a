"""C48: folders of any depth and files of any size are saved, laid out and removed in bounded memory, or passed over with a note."""

import os
import resource
import sys
from pathlib import Path

import pytest

from flyball.folders import walk
from flyball.workspace.files import remove
from flyball.workspace.staging import MANY

pytestmark = pytest.mark.req("C48")
DEPTH = 3000


@pytest.fixture(autouse=True)
def _tidy(tmp_path):
    """Nobody else can remove what is made here."""
    yield
    remove(tmp_path)


def dig(folder: Path, depth: int) -> None:
    """A chain of folders that is longer than any path may be."""
    at = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("leaf").touch()
    finally:
        os.chdir(at)


def test_folders_deeper_than_any_path_is_long_are_walked_and_removed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    dig(tmp_path / "deep", DEPTH)
    assert len(list(walk(tmp_path / "deep"))) > sys.getrecursionlimit()
    remove(tmp_path / "deep")
    assert not (tmp_path / "deep").exists()


def test_walking_gives_what_the_standard_library_gives(tmp_path: Path) -> None:
    for name in ("a/b/c.txt", "a/d.txt", "e.txt", "skip/f.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")

    def found(walking):
        for above, folders, names in walking:
            folders[:] = sorted(name for name in folders if name != "skip")
            yield above, list(folders), sorted(names)

    assert list(found(walk(tmp_path))) == list(found(os.walk(tmp_path)))


def test_a_tree_with_folders_too_deep_for_git_is_saved_without_them_and_laid_out_again(
    open_workspace, user, at, tmp_path
) -> None:
    workspace = open_workspace(user)
    dig(workspace.root, DEPTH)
    (workspace.root / "new.txt").write_text("new\n")
    saved = workspace.snapshot("s1", "work", at)
    assert workspace.read_file(saved.commit, "new.txt") == b"new\n"
    dig_in = tmp_path / "out"
    dig_in.mkdir()
    dig(dig_in, DEPTH)
    workspace.export(workspace.tree_of(saved.commit), dig_in)
    assert not (dig_in / "d").exists()


@pytest.mark.slow
def test_a_file_larger_than_memory_should_hold_is_read_in_part(open_workspace, user, at) -> None:
    workspace = open_workspace(user)
    for name, end in (("a.bin", b"1"), ("b.bin", b"2")):
        with (workspace.root / name).open("wb") as file:
            file.truncate(600 * 1024 * 1024)
            file.seek(-1, os.SEEK_END)
            file.write(end)
    saved = workspace.snapshot("s1", "work", at)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    first, second = (workspace.read_file(saved.commit, name) for name in ("a.bin", "b.bin"))
    assert first != second, "their names tell them apart"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_many_small_files_are_saved_with_one_object_file_not_one_each(open_workspace, user, at, tmp_path) -> None:
    workspace = open_workspace(user)
    for number in range(MANY + 1):
        (workspace.root / f"f{number}.txt").write_text(f"{number}\n")
    (workspace.root / "run.sh").write_text("echo\n")
    (workspace.root / "run.sh").chmod(0o755)
    saved = workspace.snapshot("s1", "work", at)
    assert workspace.read_file(saved.commit, "f7.txt") == b"7\n"
    loose = [path for path in tmp_path.rglob("objects/??/*") if path.is_file()]
    assert len(loose) < MANY
    assert "run.sh" in workspace.list_files(saved.commit)
