"""Evaluators of another package, installed as pip does it: chosen, dispatched, and kept from doing harm."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SECOND = Path(__file__).parent / "second_evaluator"
SUITE = """
import pytest
from flyball_licences import EVALUATOR
from flyball.testing.evaluator_suite import EvaluatorSuite


class TestLicences(EvaluatorSuite):
    @pytest.fixture
    def evaluator(self):
        return EVALUATOR

    @pytest.fixture
    def planted_files(self):
        return {"a.py": "x = 1\\n"}
"""
pytestmark = [pytest.mark.slow, pytest.mark.e2e, pytest.mark.req("D25")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    place = tmp_path_factory.mktemp("second")
    shutil.copytree(SECOND, place / "source")
    words = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target", str(place / "site"))
    command = [sys.executable, "-m", "pip", "install", *words, str(place / "source")]
    subprocess.run(command, check=True, timeout=120, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return place / "site"


@pytest.fixture
def project(tmp_path):
    """A track that wrote one file, with a plan that says so."""
    track = tmp_path / "project" / "conductor" / "tracks" / "headers_20260101"
    track.mkdir(parents=True)
    (track / "spec.md").write_text("# Licences\nEach licence is named.\n")
    (tmp_path / "project" / "flyball.toml").write_text('sandbox = "none"\n\n[evaluators]\ntimeout = "20s"\n')
    git(tmp_path / "project", "init", "-q", "-b", "main")
    git(tmp_path / "project", "add", "-A")
    git(tmp_path / "project", "commit", "-q", "-m", "Start")
    (tmp_path / "project" / "a.py").write_text("x = 1\n")
    git(tmp_path / "project", "add", "-A")
    git(tmp_path / "project", "commit", "-q", "-m", "Work")
    sha = git(tmp_path / "project", "rev-parse", "--short", "HEAD").strip()
    (track / "plan.md").write_text(f"- [x] Task 1: a.py <!-- {sha} -->\n  - written\n")
    return tmp_path / "project"


def git(root, *words):
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def run(installed, place, *words, module="flyball"):
    paths = os.pathsep.join(path for path in (str(installed), os.environ.get("PYTHONPATH", "")) if path)
    env = {**os.environ, "PYTHONPATH": paths, "FLYBALL_HOME": str(place.parent / "home")}
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False, timeout=300)


def test_it_is_chosen_by_its_word_and_its_finding_fails_the_track(installed, project):
    assert run(installed, project, "trust", "--yes").returncode == 0
    chosen = run(installed, project, "dispatch", "headers_20260101", "--choose")
    assert chosen.stdout == "licences: word: licence\n", chosen.stderr
    done = run(installed, project, "dispatch", "headers_20260101", "--measured-only", "--json")
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert [(each["name"], each["verdict"]) for each in told["evaluators"]] == [("licences", "FAIL")]
    assert told["fix_actions"][0]["file"] == "a.py"
    assert any("misnamed" in note for note in told["notes"])


def test_those_that_misbehave_fail_alone_with_their_reasons(installed, project):
    assert run(installed, project, "trust", "--yes").returncode == 0
    asked = ["licences", "crashing", "silent", "hanging", "strange"]
    metadata = project / "conductor" / "tracks" / "headers_20260101" / "metadata.json"
    metadata.write_text(json.dumps({"evaluators": asked}))
    (project / "a.py").write_text("# SPDX-License-Identifier: MIT\n")
    git(project, "commit", "-q", "-a", "-m", "Name it")
    done = run(installed, project, "dispatch", "headers_20260101", "--measured-only", "--json")
    told = {each["name"]: (each["verdict"], each["reason"]) for each in json.loads(done.stdout)["evaluators"]}
    assert told["licences"] == ("PASS", "")
    assert all(told[name][0] == "FAIL" for name in asked[1:])
    assert "it fell over" in told["crashing"][1]
    assert "cannot be read" in told["silent"][1]
    assert "time limit" in told["hanging"][1]
    assert "none of its passes" in told["strange"][1]
    metadata.write_text(json.dumps({"evaluators": ["absent"]}))
    refused = run(installed, project, "dispatch", "headers_20260101", "--measured-only")
    assert refused.returncode == 2
    assert "absent" in refused.stderr
    assert "EVALUATOR_THAT_IS_NOT_THERE" in refused.stderr


def test_it_passes_the_suite_that_ships(installed, tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "test_licences.py").write_text(SUITE)
    done = run(installed, tmp_path / "suite", "-q", "-p", "no:cacheprovider", module="pytest")
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout
