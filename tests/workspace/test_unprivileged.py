"""What root cannot see: a person without special rights meets files that forbid reading and removing."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
TESTS = Path(__file__).parent
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.fixture
def base():
    """A folder of nobody's, on a path nobody may walk: those of pytest are closed to other users."""
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="not root: the tests themselves run without special rights")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv, which makes root an ordinary user, is missing")
def test_checkpoints_exports_and_branches_work_for_an_ordinary_user(base):
    chosen = "unreadable or exactly_the_tree or byte_identical or git_that_works or branch_and_nothing"
    pytest_call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(base / "t")]
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *pytest_call, str(TESTS), "-k", chosen],
        cwd=TESTS.parent.parent,
        env={"PATH": os.environ["PATH"], "HOME": str(base), "PYTHONDONTWRITEBYTECODE": "1", **BARE},
        capture_output=True,
        text=True,
        check=False,
    )
    if "Permission denied" in done.stderr and "5 passed" not in done.stdout:
        pytest.skip(f"the project's folder is closed to other users: {done.stderr.strip().splitlines()[-1]}")
    assert "5 passed" in done.stdout, done.stdout + done.stderr
