"""A track's metadata, changed while others write it."""

import json

import pytest

from flyball.documents.errors import DocumentError
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


def test_a_file_that_is_not_there_is_made_and_one_that_is_broken_is_refused(track):
    (track / "metadata.json").unlink()
    update_metadata(track, lambda _: {"b": {"c": 2}})
    assert json.loads((track / "metadata.json").read_text()) == {"b": {"c": 2}}
    (track / "metadata.json").write_text('{"b": ')
    with pytest.raises(DocumentError, match=r"metadata\.json"):
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


def test_a_track_is_found_by_its_name_from_any_folder_of_the_repository(tmp_path):
    folder = tmp_path / "conductor" / "tracks" / "t"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "spec.md").write_text("x")
    (tmp_path / "src").mkdir()
    assert read_track("t", tmp_path / "src").path == folder
    with pytest.raises(DocumentError, match=r"There are: t\."):
        read_track("", tmp_path)
