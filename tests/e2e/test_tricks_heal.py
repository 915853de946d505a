"""A trick that was caught is put back: whoever works honestly from then on ends DONE, with all honest work kept."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scenarios import PYTEST, SMALL, Outcome, Scenario, run

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C24", "C42")]

TASK = "001-more-of-calculator"
GATES = {"pytest": PYTEST, "small": SMALL}


def played(tmp_path: Path, trick: str, *more: str, gate: str = "small") -> Outcome:
    return run(Scenario(trick, "trickster.py", "", 0, arguments=("--trick", trick, *more), gate=GATES[gate]), tmp_path)


def outcomes(outcome: Outcome, kind: str) -> list[dict[str, Any]]:
    found = (event["fact"].get("outcome") or {} for event in outcome.events)
    return [one for one in found if one.get("outcome") == kind]


def prompts(outcome: Outcome) -> list[str]:
    effects = (event["fact"].get("effect") or {} for event in outcome.events)
    return [effect["prompt"] for effect in effects if effect.get("effect") == "run_agent"]


def git(outcome: Outcome, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=outcome.repository, capture_output=True, text=True, check=True)
    return done.stdout


def typed(outcome: Outcome, *words: str) -> subprocess.CompletedProcess[str]:
    folder = outcome.repository.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FLYBALL_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-m", "flyball", *words],
        cwd=outcome.repository, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("trick", "kind", "path", "gate"),
    [
        ("weaken", "protected-changed", "tests/test_features.py", "pytest"),
        ("delete", "test-deleted", "tests/test_features.py", "small"),
        ("skip", "protected-changed", "tests/test_features.py", "small"),
        ("conftest", "exit-forced", "conftest.py", "pytest"),
        ("shadow", "exit-forced", "pytest.py", "pytest"),
    ],
)
def test_one_trick_in_the_first_turn_of_green_is_put_back_and_the_task_ends_done(
    trick: str, kind: str, path: str, gate: str, tmp_path: Path
) -> None:
    outcome = played(tmp_path, trick, gate=gate)
    assert (outcome.status.get("decision"), outcome.exit_code) == ("DONE", 0), outcome.stderr
    assert kind in outcome.text
    (mended,) = outcomes(outcome, "mended")
    assert mended["paths"] == [path]
    assert outcomes(outcome, "restored") == [], "no work was thrown away"
    told = next(prompt for prompt in prompts(outcome) if "put back as they were accepted" in prompt)
    assert path in told.partition("put back as they were accepted")[2].splitlines()[0]
    branch = outcome.status["branch"]
    files = git(outcome, "ls-tree", "-r", "--name-only", branch).splitlines()
    assert (path in files) is path.startswith("tests/")
    tests = git(outcome, "show", f"{branch}:tests/test_features.py")
    assert "calc.power(2, 10) == 1024" in tests
    assert "skip" not in tests
    assert "def multiply" in git(outcome, "show", f"{branch}:calc/__init__.py")


@pytest.mark.req("C16", "C45")
def test_a_module_with_the_name_of_another_that_no_gate_imports_is_a_remark_and_stays(tmp_path: Path) -> None:
    outcome = played(tmp_path, "shadow")
    assert (outcome.status.get("decision"), outcome.exit_code) == ("DONE", 0), outcome.stderr
    assert outcomes(outcome, "mended") == []
    assert "pytest.py" in git(outcome, "ls-tree", "--name-only", outcome.status["branch"]).split()
    assert outcome.status["tricks"] == []
    assert "may be imported in its place" in outcome.text


@pytest.mark.req("C16")
def test_byte_code_in_a_repository_that_ignores_nothing_accuses_nobody_and_reaches_no_branch(tmp_path: Path) -> None:
    outcome = run(Scenario("runs tests", "runs_tests.py", "DONE", 0, gate=PYTEST), tmp_path)
    assert (outcome.status.get("decision"), outcome.exit_code) == ("DONE", 0), outcome.stderr
    (tree,) = (tmp_path / "home").glob("repos/*/tasks/*/tree")
    assert list(tree.rglob("__pycache__")), "the agent left byte code"
    assert outcome.status["tricks"] == []
    files = git(outcome, "ls-tree", "-r", "--name-only", outcome.status["branch"])
    assert ".gitignore" not in files
    assert "__pycache__" not in files
    assert ".pytest_cache" not in files


def test_only_the_protected_section_of_a_manifest_is_put_back_and_the_rest_of_the_edit_is_kept(tmp_path: Path) -> None:
    outcome = played(tmp_path, "configure", gate="pytest")
    assert (outcome.status.get("decision"), outcome.exit_code) == ("DONE", 0), outcome.stderr
    (mended,) = outcomes(outcome, "mended")
    assert mended["paths"] == ["pyproject.toml"]
    manifest = git(outcome, "show", f"{outcome.status['branch']}:pyproject.toml")
    assert 'version = "0.2.0"' in manifest
    assert "--co" not in manifest


@pytest.mark.req("C16")
def test_whoever_does_the_work_beside_a_change_that_is_undone_each_time_ends_done(tmp_path: Path) -> None:
    outcome = played(tmp_path, "weaken", "--always")
    assert (outcome.status.get("decision"), outcome.exit_code) == ("DONE", 0), outcome.stderr
    assert "calc.power(2, 10) == 1024" in git(outcome, "show", f"{outcome.status['branch']}:tests/test_features.py")


@pytest.mark.req("C22")
@pytest.mark.parametrize("way", ["command", "answer"])
def test_whoever_keeps_tricking_is_blocked_by_the_trick_and_a_rollback_leads_on(way: str, tmp_path: Path) -> None:
    outcome = played(tmp_path, "weaken", "--always", "--idle")
    assert (outcome.status["decision"], outcome.exit_code) == ("BLOCKED", 3)
    assert outcome.status["reason"].startswith("A change of a protected file was undone in iteration ")
    assert "tests/test_features.py" in outcome.status["reason"]
    (question,) = outcome.status["questions"]
    assert [option["key"] for option in question["options"]] == ["reset", "skip", "abort", "modify", "rollback"]
    refused = typed(outcome, "rollback", TASK, "--to", "turn-2")
    assert refused.returncode != 0
    assert "turn-2 of 001-more-of-calculator holds a trick" in refused.stderr
    if way == "command":
        done = typed(outcome, "rollback", TASK, "--to", "last-good")
    else:
        done = typed(outcome, "answer", TASK, question["id"], "rollback")
    assert done.returncode == 0, done.stderr
    resumed = typed(outcome, "resume", TASK, "--unattended")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr


def test_after_a_reset_the_next_turn_starts_from_a_tree_without_the_trick(tmp_path: Path) -> None:
    outcome = played(tmp_path, "delete", "--always", "--idle")
    assert outcome.exit_code == 3
    (tree,) = (tmp_path / "home").glob("repos/*/tasks/*/tree")
    assert (tree / "tests" / "test_features.py").exists(), "what is left lying is put back, too"
    assert typed(outcome, "reset", TASK).returncode == 0
    assert typed(outcome, "resume", TASK, "--unattended").returncode == 3
