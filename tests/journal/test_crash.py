"""kill -9 at any instant: nothing acknowledged is lost, nothing is done twice, the journal reads on."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.conformance.journal_suite import AT, MOVED, a_task

from flyball.core.model.events import PersonSpoke, TurnSetAside
from flyball.core.model.task import TaskId
from flyball.journal.blobs import FileBlobs
from flyball.journal.sqlite import SqliteJournal

PRELUDE = """
import sys
from pathlib import Path
from flyball.core.model.events import Moved, PersonSpoke, TurnSetAside
from flyball.core.model.task import TaskId
from flyball.journal.blobs import FileBlobs
from flyball.journal.leases import Lease, this_process
from flyball.journal.sqlite import SqliteJournal
from datetime import UTC, datetime
AT = datetime(2026, 1, 5, 9, 0, 0, 123456, tzinfo=UTC)
MOVED = Moved("GREEN", "RED", "the new tests fail as they should")
home, task = Path(sys.argv[1]), TaskId(sys.argv[2])
journal = SqliteJournal.open(home / "journal.db")
def say(*words): print(*words, flush=True)
lease = Lease.take(journal, home / "locks", "task:" + task, this_process(AT))
"""

APPEND_FOR_EVER = """
turn = len(list(journal.read(task)))
while True:
    events = journal.append(task, [TurnSetAside(turn + i, "planned") for i in range(turn % 3 + 1)], epoch=lease.epoch, at=AT)
    turn = events[-1].seq
    say(turn)
"""

# A taker leaves after twenty words, so that one that outruns its kill does not take them all.
TAKE_TWENTY_WORDS = """
pending = list(journal.pending(task))
for word in pending[:20]:
    journal.append(task, [MOVED, PersonSpoke(word.word, word.text, word.question, word.id)], epoch=lease.epoch, at=AT, taking=[word.id])
    say(word.id)
if len(pending) <= 20:
    say("all")
"""

A_SHORT_LOOP = """
blobs = FileBlobs(home / "blobs")
done = {event.fact.turn for event in journal.read(task) if isinstance(event.fact, TurnSetAside)}
for turn in range(2):
    if turn not in done:
        ref = blobs.put(b"transcript %d" % turn)
        events = journal.append(task, [TurnSetAside(turn, "planned", ref)], epoch=lease.epoch, at=AT)
        say(turn)
say("end")
"""


def start(home: Path, task: TaskId, code: str, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PRELUDE + code, str(home), task]
    return subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def killed_after(process: "subprocess.Popen[str]", lines: int) -> list[str]:
    """What a process had acknowledged when it was killed, at least so many lines."""
    with process:
        assert process.stdout is not None
        acknowledged = [line for line, _ in zip(process.stdout, range(lines), strict=False)]
        process.kill()
        return [line.strip() for line in (*acknowledged, *process.stdout)]


@pytest.fixture
def task(tmp_path: Path) -> TaskId:
    with SqliteJournal.open(tmp_path / "journal.db") as journal:
        return a_task(journal)


@pytest.mark.slow
@pytest.mark.req("C61")
def test_every_acknowledged_append_survives_a_kill(tmp_path: Path, task: TaskId) -> None:
    chance = random.Random(7)
    for epoch in range(1, 9):
        acknowledged = killed_after(start(tmp_path, task, APPEND_FOR_EVER), chance.randrange(1, 150))
        with SqliteJournal.open(tmp_path / "journal.db") as journal:
            events = list(journal.read(task))
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.fact.turn for event in events if isinstance(event.fact, TurnSetAside)] == list(range(len(events)))
        assert events[-1].epoch == epoch
        assert len(events) >= int(acknowledged[-1])


@pytest.mark.slow
@pytest.mark.req("C61")
def test_a_word_reaches_its_task_exactly_once_however_often_the_taker_is_killed(tmp_path: Path, task: TaskId) -> None:
    with SqliteJournal.open(tmp_path / "journal.db") as journal:
        words = [journal.post(task, "modify", text=f"word {number}", at=AT) for number in range(60)]
    chance, runs = random.Random(11), 0
    while True:
        runs += 1
        acknowledged = killed_after(start(tmp_path, task, TAKE_TWENTY_WORDS), chance.randrange(1, 15))
        if "all" in acknowledged:
            break
    with SqliteJournal.open(tmp_path / "journal.db") as journal:
        spoken = [event.fact for event in journal.read(task) if isinstance(event.fact, PersonSpoke)]
        assert list(journal.pending(task)) == []
    assert runs > 2
    assert Counter(fact.inbox for fact in spoken) == dict.fromkeys(words, 1)
    assert [fact.text for fact in spoken] == [f"word {number}" for number in range(60)]


@pytest.mark.req("C61")
@pytest.mark.parametrize(("point", "there"), [("before", False), ("inside", False), ("after", True)])
def test_an_append_is_there_whole_or_not_at_all(tmp_path: Path, task: TaskId, point: str, there: bool) -> None:
    code = "journal.append(task, [MOVED, MOVED], epoch=lease.epoch, at=AT)"
    process = start(tmp_path, task, code, FLYBALL_FAULT_KILL=f"journal.append.{point}:1")
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    with SqliteJournal.open(tmp_path / "journal.db") as journal:
        assert [event.fact for event in journal.read(task)] == [MOVED, MOVED] * there


@pytest.mark.slow
@pytest.mark.req("C61")
def test_a_kill_at_every_fault_point_of_the_room_loses_and_doubles_nothing(tmp_path: Path) -> None:
    places = []
    for number in range(1, 100):
        home = tmp_path / str(number)
        with SqliteJournal.open(home / "journal.db") as journal:
            task = a_task(journal)
        killed = start(home, task, A_SHORT_LOOP, FLYBALL_FAULT_KILL=str(number))
        _, said = killed.communicate()
        resumed = start(home, task, A_SHORT_LOOP)
        assert resumed.communicate()[0].endswith("end\n")
        with SqliteJournal.open(home / "journal.db") as journal:
            facts = [event.fact for event in journal.read(task)]
        turns = [fact for fact in facts if isinstance(fact, TurnSetAside)]
        assert [fact.turn for fact in turns] == [0, 1]
        assert [FileBlobs(home / "blobs").get(fact.detail) for fact in turns] == [
            b"transcript %d" % n for n in range(2)
        ]
        if killed.returncode == 0:
            break
        assert killed.returncode == -signal.SIGKILL, said
        places.append(said.split()[-1])
    assert Counter(places) == {
        "lease.locked": 1,
        "journal.epoch.before": 1,
        "journal.epoch.after": 1,
        "blob.put.before": 2,
        "blob.put.inside": 2,
        "blob.put.after": 2,
        "journal.append.before": 2,
        "journal.append.inside": 2,
        "journal.append.after": 2,
    }
