"""A backlog that is kept is the one that would be read."""

import os
from pathlib import Path

import pytest

from flyball.core.backlog import Backlog
from flyball.core.backlog_text import read_backlog
from flyball.documents import kept_backlog
from flyball.documents.kept_backlog import KeptBacklog
from flyball.documents.work_folder import WorkFolder

SAMPLES = sorted((Path(__file__).parent / "issue_files").glob("*.md"))
ISSUE = "---\nid: FEAT-{0:03}@a1b2c3\ntitle: Rows {0}\nstatus: {1}\n---\n\n## Problem\n\nNaïve – 日本語\n\n"
FILES = {"high.md": ISSUE.format(1, "proposed").encode(), "history.md": ISSUE.format(2, "completed").encode()}


def read(files: dict[str, bytes]) -> Backlog:
    return read_backlog({name: raw.decode("utf-8", "surrogateescape") for name, raw in files.items()})


def refuse() -> Backlog:
    raise AssertionError("it was read anew")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "kept"


@pytest.fixture
def kept(path: Path) -> KeptBacklog:
    """A backlog that was read and kept."""
    backlog = KeptBacklog(str(path))
    assert backlog.of(FILES, lambda: read(FILES)) == read(FILES)
    return backlog


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_what_is_kept_is_what_was_read(path, sample):
    files = {"medium.md": sample.read_bytes(), "history.md": sample.read_bytes()}
    first = KeptBacklog(str(path)).of(files, lambda: read(files))
    assert KeptBacklog(str(path)).of(files, refuse) == first == read(files)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"high.md": FILES["high.md"]},
        {"high.md": FILES["high.md"].replace(b"proposed", b"deferred"), "history.md": FILES["history.md"]},
        {"low.md": FILES["high.md"], "history.md": FILES["history.md"]},
        {"history.md": FILES["history.md"], "high.md": FILES["high.md"]},
        {"high.md": FILES["history.md"], "history.md": FILES["high.md"]},
        {**FILES, "low.md": b""},
    ],
    ids=["nothing", "one less", "same size", "other name", "other order", "swapped", "one more"],
)
def test_any_change_of_a_file_is_read_anew(kept, files):
    assert kept.of(files, lambda: read(files)) == read(files)
    with pytest.raises(AssertionError, match="read anew"):
        kept.of(FILES, refuse)


def test_a_torn_file_is_read_anew_wherever_it_was_torn(kept, path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(AssertionError, match="read anew"):
            kept.of(FILES, refuse)
    path.write_bytes(whole)
    assert kept.of(FILES, refuse) == read(FILES)


@pytest.mark.parametrize(
    "change", [lambda raw: raw.replace(b"Rows", b"Cows"), lambda raw: raw + b" ", lambda _: b"\xff"]
)
def test_a_file_that_two_wrote_at_once_is_read_anew(kept, path, change):
    path.write_bytes(change(path.read_bytes()))
    assert kept.of(FILES, lambda: read(FILES)) == read(FILES)
    assert kept.of(FILES, refuse) == read(FILES)


def test_what_another_version_kept_is_read_anew(kept, monkeypatch):
    monkeypatch.setattr(kept_backlog, "__version__", "999")
    with pytest.raises(AssertionError, match="read anew"):
        kept.of(FILES, refuse)


def test_a_backlog_that_is_too_long_is_not_kept(path, monkeypatch):
    monkeypatch.setattr(kept_backlog, "MAX_BYTES", 200)
    assert KeptBacklog(str(path)).of(FILES, lambda: read(FILES)) == read(FILES)
    assert not path.exists()


def test_where_nothing_can_be_kept_it_is_read(path):
    path.mkdir(parents=True)
    assert KeptBacklog(str(path)).of(FILES, lambda: read(FILES)) == read(FILES)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    issues = tmp_path / "project" / ".work" / "agent" / "issues"
    issues.mkdir(parents=True)
    for name, raw in FILES.items():
        (issues / name).write_bytes(raw)
    return issues


def test_the_folder_reads_the_same_with_and_without_what_is_kept(work, path):
    root = work.parents[2]
    (work / "high-2.md").write_text(ISSUE.format(3, "blocked") + ISSUE.format(4, "in-progress"))
    for _ in range(2):
        assert WorkFolder(root, KeptBacklog(str(path))).backlog() == WorkFolder(root).backlog()
    assert len(WorkFolder(root).backlog().issues) == 3


def test_a_file_that_cannot_be_read_is_named_each_time(work, path):
    (work / "low.md").symlink_to("high.md")
    root = work.parents[2]
    for _ in range(2):
        assert WorkFolder(root, KeptBacklog(str(path))).backlog().malformed == 1
    assert not path.exists()


def test_a_file_whose_name_is_not_utf8_is_read_and_not_kept(work, path):
    with open(os.path.join(os.fsencode(work), b"high-\xff.md"), "wb") as file:
        file.write(ISSUE.format(5, "proposed").encode())
    backlog = WorkFolder(work.parents[2], KeptBacklog(str(path))).backlog()
    assert [issue.id for issue in backlog.issues] == ["FEAT-001@a1b2c3", "FEAT-005@a1b2c3"]
    assert not path.exists()
