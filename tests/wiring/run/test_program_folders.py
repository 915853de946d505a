"""What a confined program can see of flyball itself, wherever flyball lies."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import flyball
from flyball.wiring.run.confining import program_folders
from flyball.workspace import sandbox

IN_THE_SANDBOX = """\
import os, subprocess, sys
from pathlib import Path
from flyball.wiring.run.confining import program_folders
from flyball.workspace import sandbox

tree = Path(sys.argv[1])
confine = sandbox.Confined(sandbox.available(), tree, hidden=(), programs=program_folders(os.environ))
argv, cwd, env = confine([sys.executable, "-m", "flyball", "mcp", "--help"], tree=tree, env=os.environ)
sys.exit(subprocess.run(argv, cwd=cwd, env=env).returncode)
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
def test_a_flyball_that_lies_in_a_folder_the_sandbox_covers_can_be_started_in_it(place: str, tmp_path: Path) -> None:
    """As an agent starts `flyball mcp`, and as flyball starts its client of the Agent Client Protocol."""
    program = sandbox.available()
    if isinstance(program, sandbox.Unavailable):
        pytest.skip(program.reason)
    installed = Path(place) / f"flyball-test-{tmp_path.name}-{tmp_path.parent.name}"
    (tmp_path / "tree").mkdir()
    try:
        shutil.copytree(Path(flyball.__file__).parent, installed / "flyball")
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(installed)}
        words = [sys.executable, "-c", IN_THE_SANDBOX, str(tmp_path / "tree")]
        done = subprocess.run(words, cwd="/", env=env, capture_output=True, text=True, timeout=60, check=False)
    finally:
        shutil.rmtree(installed)
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


def test_folders_of_the_path_are_shown_with_the_libraries_beside_them(tmp_path: Path) -> None:
    (tmp_path / "node" / "bin").mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    path = f"{tmp_path / 'node' / 'bin'}:{tmp_path / 'scripts'}:{tmp_path / 'absent'}:relative"
    found = program_folders({"PATH": path})
    assert {tmp_path / "node", tmp_path / "scripts"} <= set(found)
    assert not {tmp_path / "absent", Path("relative")} & set(found)
