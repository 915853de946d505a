"""`flyball notify`, and a run that tells."""

import tomllib
from pathlib import Path

import pytest
from tests.cli.stage import TASK, Project


def configured(root: Path, script: str) -> Path:
    tell = root.parent / "tell"
    tell.write_text(f"#!/bin/sh\n{script}\n")
    tell.chmod(0o755)
    (root / "flyball.toml").write_text(f'[notify]\ncommand = ["{tell}"]\ntargets = ["env:NOT_SET_HERE"]\n')
    return tell


@pytest.mark.req("V40")
def test_targets_are_named_without_their_secrets_and_tried_only_after_a_trust_record(repository, flyball):
    nobody = flyball("notify").out
    assert "flyball notifies nobody" in nobody
    lines = "\n".join(line.strip() for line in nobody.splitlines() if line.startswith("  "))
    assert set(tomllib.loads(lines)["notify"]) == {"targets", "command", "quiet_hours"}, "what to write is printed"
    said = repository.parent / "said"
    tell = configured(repository, f"cat >> {said}")
    refused = flyball("notify", "--test")
    assert refused.code == 2
    assert "flyball trust" in refused.err
    assert not said.exists()
    assert flyball("trust", "--yes").code == 0
    assert "env:NOT_SET_HERE" in flyball("notify").out
    tried = flyball("notify", "--test")
    assert f"{tell}: sent" in tried.out
    assert "env:NOT_SET_HERE: the variable NOT_SET_HERE is not set" in tried.out
    assert tried.code == 2
    assert "flyball: a test" in said.read_text()


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("V40")
def test_a_run_tells_once_that_it_needs_somebody_and_a_program_that_fails_changes_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    project = Project(tmp_path)
    project.go()
    said = tmp_path / "said"
    tell = tmp_path / "tell"
    tell.write_text(f'#!/bin/sh\necho "$FLYBALL_NOTICE|$FLYBALL_TITLE|$FLYBALL_COMMAND" >> {said}\n')
    tell.chmod(0o755)
    toml = project.root / "flyball.toml"
    toml.write_text(f'{toml.read_text()}\n[notify]\ncommand = ["{tell}"]\ntargets = ["json://127.0.0.1:9/"]\n')
    assert project.flyball("trust", "--yes").returncode == 0
    done = project.flyball("run", "--from", "docs/discount.md", "--max-turns", "1")
    assert done.returncode == 4, done.stderr
    assert said.read_text().splitlines() == [f"needed|LIMIT: Give a discount|flyball resume {TASK} --max-turns 10"]
    assert "not told" in (project.site.home.task(TASK) / "notify.log").read_text()
