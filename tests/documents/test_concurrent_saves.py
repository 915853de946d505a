"""Documents of the user's: what their editor saves while flyball writes is not lost, and modes stay."""

import os
import stat
from pathlib import Path

import pytest

from flyball import faults
from flyball.core.model.task import TaskId
from flyball.documents import exported_files
from flyball.documents.exported_files import write_exported
from flyball.documents.kept_files import KeptFolder
from flyball.documents.loop_folder import LoopFolder

pytestmark = pytest.mark.req("C46")


def save(path: Path, text: str) -> None:
    """As careful editors do."""
    draft = path.with_name("draft~")
    draft.write_text(text)
    draft.replace(path)


@pytest.fixture
def meanwhile(monkeypatch):
    """Lets something happen while the new file is written, once."""

    def arrange(deed):
        left = [deed]
        monkeypatch.setattr(
            faults, "point", lambda name: left.pop()() if left and name == "work.write.inside" else None
        )

    return arrange


def test_an_edit_is_made_anew_on_what_was_saved_meanwhile(tmp_path, meanwhile):
    path = tmp_path / "high.md"
    path.write_text("one\n")
    meanwhile(lambda: save(path, "one\nthe user's\n"))
    with KeptFolder.below(tmp_path) as folder:
        assert folder.edit("high.md", lambda raw: (raw or b"") + b"ours\n")
    assert path.read_text() == "one\nthe user's\nours\n"
    assert [each.name for each in tmp_path.iterdir()] == ["high.md"]


def test_a_file_that_appears_meanwhile_is_not_written_over(tmp_path, meanwhile):
    path = tmp_path / "new.md"
    meanwhile(lambda: save(path, "the user's\n"))
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
