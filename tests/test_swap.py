import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flyball import swap
from flyball.swap import exchange, put_if_free, settle, swap_in


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


@pytest.mark.req("C46")
def test_what_was_replaced_can_be_looked_at(folder: Path) -> None:
    (folder / "name").write_text("somebody's")
    assert exchange(str(folder / "fresh"), str(folder / "name"))
    assert (folder / "name").read_text() == "new"
    assert (folder / "fresh").read_text() == "somebody's"
    assert sorted(path.name for path in folder.iterdir()) == ["fresh", "name"]


@pytest.mark.req("C46")
def test_nothing_comes_out_of_a_free_place(folder: Path) -> None:
    assert not exchange(str(folder / "fresh"), str(folder / "name"))
    assert [path.name for path in folder.iterdir()] == ["name"]


@pytest.mark.req("C46")
def test_a_place_that_is_taken_stays_so(folder: Path) -> None:
    (folder / "name").write_text("somebody's")
    assert not put_if_free(str(folder / "fresh"), str(folder / "name"))
    assert (folder / "name").read_text() == "somebody's"
    (folder / "name").unlink()
    assert put_if_free(str(folder / "fresh"), str(folder / "name"))
    assert [path.name for path in folder.iterdir()] == ["name"]


@pytest.mark.req("C46")
def test_links_and_folders_come_out_as_they_are(folder: Path) -> None:
    (folder / "name").symlink_to("nowhere")
    assert exchange(str(folder / "fresh"), str(folder / "name"))
    assert os.readlink(folder / "fresh") == "nowhere"
    (folder / "inner").mkdir()
    assert exchange(str(folder / "name"), str(folder / "inner"))
    assert (folder / "name").is_dir()
    assert (folder / "inner").read_text() == "new"


@pytest.mark.req("C46")
def test_a_file_settles_when_its_writer_has_closed_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    writer = path.open("w")

    def finish() -> None:
        time.sleep(0.2)
        writer.write("all of it")
        writer.close()

    with ThreadPoolExecutor() as pool, path.open("rb") as reader:
        pool.submit(finish)
        settle(reader.fileno())
        assert reader.read() == b"all of it"


@pytest.mark.req("C46")
@pytest.mark.slow
def test_of_a_thousand_saves_beside_a_writer_none_is_lost(tmp_path: Path) -> None:
    folder = tmp_path
    name = folder / "name"
    saved = [f"save {number}" for number in range(1000)]
    seen: list[str] = []

    def editor() -> None:
        for text in saved:
            draft = folder / "draft"
            draft.write_text(text)
            # An editor that has read our text replaces it knowingly: whatever else it finds there is its own.
            while exchange(str(draft), str(name)) and (out := draft.read_text()) != "ours":
                seen.append(out)
                break

    with ThreadPoolExecutor() as pool:
        running = pool.submit(editor)
        while not running.done():
            (folder / "ours").write_text("ours")
            if exchange(str(folder / "ours"), str(name)) and (out := (folder / "ours").read_text()) != "ours":
                seen.append(out)
        running.result()
    last = name.read_text()
    assert sorted({*seen, last} - {"ours"}) == sorted(saved)
