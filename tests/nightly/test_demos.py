"""The demo of every workflow ends DONE from a bare clone after `make demo`, and after `pip install .` in an empty environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flyball.core.workflows.registry import WORKFLOWS

pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.e2e, pytest.mark.req("C7", "D20")]
SOURCES = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path) -> str:
    """A command with nothing in its environment but a home and the system's programs; what it printed."""
    environment = {
        "PATH": f"{Path(sys.executable).resolve().parent}:{os.defpath}",
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_")) or "proxy" in name.lower()
    }
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment | kept,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module", params=["make demo", "pip install ."])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `flyball`, as somebody gets it who follows the README."""
    folder = tmp_path_factory.mktemp("newcomer")
    run("git", "clone", "--quiet", "--bare", SOURCES, folder / "bare.git", folder=folder)
    run("git", "clone", "--quiet", folder / "bare.git", folder / "flyball", folder=folder)
    if request.param == "make demo":
        run("make", "--directory", folder / "flyball", f"PYTHON={sys.executable}", "demo", folder=folder)
    else:
        run(sys.executable, "-m", "venv", folder / "flyball" / ".venv", folder=folder)
        run(folder / "flyball/.venv/bin/pip", "install", "--quiet", folder / "flyball", folder=folder)
    return folder / "flyball/.venv/bin/flyball"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_every_demo_ends_done_for_somebody_who_has_just_installed_flyball(
    installed: Path, workflow: str, tmp_path: Path
) -> None:
    said = run(installed, "demo", "--workflow", workflow, "--json", folder=tmp_path)
    assert json.loads(said.splitlines()[-1])["decision"] == "DONE"
