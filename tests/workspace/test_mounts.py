"""A copy of installed dependencies that may be written: before each use it is what its source is, whatever was done to it."""

import os
from pathlib import Path

import pytest

from flyball.workspace.mounts import renew

pytestmark = pytest.mark.req("C43")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "venv"
    for name in ("bin/python", "lib/a/one.py", "lib/a/two.py", "lib/b/three.py"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    (made / "bin" / "python").chmod(0o755)
    (made / "lib64").symlink_to("lib")
    (made / "dangling").symlink_to("nowhere")
    os.mkfifo(made / "pipe")
    (made / os.fsdecode(b"odd-\xff")).write_text("odd")
    return made


@pytest.fixture
def copy(tmp_path: Path, source: Path) -> Path:
    made = tmp_path / "home" / "copy"
    renew(source, made)
    return made


def everything(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        link = os.readlink(path) if path.is_symlink() else ""
        text = path.read_text() if path.is_file() and not link else link
        if not path.is_fifo():
            found[str(path.relative_to(folder))] = f"{path.lstat().st_mode:o} {text}"
    return found


def test_a_copy_is_what_its_source_is(source: Path, copy: Path) -> None:
    assert everything(copy) == everything(source)
    assert (copy / "lib/a/one.py").stat().st_mtime_ns == (source / "lib/a/one.py").stat().st_mtime_ns, "pyc stay valid"


def test_whatever_was_written_is_gone_also_with_size_and_time_as_they_were(source: Path, copy: Path) -> None:
    forged = copy / "lib/a/one.py"
    facts = forged.stat()
    forged.write_text("lib/a/six.py")
    os.utime(forged, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (copy / "lib/a/two.py").unlink()
    (copy / "lib/new").mkdir()
    (copy / "lib/new/x").write_text("x")
    (copy / "bin/python").chmod(0o600)
    (copy / "lib64").unlink()
    (copy / "lib64").mkdir()
    (copy / "lib").chmod(0)
    renew(source, copy)
    assert everything(copy) == everything(source)


def test_nothing_is_written_or_removed_through_a_link_that_was_put_there(
    tmp_path: Path, source: Path, copy: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    (outside / "kept").write_text("kept")
    (copy / "lib").rename(copy / "moved")
    (copy / "lib").symlink_to(outside)
    renew(source, copy)
    assert everything(copy) == everything(source)
    assert [path.name for path in sorted(outside.rglob("*"))] == ["a", "kept"]


def test_what_is_the_same_is_not_copied_again(source: Path, copy: Path) -> None:
    before = {path: path.lstat().st_ino for path in copy.rglob("*")}
    (source / "lib/b/three.py").write_text("newer")
    (source / "lib/a/two.py").unlink()
    renew(source, copy)
    assert everything(copy) == everything(source)
    assert {path.name for path, inode in before.items() if not path.exists() or path.lstat().st_ino != inode} <= {
        "two.py", "three.py", "dangling"
    }  # fmt: skip


def test_a_copy_whose_record_is_missing_or_broken_is_made_anew(source: Path, copy: Path) -> None:
    record = copy.with_name("copy.stamps")
    for spoil in (record.unlink, lambda: record.write_text("{")):
        (copy / "lib/a/one.py").write_text("worse")
        spoil()
        renew(source, copy)
        assert everything(copy) == everything(source)
