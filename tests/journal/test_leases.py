import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.journal_suite import AT, MOVED, a_task
from tests.journal.memory_journal import MemoryJournal

from flyball.journal.errors import JournalError, LeaseHeld, LeaseLost
from flyball.journal.leases import Lease, this_process, tree_scope
from flyball.journal.records import Holder, task_scope

HOLD = """
import subprocess, sys
from pathlib import Path
from flyball.journal.leases import Lease, this_process
from tests.journal.memory_journal import MemoryJournal
from datetime import UTC, datetime
AT = datetime(2026, 1, 5, 9, 0, 0, 123456, tzinfo=UTC)
lease = Lease.take(MemoryJournal(), Path(sys.argv[1]), "task:001-x", this_process(AT))
child = subprocess.Popen(["sleep", "60"], close_fds=False)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "locks"


def take(locks: Path, scope: str = "task:001-x", journal: MemoryJournal | None = None) -> Lease:
    return Lease.take(journal or MemoryJournal(), locks, scope, this_process(AT))


@pytest.mark.req("C63")
def test_a_second_taker_is_told_who_holds_the_lease_and_since_when(locks: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(locks)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        with pytest.raises(LeaseHeld) as caught:
            take(locks)
        process.kill()
        process.wait()
        # A program the dead holder had started lives on; it must not keep the lease.
        os.kill(child, 0)
        take(locks).release()
        os.kill(child, 9)
    assert caught.value.holder == Holder(process.pid, os.uname().nodename, AT)
    assert f"task:001-x is held by process {process.pid} on {os.uname().nodename} since 2026-01-05 09:00:00 UTC" in str(
        caught.value
    )


@pytest.mark.req("C63")
def test_every_taking_begins_a_new_epoch(locks: Path) -> None:
    journal = MemoryJournal()
    with take(locks, journal=journal) as first:
        assert first.epoch == 1
    with take(locks, journal=journal) as second:
        assert second.epoch == 2


@pytest.mark.req("C63")
def test_one_process_cannot_take_a_lease_twice(locks: Path) -> None:
    with take(locks), pytest.raises(LeaseHeld, match=str(os.getpid())):
        take(locks)


def test_scopes_do_not_stand_in_each_others_way(locks: Path) -> None:
    with take(locks, "task:001-x"), take(locks, "task:002-y"), take(locks, "tree:001-x"):
        assert sorted(path.name for path in locks.iterdir()) == [
            "task-001-x.lock",
            "task-002-y.lock",
            "tree-001-x.lock",
        ]


def test_a_scope_cannot_name_a_file_elsewhere(locks: Path, tmp_path: Path) -> None:
    with take(locks, "task:../up"):
        assert [path.name for path in tmp_path.iterdir()] == ["locks"]


@pytest.mark.req("C63")
def test_whoever_goes_on_after_its_lock_file_was_deleted_is_fenced(locks: Path) -> None:
    journal = MemoryJournal()
    task = a_task(journal)
    first = take(locks, task_scope(task), journal)
    (locks / f"task-{task}.lock").unlink()
    second = take(locks, task_scope(task), journal)
    with pytest.raises(LeaseLost, match="taken over"):
        journal.append(task, [MOVED], epoch=first.epoch, at=AT)
    second.release()
    first.release()


def test_a_released_lease_can_be_released_again(locks: Path) -> None:
    lease = take(locks)
    lease.release()
    lease.release()
    take(locks).release()


def test_the_lock_is_let_go_when_no_epoch_can_be_begun(locks: Path) -> None:
    class Broken:
        def next_epoch(self, scope: str, holder: Holder) -> int:
            raise OSError("no journal")

    with pytest.raises(OSError, match="no journal"):
        Lease.take(Broken(), locks, "task:001-x", this_process(AT))
    take(locks).release()


def test_a_holder_that_has_not_signed_yet_is_still_a_holder(locks: Path) -> None:
    with take(locks):
        (locks / "task-001-x.lock").write_bytes(b"")
        with pytest.raises(LeaseHeld, match="held by another process") as caught:
            take(locks)
    assert caught.value.holder is None


def test_a_file_system_without_locks_is_refused_with_advice(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(JournalError, match="FLYBALL_HOME"):
        take(locks)


def test_a_tree_has_one_scope_whatever_name_it_is_reached_by(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    assert tree_scope(tmp_path / "link") == tree_scope(tmp_path / "tree") != tree_scope(tmp_path)
    assert tree_scope(tmp_path).startswith("tree:")
