"""Working in the user's own tree: what lies there uncommitted is not taken without a word."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=True).stdout


@pytest.mark.req("O46")
@pytest.mark.parametrize("where", [("--in-place",), ()])
def test_unattended_a_dirty_tree_is_left_alone_said_and_the_task_isolated(
    tmp_path: Path, where: tuple[str, ...]
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    (repository / "a.txt").write_text("committed\n")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one")
    (repository / "a.txt").write_text("not committed\n")
    command = [sys.executable, "-m", "flyball", "run", "do it", *where, "--unattended", "--json", "--sandbox", "none"]
    done = subprocess.run(
        [*command, "--agent-command", "true", "--gate", "test=no-such-program"],
        cwd=repository,
        env={**os.environ, "FLYBALL_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "1 uncommitted change here" in done.stderr
    opened = json.loads(done.stdout.splitlines()[0])
    assert "in_place" not in json.dumps(opened)
    assert (repository / "a.txt").read_text() == "not committed\n"
