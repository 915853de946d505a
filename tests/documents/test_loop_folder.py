import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flyball import faults
from flyball.core.model.task import TaskId
from flyball.documents.errors import DocumentError, LoopFolderUnwritable
from flyball.documents.loop_folder import LoopFolder, check_foreign, highest_number

TASK = TaskId("001-add-login")
needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".rendered.json"


@pytest.fixture
def folder(tree: Path, memory: Path) -> LoopFolder:
    return LoopFolder(tree, TASK, memory=memory)


def names(path: Path) -> list[str]:
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if not p.is_dir())


def test_files_are_rendered_with_their_folders(folder: LoopFolder) -> None:
    assert folder.render({"report.md": "one", "learnings/001.md": "two", "context.md": ""}) == ()
    assert names(folder.path) == ["context.md", "learnings/001.md", "report.md"]
    assert (folder.path / "learnings/001.md").read_text() == "two"


def test_a_file_that_is_as_it_should_be_is_not_touched(folder: LoopFolder) -> None:
    folder.render({"report.md": "one", "loop-state.json": "{}"})
    before = (folder.path / "report.md").stat()
    folder.render({"report.md": "one", "loop-state.json": "{1}"})
    after = (folder.path / "report.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert (folder.path / "loop-state.json").read_text() == "{1}"


def test_a_file_edited_on_disk_is_kept_aside_and_told(folder: LoopFolder) -> None:
    folder.render({"report.md": "one"})
    (folder.path / "report.md").write_text("mine")
    (kept,) = folder.render({"report.md": "two"})
    assert kept.path == ".loop/001-add-login/report.md"
    assert kept.kept_as == ".loop/001-add-login/report.md.edited-1"
    assert kept.kept_as in kept.sentence
    assert (folder.path / "report.md").read_text() == "two"
    assert (folder.path / "report.md.edited-1").read_text() == "mine"

    (folder.path / "report.md").write_text("mine again")
    (again,) = folder.render({"report.md": "two"})
    assert again.kept_as.endswith("report.md.edited-2")
    assert (folder.path / "report.md.edited-1").read_text() == "mine"


def test_an_edit_made_between_two_runs_is_kept_aside_too(folder: LoopFolder, tree: Path, memory: Path) -> None:
    folder.render({"plan.md": "one", "report.md": "r"})
    (folder.path / "plan.md").write_text("mine")
    kept = LoopFolder(tree, TASK, memory=memory).render({"plan.md": "two", "report.md": "s"})
    assert [k.path for k in kept] == [".loop/001-add-login/plan.md"]


def test_what_was_rendered_by_an_earlier_run_is_replaced_without_ado(
    folder: LoopFolder, tree: Path, memory: Path
) -> None:
    folder.render({"plan.md": "one"})
    assert LoopFolder(tree, TASK, memory=memory).render({"plan.md": "two"}) == ()
    assert names(folder.path) == ["plan.md"]


def test_an_empty_file_such_as_a_power_cut_leaves_is_not_kept_aside(folder: LoopFolder) -> None:
    folder.render({"plan.md": "one"})
    (folder.path / "plan.md").write_text("")
    assert folder.render({"plan.md": "one"}) == ()
    assert names(folder.path) == ["plan.md"]
    assert (folder.path / "plan.md").read_text() == "one"


def test_without_a_memory_a_file_that_differs_counts_as_edited(folder: LoopFolder, tree: Path, memory: Path) -> None:
    folder.render({"plan.md": "one"})
    memory.write_text("not json")
    assert len(LoopFolder(tree, TASK, memory=memory).render({"plan.md": "two"})) == 1


def test_everything_this_and_earlier_runs_rendered_is_remembered(folder: LoopFolder, tree: Path, memory: Path) -> None:
    for text in ("one", "two", "three"):
        folder.render({"plan.md": text})
    later = LoopFolder(tree, TASK, memory=memory)
    later.render({"report.md": "r"})
    later.render({"report.md": "s"})
    (folder.path / "plan.md").write_text("two")
    (folder.path / "report.md").write_text("r")
    assert LoopFolder(tree, TASK, memory=memory).render({"plan.md": "four", "report.md": "t"}) == ()


@pytest.mark.parametrize("planted", ["link", "folder", "pipe"])
def test_something_that_is_no_file_is_kept_aside_and_never_followed(
    folder: LoopFolder, tmp_path: Path, planted: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.render({"report.md": "one"})
    target = folder.path / "report.md"
    target.unlink()
    if planted == "link":
        target.symlink_to(victim)
    elif planted == "folder":
        target.mkdir()
    else:
        os.mkfifo(target)
    assert len(folder.render({"report.md": "", "context.md": "x"})) == 1
    assert target.read_text() == ""
    assert target.is_file()
    assert not target.is_symlink()
    assert victim.read_text() == "precious"


def test_a_planted_temporary_file_is_taken_away_and_not_written_through(folder: LoopFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.render({"report.md": "one"})
    os.link(victim, folder.path / ".report.md.new")
    folder.render({"report.md": "two"})
    assert victim.read_text() == "precious"
    assert (folder.path / "report.md").read_text() == "two"


def test_a_deleted_loop_folder_is_healed_by_the_next_render(folder: LoopFolder, tree: Path) -> None:
    files = {"report.md": "one", "learnings/a.md": "two"}
    folder.render(files)
    subprocess.run(["rm", "-rf", str(tree / ".loop")], check=True)
    assert folder.render(files) == ()
    assert names(tree / ".loop") == [
        ".gitignore",
        "001-add-login/learnings/a.md",
        "001-add-login/report.md",
    ]


@pytest.mark.req("O3")
def test_git_sees_nothing_of_what_is_rendered_so_that_the_tasks_branch_can_be_merged_over_it(
    folder: LoopFolder, tree: Path
) -> None:
    git = ["git", "-C", str(tree), "-c", "core.excludesFile=/dev/null"]
    subprocess.run([*git, "init", "-q"], check=True)
    folder.render(dict.fromkeys(("plan.md", "report.md", "loop-state.json", "learnings/deep/1.md"), "x"))
    folder.append("phase-status.log", "entry\n")
    (folder.path / "plan.md").write_text("mine")
    folder.render({"plan.md": "y"})
    (folder.path / ".plan.md.new").write_text("left by a kill")
    (tree / "seen").write_text("x")
    seen = subprocess.run([*git, "ls-files", "-o", "--exclude-standard"], check=True, capture_output=True, text=True)
    assert seen.stdout.split() == ["seen"]


def test_an_ignore_file_of_the_users_is_left_alone(folder: LoopFolder, tree: Path) -> None:
    (tree / ".loop").mkdir()
    (tree / ".loop" / ".gitignore").write_text("*\n")
    folder.render({"plan.md": "x"})
    assert (tree / ".loop" / ".gitignore").read_text() == "*\n"


def test_a_log_grows_and_its_last_entry_is_not_doubled(folder: LoopFolder) -> None:
    for entry in ("one\n", "two\n", "two\n"):
        folder.append("phase-status.log", entry)
    assert (folder.path / "phase-status.log").read_text() == "one\ntwo\n"


def test_a_deleted_log_is_healed_from_the_whole(folder: LoopFolder) -> None:
    folder.append("phase-status.log", "one\n")
    (folder.path / "phase-status.log").unlink()
    folder.append("phase-status.log", "two\n", whole=lambda: "one\ntwo\n")
    assert (folder.path / "phase-status.log").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("point", ["loop.write.inside", "loop.write.after", "loop.append.before"])
def test_a_log_whose_making_was_killed_is_made_by_the_next_attempt(
    folder: LoopFolder, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.append("other.log", "one\n")

    def kill(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(faults, "point", kill)
        with pytest.raises(KeyboardInterrupt):
            folder.append("phase.log", "two\n", whole=lambda: "one\n")
    folder.append("phase.log", "two\n", whole=lambda: "one\ntwo\n")
    assert names(folder.path) == ["other.log", "phase.log"]
    assert (folder.path / "phase.log").read_text() == "one\ntwo\n"


def test_a_log_that_is_a_link_is_kept_aside(folder: LoopFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder.append("phase-status.log", "one\n")
    (folder.path / "phase-status.log").unlink()
    (folder.path / "phase-status.log").symlink_to(victim)
    folder.append("phase-status.log", "two\n")
    assert victim.read_text() == "precious"
    assert (folder.path / "phase-status.log").read_text() == "two\n"


@pytest.mark.parametrize("place", [".loop", ".loop/001-add-login", ".loop/001-add-login/learnings"])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_no_folder_is_a_link_or_a_file(folder: LoopFolder, tree: Path, tmp_path: Path, place: str, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    path = tree / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        path.write_text("x")
    else:
        path.symlink_to(outside, target_is_directory=True)
    with pytest.raises(DocumentError, match=f"{place} is {'a symbolic link' if kind == 'link' else 'not a folder'}"):
        folder.render({"learnings/a.md": "x"})
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("place", [".loop", ".loop/001-add-login", ".loop/001-add-login/learnings"])
@pytest.mark.parametrize("kind", ["file", "link", "broken link", "pipe"])
def test_what_an_agent_puts_in_place_of_a_folder_is_replaced(tree: Path, tmp_path: Path, place: str, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    path = tree / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        path.write_text("theirs")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(outside if kind == "link" else tmp_path / "nowhere")
    shared = LoopFolder(tree, TaskId("001-add-login"), memory=tmp_path / "memory", shared=True)
    shared.render({"learnings/a.md": "x"})
    shared.append("phase-status.log", "one\n")
    assert (tree / ".loop/001-add-login/learnings/a.md").read_text() == "x"
    assert list(outside.iterdir()) == []
    assert os.listdir(tree) == [".loop"]
    check_foreign(tree)


def test_foreign_contents_are_refused_in_one_sentence_and_nothing_is_written(tree: Path) -> None:
    (tree / ".loop" / "002-other-task").mkdir(parents=True)
    check_foreign(tree)
    for name in ("notes.txt", "state", "zeta", "yacht"):
        (tree / ".loop" / name).write_text("mine")
    before = names(tree)
    with pytest.raises(
        DocumentError, match=r"holds notes.txt, state, yacht and 1 more; expected only folders of tasks"
    ):
        check_foreign(tree)
    assert names(tree) == before


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_or_link_called_loop_is_foreign(tree: Path, tmp_path: Path, kind: str) -> None:
    check_foreign(tree)
    if kind == "file":
        (tree / ".loop").write_text("x")
    else:
        (tree / ".loop").symlink_to(tmp_path)
    with pytest.raises(DocumentError, match="expected a folder of flyball's own"):
        check_foreign(tree)


def test_what_flyball_rendered_is_not_foreign(folder: LoopFolder, tree: Path) -> None:
    folder.render({"plan.md": "x"})
    check_foreign(tree)


def test_the_page_of_a_watched_loop_is_not_foreign_whatever_its_name(tree: Path) -> None:
    watched = tree / ".loop" / "nightly"
    watched.mkdir(parents=True)
    for name in ("loop-state.md", "loop-state.md.edited-1", ".loop-state.md.new"):
        (watched / name).write_text("x")
    check_foreign(tree)
    (watched / "notes.txt").write_text("mine")
    with pytest.raises(DocumentError, match="holds nightly"):
        check_foreign(tree)


@pytest.mark.req("O1")
def test_the_highest_number_counts_every_entry_that_begins_with_one(tree: Path) -> None:
    assert highest_number(tree) == 0
    for name in ("001-a", "007-b-c", "notes", "0099"):
        (tree / ".loop" / name).mkdir(parents=True)
    assert highest_number(tree) == 7


@needs_permissions
def test_a_read_only_folder_is_a_clear_error(folder: LoopFolder) -> None:
    folder.render({"plan.md": "x"})
    folder.path.chmod(0o500)
    try:
        with pytest.raises(LoopFolderUnwritable, match=r"could not be written \(Permission denied\).*flyball resume"):
            folder.render({"plan.md": "y"})
    finally:
        folder.path.chmod(0o700)


def test_a_tree_that_is_gone_is_a_clear_error(memory: Path, tmp_path: Path) -> None:
    with pytest.raises(LoopFolderUnwritable, match=r"could not be written \(No such file or directory\)"):
        LoopFolder(tmp_path / "gone", TASK, memory=memory).render({"plan.md": "x"})


SCRIPT = """
import sys
from pathlib import Path
from flyball.documents.loop_folder import LoopFolder
folder = LoopFolder(Path(sys.argv[1]), "001-add-login", memory=Path(sys.argv[2]))
folder.render({"plan.md": sys.argv[3], "report.md": sys.argv[3]})
"""


@pytest.mark.parametrize("point", ["loop.write.before", "loop.write.inside", "loop.write.after"])
def test_a_kill_around_the_rename_leaves_whole_files_and_nothing_counts_as_edited(
    folder: LoopFolder, tree: Path, memory: Path, point: str
) -> None:
    folder.render({"plan.md": "old", "report.md": "old"})
    killed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tree), str(memory), "new"],
        env={**os.environ, "FLYBALL_FAULT_KILL": f"{point}:1"},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    wanted = "new" if point.endswith("after") else "old"
    assert (folder.path / "plan.md").read_text() == wanted
    assert (folder.path / "report.md").read_text() == "old"
    assert LoopFolder(tree, TASK, memory=memory).render({"plan.md": "newer", "report.md": "newer"}) == ()
    assert names(folder.path) == ["plan.md", "report.md"]
    assert (folder.path / "plan.md").read_text() == "newer"
