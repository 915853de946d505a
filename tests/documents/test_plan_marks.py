"""Marking entries in the user's own files: by compare-and-swap, one change at a time, safe to repeat."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from flyball import faults
from flyball.core.model.outcomes import Stale
from flyball.core.model.task import EffectId, Source
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, PlanRead, ReadPlan
from flyball.core.workflows.plan.sources.marking import finishing, undoing
from flyball.core.workflows.plan.sources.values import ImportedPlan
from flyball.documents.errors import DocumentError
from flyball.documents.plan_marks import (
    PlanFiles,
)

pytestmark = pytest.mark.req("O23")

TASKS = b"\xef\xbb\xbf# Tasks\r\n- [ ] T001 a\r\n\t- [ ] T002 b"


class File:
    """A plan in a repository of its own, as the effects see it."""

    def __init__(self, root: Path, place: str, content: bytes, format: str, selector: str = "") -> None:
        self.path = root / place
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(content)
        self.files = PlanFiles(root)
        self.source = Source(place, "", format, selector)

    def read(self, seen: str = "") -> PlanRead:
        return self.files.read(ReadPlan(EffectId("read/1"), self.source, seen))

    def plan(self) -> ImportedPlan:
        plan = self.read().plan
        assert plan is not None
        return plan

    def finish(self, *ids: str) -> MarkEntries:
        return MarkEntries(EffectId("mark/1"), self.source, self.read().sha256, finishing(self.plan(), ids))

    def mark(self, *ids: str) -> EntriesMarked | Stale:
        return self.files.mark(self.finish(*ids))


@pytest.fixture
def tasks(tmp_path: Path) -> File:
    return File(tmp_path, "specs/001-a/tasks.md", TASKS, "spec-kit")


def test_a_tick_moves_one_byte_and_keeps_mode_and_owner(tasks: File) -> None:
    tasks.path.chmod(0o664)
    if os.getuid() == 0:
        os.chown(tasks.path, 12345, 23456)
    before = tasks.path.stat()
    marked = tasks.mark("T002")
    assert isinstance(marked, EntriesMarked)
    assert tasks.path.read_bytes() == TASKS.replace(b"[ ] T001", b"[X] T001").replace(b"[ ] T002", b"[X] T002")
    after = tasks.path.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (before.st_uid, before.st_gid, 0o664)
    assert marked.sha256 == tasks.read().sha256
    assert os.listdir(tasks.path.parent) == ["tasks.md"]


def test_a_source_that_has_not_changed_is_told_by_its_hash_alone(tasks: File) -> None:
    seen = tasks.read()
    assert seen.plan is not None
    assert tasks.read(seen.sha256) == PlanRead(seen.sha256)


def test_a_file_that_changed_since_it_was_read_is_stale_and_not_written(tasks: File) -> None:
    request = tasks.finish("T002")
    changed = TASKS + b"\r\n- [ ] T003 new"
    tasks.path.write_bytes(changed)
    assert isinstance(tasks.files.mark(request), Stale)
    assert tasks.path.read_bytes() == changed


def test_a_mark_that_stands_already_is_done_whatever_else_changed(tasks: File) -> None:
    request = tasks.finish("T002")
    tasks.files.mark(request)
    tasks.path.write_bytes(tasks.path.read_bytes() + b"\r\nmore")
    content = tasks.path.read_bytes()
    assert isinstance(tasks.files.mark(request), EntriesMarked)
    assert tasks.path.read_bytes() == content


@pytest.mark.parametrize("content", [b"- [ ] T009 other\n", b"- [~] T001 a\n- [ ] T002 b\n"])
def test_an_entry_that_is_gone_or_bears_another_mark_is_stale(tasks: File, content: bytes) -> None:
    request = tasks.finish("T002")
    tasks.path.write_bytes(content)
    assert isinstance(tasks.files.mark(request), Stale)
    assert tasks.path.read_bytes() == content


def test_a_save_while_the_new_file_is_written_is_kept_and_the_mark_is_stale(
    tasks: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = TASKS + b" and more"
    left = [1]

    def point(name: str) -> None:
        if left and name == "work.write.inside":
            left.pop()
            tasks.path.with_name("draft").write_bytes(theirs)
            tasks.path.with_name("draft").replace(tasks.path)

    monkeypatch.setattr(faults, "point", point)
    assert isinstance(tasks.mark("T002"), Stale)
    assert tasks.path.read_bytes() == theirs


@pytest.mark.parametrize("point", ["work.write.before", "work.write.inside", "work.write.after"])
def test_a_mark_that_a_kill_broke_off_is_finished_by_making_it_again(
    tasks: File, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    request = tasks.finish("T002")

    def killed(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    monkeypatch.setattr(faults, "point", killed)
    with pytest.raises(KeyboardInterrupt):
        tasks.files.mark(request)
    monkeypatch.setattr(faults, "point", faults.nothing)
    assert isinstance(tasks.files.mark(request), EntriesMarked)
    assert tasks.path.read_bytes() == TASKS.replace(b"[ ] T001", b"[X] T001").replace(b"[ ] T002", b"[X] T002")
    assert os.listdir(tasks.path.parent) == ["tasks.md"]


def test_to_mark_and_to_take_it_back_gives_the_same_bytes(tasks: File) -> None:
    request = tasks.finish("T002")
    tasks.files.mark(request)
    back = undoing(tasks.plan(), {change.key: change for change in request.changes}, ["T002"])
    undone = tasks.files.mark(MarkEntries(EffectId("mark/2"), tasks.source, tasks.read().sha256, back))
    assert isinstance(undone, EntriesMarked)
    assert tasks.path.read_bytes() == TASKS


def test_a_file_that_is_gone_or_a_link_is_refused(tasks: File) -> None:
    request = tasks.finish("T002")
    other = tasks.path.with_name("other.md")
    tasks.path.rename(other)
    with pytest.raises(DocumentError, match="is gone: put it back"):
        tasks.files.mark(request)
    tasks.path.symlink_to(other)
    with pytest.raises(DocumentError, match="not a link"):
        tasks.files.mark(request)


MASTER = {
    "master": {"tasks": [{"id": 1, "title": "a", "status": "pending", "subtasks": [{"id": 1, "title": "b", "status": "pending"}]}]},
    "other": {"tasks": []},
}  # fmt: skip


@pytest.fixture
def master(tmp_path: Path) -> File:
    content = json.dumps(MASTER, indent=2).encode()
    return File(tmp_path, ".taskmaster/tasks/tasks.json", content, "task-master", "master")


def test_task_master_is_marked_with_its_parents_under_its_lock(master: File, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(faults, "point", lambda _name: seen.append(sorted(os.listdir(master.path.parent))))
    before = master.path.read_bytes()
    assert isinstance(master.mark("1.1"), EntriesMarked)
    assert master.path.read_bytes() == before.replace(b"pending", b"done")
    assert all("tasks.json.lock" in names for names in seen)
    assert os.listdir(master.path.parent) == ["tasks.json"]


@pytest.mark.parametrize("folder", [False, True])
def test_task_master_is_not_marked_while_another_holds_the_lock(master: File, folder: bool) -> None:
    lock = master.path.with_name("tasks.json.lock")
    lock.mkdir() if folder else lock.touch()
    os.utime(lock, (2**40, 2**40))
    request = master.finish("1.1")
    done: list[EntriesMarked | Stale] = []
    worker = threading.Thread(target=lambda: done.append(master.files.mark(request)))
    worker.start()
    worker.join(0.2)
    assert not done
    lock.rmdir() if folder else lock.unlink()
    worker.join(30)
    assert isinstance(done[0], EntriesMarked)


@pytest.mark.parametrize("folder", [False, True])
def test_a_lock_older_than_ten_seconds_counts_for_nothing(master: File, folder: bool) -> None:
    lock = master.path.with_name("tasks.json.lock")
    lock.mkdir() if folder else lock.touch()
    os.utime(lock, (1, 1))
    assert isinstance(master.mark("1.1"), EntriesMarked)


def test_backlog_md_files_are_marked_each_and_one_that_changed_is_stale(tmp_path: Path) -> None:
    pages = {f"task-{n} - A.md": f"---\nid: task-{n}\nstatus: To Do\n---\n- [ ] #1 a\n".encode() for n in (1, 2)}
    folder = File(tmp_path, "backlog/tasks/task-1 - A.md", pages["task-1 - A.md"], "backlog.md")
    folder.source = Source("backlog", "", "backlog.md")
    (tmp_path / "backlog/tasks/task-2 - A.md").write_bytes(pages["task-2 - A.md"])
    request = folder.finish("task-1", "task-2")
    (tmp_path / "backlog/tasks/task-3 - A.md").write_bytes(b"---\nid: task-3\nstatus: To Do\n---\n")
    assert isinstance(folder.files.mark(request), Stale)
    assert folder.path.read_bytes() == pages["task-1 - A.md"]
    assert isinstance(folder.mark("task-1", "task-2"), EntriesMarked)
    for name, raw in pages.items():
        assert (tmp_path / "backlog/tasks" / name).read_bytes() == raw.replace(b"To Do", b"Done").replace(
            b"[ ]", b"[x]"
        )
