"""Documents of the user's: a save by their editor in the same instant is not lost, and modes stay."""

import os
import stat
from pathlib import Path

import pytest

from flyball import faults
from flyball.core.model.task import TaskId
from flyball.documents import exported_files, kept_files
from flyball.documents.exported_files import write_exported
from flyball.documents.kept_files import KeptFolder
from flyball.documents.loop_folder import LoopFolder
from flyball.swap import exchange

pytestmark = pytest.mark.req("C46")


def save(path: Path, text: str) -> None:
    """As careful editors do."""
    draft = path.with_name("draft~")
    draft.write_text(text)
    draft.replace(path)


def added(line: bytes, raw: bytes | None) -> bytes:
    return (raw or b"") + line


@pytest.fixture
def just_before(monkeypatch):
    """Lets something happen between the last look at a file and its exchange, once."""

    def arrange(deed):
        left = [deed]

        def late(fresh, name, *, folder=None):
            if left:
                left.pop()()
            return exchange(fresh, name, folder=folder)

        monkeypatch.setattr(kept_files, "exchange", late)

    return arrange


def test_an_edit_is_made_anew_on_what_was_saved_meanwhile(tmp_path, just_before):
    path = tmp_path / "high.md"
    path.write_text("one\n")
    just_before(lambda: save(path, "one\nthe user's\n"))
    with KeptFolder.below(tmp_path) as folder:
        assert folder.edit("high.md", lambda raw: (raw or b"") + b"ours\n")
    assert path.read_text() == "one\nthe user's\nours\n"
    assert [each.name for each in tmp_path.iterdir()] == ["high.md"]


def test_a_file_that_appears_meanwhile_is_not_written_over(tmp_path, monkeypatch):
    path = tmp_path / "new.md"
    left = [1]

    def point(name):
        if name == "work.write.inside" and left:
            left.pop()
            save(path, "the user's\n")

    monkeypatch.setattr(faults, "point", point)
    with KeptFolder.below(tmp_path) as folder:
        assert folder.edit("new.md", lambda raw: (raw or b"") + b"ours\n")
    assert path.read_text() == "the user's\nours\n"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_modes_of_the_users_files_stay(tmp_path, mode):
    (tmp_path / "high.md").write_text("one\n")
    (tmp_path / "high.md").chmod(mode)
    with KeptFolder.below(tmp_path) as folder:
        folder.edit("high.md", lambda raw: (raw or b"") + b"ours\n")
    assert stat.S_IMODE((tmp_path / "high.md").stat().st_mode) == mode


def test_a_new_file_is_as_narrow_as_the_user_wants_new_files_to_be(tmp_path):
    before = os.umask(0o077)
    try:
        with KeptFolder.below(tmp_path) as folder:
            folder.edit("new.md", lambda _raw: b"ours\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.md").stat().st_mode) == 0o600


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "tree").mkdir()
    return LoopFolder(tmp_path / "tree", TaskId("001-thing"), memory=tmp_path / "memory")


def test_a_rendered_page_keeps_its_mode(loop):
    loop.render({"plan.md": "first\n"})
    (loop.path / "plan.md").chmod(0o600)
    loop.render({"plan.md": "second\n"})
    assert stat.S_IMODE((loop.path / "plan.md").stat().st_mode) == 0o600


@pytest.mark.parametrize("force", [False, True])
def test_an_exported_file_keeps_its_mode(tmp_path, force):
    write_exported(tmp_path, {"a.md": "first\n"}, manifest=".manifest")
    (tmp_path / "a.md").chmod(0o600)
    write_exported(tmp_path, {"a.md": "second\n"}, manifest=".manifest", force=force)
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o600
    assert exported_files._content(tmp_path / "a.md") == b"second\n"


def test_two_saves_of_one_instant_are_both_kept(tmp_path, monkeypatch):
    """The second was made from what stood there between two exchanges, so it does not hold the first."""
    path = tmp_path / "high.md"
    path.write_text("one\n")
    saves = ["one\nfirst\n", "one\nours\nsecond\n"]

    def point(name):
        if saves and name in {"work.write.inside", "work.write.exchanged"}:
            save(path, saves.pop(0))

    real = KeptFolder.read

    def read(self, name):
        raw = real(self, name)
        # The first save falls between the look at the file and the exchange.
        if name == "high.md" and len(saves) == 2 and looked:
            point("work.write.inside")
        looked.append(name)
        return raw

    looked: list[str] = []
    monkeypatch.setattr(KeptFolder, "read", read)
    monkeypatch.setattr(faults, "point", lambda name: point(name) if name == "work.write.exchanged" else None)
    with KeptFolder.below(tmp_path) as folder:
        folder.edit("high.md", lambda raw: raw if b"ours" in (raw or b"") else (raw or b"") + b"ours\n")
    everything = "".join(each.read_text() for each in tmp_path.iterdir())
    assert not saves
    assert "first" in everything
    assert "second" in everything
