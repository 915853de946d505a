import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import given, settings, strategies as st

from flyball.journal.blobs import FileBlobs
from flyball.journal.errors import BlobUnwritable, JournalError

TEXT = b"what the agent said"
REF = hashlib.sha256(TEXT).hexdigest()


def test_a_text_is_named_by_its_hash_and_comes_back_as_it_was(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    for data in (TEXT, b"", b"\0\xff" * 100_000):
        ref = blobs.put(data)
        assert ref == hashlib.sha256(data).hexdigest()
        assert blobs.get(ref) == data


def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=REF):
        FileBlobs(tmp_path).get(REF)


@settings(max_examples=25)
@given(st.binary())
def test_any_bytes_are_kept(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        blobs = FileBlobs(Path(folder))
        assert blobs.get(blobs.put(data)) == data


def test_texts_are_spread_over_folders_by_the_first_letters_of_their_names(tmp_path: Path) -> None:
    FileBlobs(tmp_path).put(TEXT)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / REF[:2] / REF]


def test_a_text_put_twice_is_kept_once_and_not_written_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put(TEXT)
    before = (tmp_path / REF[:2] / REF).stat()
    blobs.put(TEXT)
    after = (tmp_path / REF[:2] / REF).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.req("C62")
def test_a_damaged_text_is_noticed_left_alone_and_healed_by_putting_it_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    path = tmp_path / REF[:2] / REF
    blobs.put(TEXT)
    path.write_bytes(TEXT[:-1])
    with pytest.raises(JournalError, match="damaged"):
        blobs.get(REF)
    assert path.read_bytes() == TEXT[:-1]
    blobs.put(TEXT)
    assert blobs.get(REF) == TEXT


def test_a_text_that_a_kill_left_torn_is_replaced_when_it_is_put_again(tmp_path: Path) -> None:
    path = tmp_path / REF[:2] / REF
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    blobs = FileBlobs(tmp_path)
    assert blobs.get(blobs.put(TEXT)) == TEXT
    assert [each.name for each in path.parent.iterdir()] == [REF]


def test_what_the_disk_refuses_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BlobUnwritable, match="No space left"):
        FileBlobs(tmp_path).put(TEXT)
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_threads_may_put_the_same_text_at_once(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    threads = [Thread(target=blobs.put, args=(TEXT,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [REF]
