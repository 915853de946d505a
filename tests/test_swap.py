import os
from pathlib import Path

import pytest

from flyball import swap
from flyball.swap import exchange, put_if_free, swap_in


@pytest.fixture(params=["exchanged", "renamed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a platform that can exchange names, and of one that cannot."""
    if request.param == "renamed":
        monkeypatch.setattr(swap, "_renameat2", lambda: None)
    (tmp_path / "fresh").write_text("new")
    return tmp_path


def test_a_file_takes_the_place_of_another_and_nothing_else_is_left(folder: Path) -> None:
    (folder / "name").write_text("old")
    swap_in(str(folder / "fresh"), str(folder / "name"))
    assert [path.name for path in folder.iterdir()] == ["name"]
    assert (folder / "name").read_text() == "new"


def test_a_file_takes_a_place_that_is_free(folder: Path) -> None:
    swap_in(str(folder / "fresh"), str(folder / "name"))
    assert [path.name for path in folder.iterdir()] == ["name"]


def test_names_may_be_meant_within_an_open_folder(folder: Path) -> None:
    (folder / "name").write_text("old")
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        swap_in("fresh", "name", folder=descriptor)
    finally:
        os.close(descriptor)
    assert [path.name for path in folder.iterdir()] == ["name"]
    assert (folder / "name").read_text() == "new"


def test_whoever_had_the_old_file_open_still_reads_all_of_it(folder: Path) -> None:
    (folder / "name").write_text("old")
    with (folder / "name").open() as reader:
        swap_in(str(folder / "fresh"), str(folder / "name"))
        assert reader.read() == "old"


def test_a_file_that_is_not_there_is_an_error_and_the_old_one_stays(folder: Path) -> None:
    (folder / "name").write_text("old")
    with pytest.raises(FileNotFoundError):
        swap_in(str(folder / "absent"), str(folder / "name"))
    assert (folder / "name").read_text() == "old"


def test_what_was_replaced_can_be_looked_at(folder: Path) -> None:
    (folder / "name").write_text("somebody's")
    exchange(str(folder / "fresh"), str(folder / "name"))
    assert (folder / "name").read_text() == "new"
    assert (folder / "fresh").read_text() == "somebody's"
    assert sorted(path.name for path in folder.iterdir()) == ["fresh", "name"]


def test_a_place_that_is_taken_stays_so(folder: Path) -> None:
    (folder / "name").write_text("somebody's")
    assert not put_if_free(str(folder / "fresh"), str(folder / "name"))
    assert (folder / "name").read_text() == "somebody's"
    (folder / "name").unlink()
    assert put_if_free(str(folder / "fresh"), str(folder / "name"))
    assert [path.name for path in folder.iterdir()] == ["name"]


def test_links_come_out_as_they_are(folder: Path) -> None:
    (folder / "name").symlink_to("nowhere")
    exchange(str(folder / "fresh"), str(folder / "name"))
    assert os.readlink(folder / "fresh") == "nowhere"
