"""What only the journal on disk must do: notice damage, deletion, strangers and newer files, and share with processes."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conformance.journal_suite import AT, MOVED, a_task

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun, Ended
from flyball.core.model.outcomes import TurnEnded, Waited
from flyball.core.model.task import EffectId, TaskId
from flyball.journal.database import MIGRATIONS
from flyball.journal.errors import JournalCorrupt, JournalGone, JournalNewer
from flyball.journal.leases import this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal

PRELUDE = """
import sys
from pathlib import Path
from flyball.core.model.events import Moved
from flyball.core.model.task import TaskId
from flyball.journal.errors import LeaseLost
from flyball.journal.leases import this_process
from flyball.journal.sqlite import SqliteJournal
from datetime import UTC, datetime
AT = datetime(2026, 1, 5, 9, 0, 0, 123456, tzinfo=UTC)
MOVED = Moved("GREEN", "RED", "the new tests fail as they should")
journal = SqliteJournal.open(Path(sys.argv[1]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with SqliteJournal.open(path) as journal:
        yield journal


def start(path: Path, code: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PRELUDE + code, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def written(path: Path, events: int = 5) -> TaskId:
    with SqliteJournal.open(path) as journal:
        task = a_task(journal)
        journal.append(task, [MOVED] * events, epoch=0, at=AT)
    return task


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def test_a_commit_waits_for_the_disk_and_others_can_look_meanwhile(journal: SqliteJournal) -> None:
    values = [
        journal._database.select(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "foreign_keys")
    ]
    assert values == ["wal", 2, 1]


def test_a_journal_is_still_there_when_opened_again(path: Path) -> None:
    task = written(path)
    with SqliteJournal.open(path) as journal:
        assert len(list(journal.read(task))) == 5
        assert [record.id for record in journal.tasks()] == [task]


def test_the_tables_can_be_read_with_any_tool(path: Path) -> None:
    written(path, 1)
    connection = sqlite3.connect(path)
    (row,) = connection.execute(
        "SELECT task, seq, at, epoch, kind, json_extract(body, '$.fact.stage') FROM events"
    ).fetchall()
    connection.close()
    assert row == ("001-it-works", 1, "2026-01-05T09:00:00.123456+00:00", 0, "stage.moved", "GREEN")


def test_reading_goes_on_while_another_appends(path: Path, journal: SqliteJournal) -> None:
    task = a_task(journal)
    journal.append(task, [MOVED] * 600, epoch=0, at=AT)
    reader = SqliteJournal.open(path)
    events = reader.read(task)
    next(events)
    journal.append(task, [MOVED], epoch=0, at=AT)
    assert sum(1 for _ in events) == 600
    reader.close()


@pytest.mark.req("C63")
def test_a_stale_process_is_refused_by_its_epoch(path: Path, journal: SqliteJournal) -> None:
    task = a_task(journal)
    code = f"""
task, at = TaskId({task!r}), AT
epoch = journal.next_epoch("task:" + task, this_process(at))
journal.append(task, [MOVED], epoch=epoch, at=at)
print(epoch, flush=True)
sys.stdin.readline()
try:
    journal.append(task, [MOVED], epoch=epoch, at=at)
except LeaseLost as refused:
    print(refused)
"""
    with start(path, code) as first:
        assert first.stdout is not None
        assert int(first.stdout.readline()) == 1
        mine = journal.next_epoch(task_scope(task), this_process(AT))
        journal.append(task, [MOVED], epoch=mine, at=AT)
        said, _ = first.communicate("go on\n")
    assert "taken over by another process (epoch 2; this one has 1)" in said
    assert [event.epoch for event in journal.read(task)] == [1, 2]


@pytest.mark.slow
@pytest.mark.req("O1")
def test_processes_that_open_tasks_together_get_numbers_of_their_own(path: Path) -> None:
    code = "for i in range(5): print(journal.open_task('x', workflow='tdd', title='', at=AT, highest_on_disk=6).number)"
    processes = [start(path, code) for _ in range(4)]
    numbers = [int(line) for process in processes for line in process.communicate()[0].split()]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(numbers) == list(range(7, 27))


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".copy"))
    path.with_suffix(".copy").replace(path)


def delete_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


@pytest.mark.req("C61")
@pytest.mark.parametrize("happens", [delete, replace, delete_log, move_folder])
def test_an_append_to_a_file_that_is_gone_is_refused(tmp_path: Path, happens: Callable[[Path], None]) -> None:
    path = tmp_path / "home" / "journal.db"
    with SqliteJournal.open(path) as journal:
        task = a_task(journal)
        journal.append(task, [MOVED], epoch=0, at=AT)
        happens(path)
        for write in (
            lambda: journal.append(task, [MOVED], epoch=0, at=AT),
            lambda: journal.post(task, "pause", at=AT),
            lambda: journal.next_epoch("task:x", this_process(AT)),
        ):
            with pytest.raises(JournalGone, match="deleted or replaced"):
                write()


@pytest.mark.req("C61")
def test_a_file_deleted_during_an_append_is_noticed_before_it_is_acknowledged(
    path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = a_task(journal)
    monkeypatch.setattr("flyball.faults.point", lambda name: path.unlink() if name == "journal.append.inside" else None)
    with pytest.raises(JournalGone):
        journal.append(task, [MOVED], epoch=0, at=AT)


@pytest.mark.req("C62")
def test_a_damaged_body_is_reported_with_its_place_and_left_as_it_is(path: Path) -> None:
    task = written(path)
    content = bytearray(path.read_bytes())
    place = content.index(b'"seq":3')
    content[place + 60] ^= 1
    path.write_bytes(content)
    with SqliteJournal.open(path) as journal:
        events = journal.read(task)
        assert [next(events).seq, next(events).seq] == [1, 2]
        with pytest.raises(JournalCorrupt, match="event 3 of task 001-it-works") as caught:
            next(events)
    assert (caught.value.task, caught.value.seq) == (task, 3)
    assert f"sqlite3 -readonly {path} " in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.req("C62")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tasks SET title = CAST(x'c3' AS TEXT)",
        "UPDATE tasks SET opened_at = replace(opened_at, '-', 'x')",
        "UPDATE inbox SET text = CAST(x'ff41' AS TEXT)",
        "UPDATE inbox SET at = 'x' || at",
    ],
)
def test_a_damaged_letter_in_a_column_is_called_damage(path: Path, damage: str) -> None:
    task = written(path)
    with SqliteJournal.open(path) as journal:
        journal.post(task, "modify", text="go on", at=AT)
    change(path, damage)
    with SqliteJournal.open(path) as journal, pytest.raises(JournalCorrupt, match="damaged"):
        assert (journal.tasks(), journal.pending(task)) is None


@pytest.mark.req("C62")
def test_a_missing_event_is_reported(path: Path) -> None:
    task = written(path)
    change(path, "DELETE FROM events WHERE seq = 3")
    with SqliteJournal.open(path) as journal, pytest.raises(JournalCorrupt, match="event 4 where event 3 was expected"):
        list(journal.read(task))


@pytest.mark.req("C62")
@pytest.mark.parametrize("left", [0.9, 0.5, 0.1])
def test_a_truncated_file_is_reported_and_left_as_it_is(path: Path, left: float) -> None:
    task = written(path, 2000)
    content = path.read_bytes()
    content = content[: int(len(content) * left)]
    path.write_bytes(content)
    with pytest.raises(JournalCorrupt, match="damaged"), SqliteJournal.open(path) as journal:
        list(journal.read(task))
    assert path.read_bytes() == content


@pytest.mark.req("C62")
def test_a_file_that_was_emptied_is_not_taken_for_a_new_one(path: Path) -> None:
    with start(path, "print(journal.tasks(), flush=True); sys.stdin.read()") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
    log = Path(f"{path}-wal")
    path.write_bytes(b"")
    before = log.read_bytes()
    assert before
    with pytest.raises(JournalCorrupt, match="empty"):
        SqliteJournal.open(path)
    assert log.read_bytes() == before


@pytest.mark.req("C62")
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_text("a letter to my aunt\n" * 100)
    before = path.read_bytes()
    with pytest.raises(JournalCorrupt, match="not a database"):
        SqliteJournal.open(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_as_it_is(path: Path) -> None:
    change(path, "CREATE TABLE recipes (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(JournalCorrupt, match="another program"):
        SqliteJournal.open(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused_and_left_as_it_is(path: Path) -> None:
    written(path)
    change(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(JournalNewer, match=f"schema 99; this one knows {len(MIGRATIONS)}"):
        SqliteJournal.open(path)
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_nothing_half_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(path)
    broken = (*MIGRATIONS, ("CREATE TABLE half (done TEXT)", "CREATE NONSENSE"))
    with monkeypatch.context() as patch:
        patch.setattr("flyball.journal.database.MIGRATIONS", broken)
        with pytest.raises(sqlite3.OperationalError, match="syntax error"):
            SqliteJournal.open(path)
    with SqliteJournal.open(path) as journal:
        tables = {name for (name,) in journal._database.select("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"tasks", "events", "inbox", "leases", "sqlite_sequence"}


def test_an_older_journal_is_brought_up_to_date_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = written(path)
    monkeypatch.setattr(
        "flyball.journal.database.MIGRATIONS",
        (*MIGRATIONS, ("ALTER TABLE tasks ADD COLUMN colour TEXT NOT NULL DEFAULT ''",)),
    )
    for _ in range(2):
        with SqliteJournal.open(path) as journal:
            assert len(list(journal.read(task))) == 5
            assert journal._database.select("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


def test_the_turns_that_began_on_a_day_and_have_not_ended_are_counted(journal: SqliteJournal) -> None:
    tomorrow = AT + timedelta(days=1)
    begun = [Begun(RunAgent(EffectId(f"turn/{n}"), "", "", "", "", "", 1, n)) for n in (1, 2)]
    one, other = a_task(journal, "one"), a_task(journal, "other")
    journal.append(one, begun[:1], epoch=0, at=AT)
    journal.append(one, [Ended(EffectId("turn/1"), TurnEnded("ok")), begun[1]], epoch=0, at=tomorrow)
    journal.append(other, begun[:1], epoch=0, at=tomorrow)
    assert journal.count_turns_under_way(tomorrow) == 2
    journal.append(one, [Ended(EffectId("turn/2"), TurnEnded("ok"))], epoch=0, at=tomorrow)
    assert journal.count_turns_under_way(tomorrow) == 1


def test_the_turns_of_a_day_are_read_and_nothing_of_tasks_that_rested_then(path: Path, journal: SqliteJournal) -> None:
    tomorrow = AT + timedelta(days=1)
    turn = [Ended(EffectId("turn/1"), TurnEnded("ok")), Ended(EffectId("measure/1"), Waited()), MOVED]
    resting, busy, lately = (a_task(journal, slug) for slug in ("resting", "busy", "lately"))
    for task, at in ((resting, AT), (busy, AT), (busy, tomorrow), (lately, tomorrow)):
        journal.append(task, turn, epoch=0, at=at)
    change(path, f"UPDATE events SET crc = 0 WHERE at < '{tomorrow.isoformat()}'")
    found = list(journal.turns_since(tomorrow))
    assert [(task, event.seq, event.fact) for task, event in found] == [(busy, 4, turn[0]), (lately, 1, turn[0])]
    with pytest.raises(JournalCorrupt):
        list(journal.turns_since(AT))
