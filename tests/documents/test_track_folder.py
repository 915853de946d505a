"""A track's metadata, changed while others write it, and the lock they share."""

import json
import os
import threading

import pytest

from flyball.documents.errors import TrackUnreadable
from flyball.documents.track_folder import LOCK, read_track, update_metadata

pytestmark = pytest.mark.req("D31")


@pytest.fixture
def track(tmp_path):
    (tmp_path / "metadata.json").write_text('{"a": 1}\n')
    return tmp_path


def test_what_another_program_writes_meanwhile_is_kept_and_edited(track):
    written: list[object] = []

    def values(metadata):
        if not written:
            (track / "metadata.json").write_text('{"a": 1, "theirs": true}\n')
        written.append(metadata)
        return {"ours": len(metadata)}

    update_metadata(track, values)
    assert json.loads((track / "metadata.json").read_text()) == {"a": 1, "theirs": True, "ours": 2}
    assert len(written) == 2


def test_writers_that_use_the_lock_wait_for_each_other(track):
    (track / LOCK).mkdir()
    done = threading.Event()

    def write():
        update_metadata(track, lambda _: {"b": 2})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not done.wait(0.3)
    (track / LOCK).rmdir()
    writer.join()
    assert json.loads((track / "metadata.json").read_text()) == {"a": 1, "b": 2}
    assert not (track / LOCK).exists()


def test_many_writers_lose_nothing(track):
    writers = [threading.Thread(target=update_metadata, args=(track, lambda m, n=n: {f"k{n}": n})) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(json.loads((track / "metadata.json").read_text())) == 9


def test_a_lock_a_crash_left_behind_is_stale_after_a_while(track):
    (track / LOCK).mkdir()
    (track / LOCK / "holder").write_text("1")
    os.utime(track / LOCK, (1, 1))
    update_metadata(track, lambda _: {"b": 2})
    assert json.loads((track / "metadata.json").read_text())["b"] == 2
    assert sorted(path.name for path in track.iterdir()) == ["metadata.json"]


def test_a_file_that_is_not_there_is_made_and_one_that_is_broken_is_refused(track):
    (track / "metadata.json").unlink()
    update_metadata(track, lambda _: {"b": {"c": 2}})
    assert json.loads((track / "metadata.json").read_text()) == {"b": {"c": 2}}
    (track / "metadata.json").write_text('{"b": ')
    with pytest.raises(TrackUnreadable, match=r"metadata\.json"):
        update_metadata(track, lambda _: {"b": 1})
    assert (track / "metadata.json").read_text() == '{"b": '
    (track / "metadata.json").write_text('{"b": 3}')
    update_metadata(track, lambda _: {"b": {"c": 2}})
    assert not (track / LOCK).exists()


def test_the_nearest_product_page_is_the_tracks(tmp_path):
    folder = tmp_path / "conductor" / "tracks" / "t"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "spec.md").write_text("x")
    assert read_track("t", tmp_path).product == ""
    (tmp_path / "conductor" / "product.md").write_text("rules")
    assert read_track("t", tmp_path).product == "rules"
    assert read_track("t", tmp_path).plan is None
