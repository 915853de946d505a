"""A full, read-only or locked disk stops the loop with a sentence, and the journal stays readable."""

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.conformance.journal_suite import AT, MOVED, a_task

from flyball.core.model.task import TaskId
from flyball.journal.blobs import FileBlobs
from flyball.journal.errors import BlobUnwritable, JournalUnwritable
from flyball.journal.leases import Lease, this_process
from flyball.journal.sqlite import SqliteJournal


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 512 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk needs the right to mount: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096) == 4096:
            pass
    return filler


def read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def append_until_refused(journal: SqliteJournal, task: TaskId) -> int:
    """How many events a full disk still took."""
    count = 0
    with suppress(JournalUnwritable):
        for _ in range(2000):
            journal.append(task, [MOVED] * 5, epoch=0, at=AT)
            count += 5
    with pytest.raises(JournalUnwritable, match=r"free some space|full or failing disk"):
        journal.append(task, [MOVED] * 5, epoch=0, at=AT)
    return count


def test_a_full_disk_stops_appends_and_loses_nothing(disk: Path) -> None:
    with SqliteJournal.open(disk / "journal.db") as journal:
        task = a_task(journal)
        filler = fill(disk)
        count = append_until_refused(journal, task)
        assert len(list(journal.read(task))) == count
        filler.unlink()
        journal.append(task, [MOVED], epoch=0, at=AT)
        assert [event.seq for event in journal.read(task)] == list(range(1, count + 2))


@pytest.mark.parametrize("crashed", [False, True])
def test_a_journal_on_a_full_disk_can_be_opened_and_read(disk: Path, crashed: bool) -> None:
    task = _left_behind(disk / "journal.db", crashed=crashed)
    fill(disk)
    with SqliteJournal.open(disk / "journal.db") as journal:
        assert len(list(journal.read(task))) == 5
        append_until_refused(journal, task)


@pytest.mark.parametrize("crashed", [False, True])
def test_a_journal_on_a_read_only_disk_can_be_read_and_says_why_it_takes_nothing(disk: Path, crashed: bool) -> None:
    task = _left_behind(disk / "journal.db", crashed=crashed)
    read_only(disk)
    with SqliteJournal.open(disk / "journal.db") as journal:
        assert len(list(journal.read(task))) == 5
        for _ in range(2):
            with pytest.raises(JournalUnwritable, match="writable and run the command again"):
                journal.append(task, [MOVED], epoch=0, at=AT)
        with pytest.raises(JournalUnwritable, match="writable and run the command again"):
            journal.post(task, "pause", at=AT)


def test_a_new_journal_on_a_read_only_disk_is_refused(disk: Path) -> None:
    read_only(disk)
    with pytest.raises(JournalUnwritable, match=r"could not be opened|Read-only"):
        SqliteJournal.open(disk / "journal.db")
    with pytest.raises(JournalUnwritable, match="Read-only"):
        SqliteJournal.open(disk / "home" / "journal.db")


def test_a_lock_or_a_text_that_cannot_be_written_says_so(disk: Path) -> None:
    fill(disk)
    with pytest.raises(BlobUnwritable, match="Free some space"):
        FileBlobs(disk / "blobs").put(b"x" * 8192)
    assert [path for path in disk.rglob("*") if path.name.startswith(".new-")] == []
    read_only(disk)
    with SqliteJournal.open(disk.parent / "journal.db") as journal, pytest.raises(JournalUnwritable, match="lock file"):
        Lease.take(journal, disk / "locks", "task:x", this_process(AT))


def test_a_journal_locked_by_another_program_says_so_after_a_while(tmp_path: Path) -> None:
    with SqliteJournal.open(tmp_path / "journal.db", patience_s=0.1) as journal:
        task = a_task(journal)
        other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalUnwritable, match="another program has locked it"):
            journal.append(task, [MOVED], epoch=0, at=AT)
        assert list(journal.read(task)) == []
        other.close()
        journal.append(task, [MOVED], epoch=0, at=AT)


AS_NOBODY = """
import os, sys
from pathlib import Path
from flyball.core.model.events import Moved
from flyball.core.model.task import TaskId
from flyball.journal.errors import JournalUnwritable
from flyball.journal.sqlite import SqliteJournal
from datetime import UTC, datetime
AT = datetime(2026, 1, 5, 9, 0, 0, 123456, tzinfo=UTC)
MOVED = Moved("GREEN", "RED", "the new tests fail as they should")
if os.geteuid() == 0:
    os.setuid(65534)
with SqliteJournal.open(Path(sys.argv[1])) as journal:
    print(len(list(journal.read(TaskId(sys.argv[2])))))
    try:
        journal.append(TaskId(sys.argv[2]), [MOVED], epoch=0, at=AT)
    except JournalUnwritable as error:
        print(error)
"""


def test_a_journal_without_permission_to_write_can_be_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        task = _left_behind(home / "journal.db", crashed=False)
        (home / "journal.db").chmod(0o444)
        home.chmod(0o555)
        command = [sys.executable, "-c", AS_NOBODY, str(home / "journal.db"), task]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        home.chmod(0o755)
    count, said = ended.stdout.splitlines()
    assert count == "5"
    assert "writable and run the command again" in said


def _left_behind(path: Path, *, crashed: bool) -> TaskId:
    """A journal of five events, closed properly or with its write-ahead log as a kill leaves it."""
    with SqliteJournal.open(path) as journal:
        task = a_task(journal)
        journal.append(task, [MOVED] * 5, epoch=0, at=AT)
        left = {suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    if crashed:
        for suffix, content in left.items():
            Path(f"{path}{suffix}").write_bytes(content)
    return task
