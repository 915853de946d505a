"""The lock that writers of a track's metadata share: who waits, for whom, and when a lock was left behind."""

import json
import os
import threading
from pathlib import Path

import pytest

from flyball.documents.errors import DocumentError
from flyball.documents.shared_lock import HOLDER, hold_lock
from flyball.documents.track_folder import LOCK, STALE_S, update_metadata

pytestmark = pytest.mark.req("D31")


@pytest.fixture
def track(tmp_path: Path) -> Path:
    (tmp_path / "metadata.json").write_text('{"a": 1}\n')
    return tmp_path


def names(track: Path) -> list[str]:
    return sorted(path.name for path in track.iterdir())


def writing(track: Path, tell=lambda _: None) -> tuple[threading.Thread, threading.Event]:
    done = threading.Event()

    def write() -> None:
        update_metadata(track, lambda _: {"b": 2}, tell=tell)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    return writer, done


def test_a_lock_that_another_program_holds_is_waited_for_and_somebody_is_told(track, monkeypatch):
    monkeypatch.setattr("flyball.documents.shared_lock.TOLD_AT", 1)
    (track / LOCK).mkdir()
    told: list[str] = []
    writer, done = writing(track, told.append)
    assert not done.wait(0.25)
    assert names(track) == [LOCK, "metadata.json"], "nothing else is left in the user's folder"
    (track / LOCK).rmdir()
    writer.join()
    assert json.loads((track / "metadata.json").read_text()) == {"a": 1, "b": 2}
    assert told == [f"waiting for {track / LOCK}, which another program holds; remove it if none does"]
    assert names(track) == ["metadata.json"]


def test_a_living_holder_is_waited_for_however_old_its_lock_is(track):
    with hold_lock(track / LOCK, Path.mkdir, stale_s=STALE_S):
        os.utime(track / LOCK, (1, 1))
        writer, done = writing(track)
        assert not done.wait(0.25)
    writer.join()
    assert names(track) == ["metadata.json"]


def test_the_lock_of_a_flyball_that_was_killed_is_known_at_once(track):
    child = os.fork()
    if not child:
        with hold_lock(track / LOCK, Path.mkdir, stale_s=STALE_S):
            os._exit(0)
    os.waitpid(child, 0)
    assert (track / LOCK / HOLDER).exists(), "what a kill leaves"
    update_metadata(track, lambda _: {"b": 2})
    assert names(track) == ["metadata.json"]


@pytest.mark.parametrize("kind", ["empty", "filled", "file", "link"])
def test_a_lock_that_another_program_left_is_stale_after_ten_minutes(track, kind):
    lock = track / LOCK
    lock.symlink_to("nowhere") if kind == "link" else lock.write_text("") if kind == "file" else lock.mkdir()
    if kind == "filled":
        (lock / "pid").write_text("1")
    past = (track / "metadata.json").stat().st_mtime - STALE_S + 60
    os.utime(lock, (past, past), follow_symlinks=False)
    writer, done = writing(track)
    assert not done.wait(0.15)
    os.utime(lock, (past - 120, past - 120), follow_symlinks=False)
    writer.join()
    assert names(track) == ["metadata.json"]


def test_many_writers_lose_nothing_and_leave_nothing(track):
    (track / LOCK).mkdir()
    os.utime(track / LOCK, (1, 1))
    writers = [threading.Thread(target=update_metadata, args=(track, lambda m, n=n: {f"k{n}": n})) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(json.loads((track / "metadata.json").read_text())) == 9
    assert names(track) == ["metadata.json"]


def test_a_folder_that_cannot_be_written_is_refused_by_name(track):
    with (
        pytest.raises(DocumentError, match="cannot be written"),
        hold_lock(track / "nowhere" / LOCK, Path.mkdir, stale_s=STALE_S),
    ):
        pass
