"""Set-up is repeated when a file that it read has changed, whatever it is called and whoever read it, and not for others."""

import os
import struct
import subprocess
from pathlib import Path

import pytest

from flyball.core.model.task import Settings
from flyball.folders import CACHES
from flyball.measures.gates import reads as kernel
from flyball.measures.gates.manifests import read_installed, setup_recording

pytestmark = pytest.mark.req("C43")
SETUP = "./install"
FILES = {
    "setup.py": "import pathlib; pathlib.Path('VERSION').read_text(); exec(open('tools/deps.py').read())\n",
    "tools/deps.py": "open('deps/base.conf').read()\n",
    "deps/base.conf": "a\n",
    "deps/unused.conf": "a\n",
    "VERSION": "1\n",
    "Makefile": "env:\n\tcat pins/*.txt\n",
    "pins/one.txt": "b\n",
    "install": "#!/bin/sh\npython3 setup.py; make -s env; cat libs/x/index.js linked README.md lib/version.py\n",
    "libs/x/index.js": "x\n",
    "libs/y/index.js": "y\n",
    "lib/version.py": "v = 1\n",
    "lib/other.py": "o = 1\n",
    "real/target.cfg": "t\n",
    "src/a.py": "a = 1\n",
    "tests/test_a.py": "def test_a(): pass\n",
    "README.md": "hello\n",
    "web/package.json": "{}\n",
    ".venv/lib/installed.py": "x\n",
    os.fsdecode(b"odd-\xff.conf"): "x\n",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory):
    tree = tmp_path_factory.mktemp("project") / "tree"
    write(tree, FILES)
    (tree / "linked").symlink_to("real/target.cfg")
    (tree / "install").chmod(0o755)
    return tree, set_up(tree)


def write(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def set_up(tree: Path):
    with setup_recording(tree, Settings(setup=SETUP)) as recording:
        subprocess.run(SETUP, shell=True, cwd=tree, check=True, capture_output=True)
    recording.write(tree.with_name("mark"))
    found = read_installed(tree.with_name("mark"))
    assert found is not None
    return found


READ = ("setup.py", "tools/deps.py", "deps/base.conf", "VERSION", "Makefile", "pins/one.txt", "install", "libs/x/index.js",
        "real/target.cfg", "web/package.json", "lib/version.py")  # fmt: skip
NEW = (
    "uv.toml",
    ".npmrc",
    "pins/two.txt",
    "deps/extra.ini",
    "libs/x/more.js",
    "libs/x/lib/deep.js",
    "web/app/package.json",
)
UNREAD = ("src/a.py", "src/new.py", "tests/test_a.py", "tests/test_new.py", "README.md", "docs/new.md", "CHANGES.rst",
          "libs/y/index.js", "lib/other.py", "lib/new.py", "deps/unused.conf", "data/new.json", ".venv/lib/installed.py", "src/__pycache__/a.pyc",
          *(f"libs/x/{cache}/made.js" for cache in sorted(CACHES)))  # fmt: skip


@pytest.mark.parametrize(
    ("name", "current"), [*((n, False) for n in (*READ, *NEW)), *((n, True) for n in UNREAD)], ids=str
)
def test_only_what_set_up_read_or_would_have_read_makes_it_run_again(installed, name: str, current: bool) -> None:
    tree, found = installed
    path = tree / name
    before = path.read_text() if path.exists() else None
    assert found.is_current(tree, Settings(setup=SETUP))
    try:
        write(tree, {name: "changed\n"})
        assert found.is_current(tree, Settings(setup=SETUP)) == current
    finally:
        path.unlink() if before is None else path.write_text(before)


def test_a_file_that_is_gone_or_a_link_that_leads_elsewhere_makes_it_run_again(installed) -> None:
    tree, found = installed
    (tree / "VERSION").rename(tree.with_name("VERSION"))
    assert not found.is_current(tree, Settings(setup=SETUP))
    (tree.with_name("VERSION")).rename(tree / "VERSION")
    assert found.is_current(tree, Settings(setup=SETUP))
    assert not found.is_current(tree, Settings(setup=f"{SETUP} --more"))


def test_a_file_that_set_up_writes_counts_as_it_was_before(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree, {"package.json": "{}\n", "lock": "old\n", "install": "#!/bin/sh\ncat lock; echo new > lock\n"})
    (tree / "install").chmod(0o755)
    found = set_up(tree)
    assert not found.is_current(tree, Settings(setup=SETUP))
    (tree / "lock").write_text("old\n")
    assert found.is_current(tree, Settings(setup=SETUP))


@pytest.mark.parametrize("answers", [{"inotify_init1": -1}, {"inotify_add_watch": -1}])
def test_where_the_kernel_does_not_tell_every_file_counts(installed, monkeypatch, answers) -> None:
    tree, _ = installed
    real = kernel._call
    monkeypatch.setattr(kernel, "_call", lambda name, *args: answers.get(name, 0) or real(name, *args))
    found = set_up(tree)
    assert set(FILES) - {".venv/lib/installed.py", "README.md"} <= {*found.files, os.fsdecode(b"odd-\xff.conf")}
    assert found.is_current(tree, Settings(setup=SETUP))


def test_where_the_kernel_lost_something_every_file_counts(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree, {"install": "#!/bin/sh\n", "a.conf": "x"})
    with setup_recording(tree, Settings(setup=SETUP)) as recording:
        told, said = os.pipe()
        os.write(said, struct.pack("iIII", -1, 0x4000, 0, 0))
        os.dup2(told, recording.reads._notes)
    recording.write(tmp_path / "mark")
    found = read_installed(tmp_path / "mark")
    assert found is not None
    assert set(found.files) == {"install", "a.conf"}
    os.close(told)
    os.close(said)


def test_a_mark_of_another_version_is_no_set_up(tmp_path: Path) -> None:
    (tmp_path / "mark").write_text("0123456789abcdef")
    assert read_installed(tmp_path / "mark") is None
    assert read_installed(tmp_path / "none") is None
