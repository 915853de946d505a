"""Keys and small files of flyball's own."""

import hashlib
from pathlib import Path

import pytest

from flyball.documents.own_files import keep, key_of


def test_a_key_is_the_same_wherever_its_digest_comes_from():
    raw = "/a/é".encode()
    assert key_of("/a/é") == hashlib.blake2b(len(raw).to_bytes(8, "big") + raw, digest_size=16).hexdigest()
    assert key_of("/a/é") == key_of(raw)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), ((), ("",)), (("not \udc80 text",), ("not \udc81 text",))],
)
def test_different_parts_have_different_keys(one, other):
    assert key_of(*one) != key_of(*other)


def test_a_file_is_kept_in_a_folder_that_nobody_else_reads(tmp_path: Path):
    path = tmp_path / "home" / "hooks" / "x"
    assert keep(str(path), b"one")
    assert keep(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_what_cannot_be_kept_is_said(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert not keep(str(tmp_path / "file" / "x"), b"one")
