"""Exported files belong to the user as soon as they touch them."""

import os
from pathlib import Path

import pytest

from flyball.documents.errors import DocumentError
from flyball.documents.exported_files import write_exported

MANIFEST = "agents/flyball-export.json"
FIRST = {"agents/one.md": "one\n", "agents/two.md": "two\n"}
LATER = {"agents/one.md": "one, revised\n", "agents/two.md": "two\n"}


def write(folder: Path, files: dict[str, str], *, force: bool = False):
    return write_exported(folder, files, manifest=MANIFEST, force=force)


def test_files_are_written_with_their_folders_and_told(tmp_path):
    done = write(tmp_path / "new", FIRST)
    assert done.written == tuple(FIRST)
    assert (tmp_path / "new" / "agents" / "one.md").read_text() == "one\n"


def test_a_later_export_replaces_what_an_earlier_one_wrote_and_leaves_the_rest(tmp_path):
    write(tmp_path, FIRST)
    done = write(tmp_path, LATER)
    assert (done.written, done.unchanged) == (("agents/one.md",), ("agents/two.md",))
    assert write(tmp_path, LATER).written == ()


def test_a_file_of_the_users_stops_the_export_before_anything_is_written(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "two.md").write_text("mine\n")
    with pytest.raises(DocumentError, match=r"agents/two\.md .* --force"):
        write(tmp_path, FIRST)
    assert sorted(p.name for p in (tmp_path / "agents").iterdir()) == ["two.md"]


def test_a_file_edited_since_is_the_users(tmp_path):
    write(tmp_path, FIRST)
    (tmp_path / "agents" / "one.md").write_text("one, as I like it\n")
    with pytest.raises(DocumentError, match="changed since"):
        write(tmp_path, LATER)
    assert (tmp_path / "agents" / "one.md").read_text() == "one, as I like it\n"
    assert write(tmp_path, LATER, force=True).written == ("agents/one.md",)
    assert write(tmp_path, FIRST).written == ("agents/one.md",)


def test_without_its_manifest_a_file_is_ours_only_if_it_is_as_wanted(tmp_path):
    write(tmp_path, FIRST)
    (tmp_path / MANIFEST).write_text("{not json")
    assert write(tmp_path, FIRST).written == ()
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(DocumentError, match="changed since"):
        write(tmp_path, LATER)


def test_a_link_is_never_written_through(tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (tmp_path / "to" / "agents").mkdir(parents=True)
    (tmp_path / "to" / "agents" / "one.md").symlink_to(outside)
    with pytest.raises(DocumentError, match="changed since"):
        write(tmp_path / "to", FIRST)
    write(tmp_path / "to", FIRST, force=True)
    assert outside.read_text() == "mine\n"
    assert not (tmp_path / "to" / "agents" / "one.md").is_symlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "to").mkdir(mode=0o500)
    with pytest.raises(DocumentError, match=r"--to DIR"):
        write(tmp_path / "to", FIRST)


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "agents").write_text("a file\n")
    with pytest.raises(DocumentError, match=r"agents.* could not be written"):
        write(tmp_path, FIRST)
