"""The demo runs a whole loop for real, and refuses what it cannot show."""

import json
import os
import resource
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from tests.support.builders import tdd_task

from flyball.agents.scripted.script import read_script
from flyball.cli.commands.demo import _what_is_left
from flyball.core.workflows.plan.grammar import parse
from flyball.wiring.site import Site
from flyball.workspace.sandbox import Unavailable, available

SOURCES = Path(__file__).parents[3]


def _own(workflow: str, name: str) -> bytes:
    return resources.files(f"flyball.core.workflows.{workflow}").joinpath("demo", name).read_bytes()


def test_the_script_and_the_sample_that_ship_are_sound():
    folder = resources.files("flyball").joinpath("demo")
    script = read_script(_own("tdd", "script.yaml"), "script.yaml")
    stages = {stage for step in script.steps for stage in step.when.alternatives("stage")}
    assert stages == {"RED", "GREEN", "DOCUMENT", "QA"}
    assert "flyball.toml" in yaml.safe_load(folder.joinpath("sample.yaml").read_bytes())


def test_the_script_of_the_backlog_plays_every_issue_of_its_sample():
    script = read_script(_own("backlog", "script.yaml"), "script.yaml")
    issues = "".join(yaml.safe_load(_own("backlog", "sample.yaml")).values())
    played = {issue for step in script.steps for issue in step.when.alternatives("subtask")}
    assert len(played) == 3
    assert all(f"id: {issue}" in issues for issue in played)


def test_the_script_of_the_plan_plays_every_subtask_its_planner_plans():
    script = read_script(_own("plan", "script.yaml"), "script.yaml")
    steps = yaml.safe_load(_own("plan", "script.yaml"))["steps"]
    planned = parse(steps[0]["do"][-1]["report"]["plan"])
    assert planned.problems == ()
    assert [item.kind for item in planned.items].count("scaffold") == 1
    played = {subtask for step in script.steps for subtask in step.when.alternatives("subtask")}
    assert played == {item.id for item in planned.items}
    assert len(played) == 6


def test_while_its_page_is_open_the_sample_is_not_said_to_be_gone(repository):
    site = Site.find(repository)
    task = replace(tdd_task(), workflow="quick")
    told = {open_: "\n".join(_what_is_left(site, task, keep=False, open_=open_)) for open_ in (True, False)}
    assert "The sample is removed when you end this." in told[True]
    assert "The sample was removed again." in told[False]
    assert told[False].splitlines()[1] == "  flyball demo --keep"


def test_the_command_that_keeps_the_sample_names_the_workflow_that_was_shown(repository):
    task = replace(tdd_task(), workflow="backlog")
    told = list(_what_is_left(Site.find(repository), task, keep=False, open_=False))
    assert told[1] == "  flyball demo --workflow backlog --keep"


def test_a_workflow_without_a_demo_is_refused_with_those_there_are(flyball):
    refused = flyball("demo", "--workflow", "nonsense")
    assert refused.code == 2
    assert "tdd" in refused.err


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("C4", "C40")
def test_the_demo_goes_from_red_to_ship_refuses_the_lie_and_leaves_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "untouched"))
    command = [sys.executable, "-m", "flyball", "demo", "--workflow", "tdd", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout.splitlines()[-1])
    assert status["decision"] == "DONE"
    assert status["false_claims"] == 1
    assert [c["label"] for c in status["checkpoints"] if c["accepted"]] == [
        "start",
        "RED",
        "GREEN",
        "DOCUMENT",
        "report",
    ]
    assert any('"restored"' in line for line in done.stdout.splitlines())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("E30", "E15")
def test_the_demo_of_a_backlog_rejects_once_blocks_once_and_completes_all_three_issues(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "untouched"))
    command = [sys.executable, "-m", "flyball", "demo", "--workflow", "backlog", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    status = lines[-1]
    assert status["decision"] == "DONE"
    assert [each["state"] for each in status["subtasks"]] == ["completed"] * 3
    facts = [line["fact"] for line in lines if "fact" in line]
    settled = [fact["status"] for fact in facts if fact["fact"] == "item.settled"]
    assert settled == ["failed", "completed", "completed", "completed"]
    stops = [fact["kind"] for fact in facts if fact["fact"] == "task.stopped"]
    assert stops == ["blocked", "done"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("O30", "O32", "O38", "O44", "O50")
def test_the_demo_of_a_plan_meets_a_conflict_a_rejection_and_a_rollback_and_delivers(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "untouched"))
    command = [sys.executable, "-m", "flyball", "demo", "--workflow", "plan", "--json"]
    before = _work_of_children()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert _work_of_children() - before < 60, "under a minute, and on a busy machine by the processor's time"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    status = lines[-1]
    assert status["decision"] == "DONE"
    assert [each["state"] for each in status["subtasks"]] == ["completed"] * 6
    facts = [line["fact"] for line in lines if "fact" in line]
    assert [fact["items"] for fact in facts if fact["fact"] == "batch.begun"] == [
        ["1.1"],
        ["2.1", "2.2", "2.3"],
        ["2.3", "2.4"],
        ["2.3", "2.4"],
        ["2.5"],
    ]
    results = [(fact["item"], fact["result"]) for fact in facts if fact["fact"] == "subtask.integrated"]
    assert ("2.3", "conflicted") in results
    assert [fact["rejected"][0]["id"] for fact in facts if fact["fact"] == "batch.reviewed" and "rejected" in fact] == [
        "2.4"
    ]
    assert [fact["rung"] for fact in facts if fact["fact"] == "iteration.judged" and "rung" in fact] == ["rollback"]
    begun = [fact["effect"] for fact in facts if fact["fact"] == "effect.begun" and "prompt" in fact["effect"]]
    roles = [effect["role"] for effect in begun if effect.get("item") == "2.3"]
    assert roles == ["implementer", "fixer"], (
        "approved work that went down with its batch is merged again without a turn"
    )
    labels = [c["label"] for c in status["checkpoints"] if c["accepted"]]
    assert labels == ["start", "scaffold", "batch-2", "batch-4", "batch-5", "report"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("D32", "D40", "D41")
def test_the_demo_of_a_track_fails_is_fixed_passes_and_brings_documents_up_to_date(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "untouched"))
    command = [sys.executable, "-m", "flyball", "demo", "--workflow", "track", "--json"]
    before = _work_of_children()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert _work_of_children() - before < 60, "under a minute, and on a busy machine by the processor's time"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["decision"] == "DONE"
    facts = [line["fact"] for line in lines if "fact" in line]
    verdicts = [fact["evaluation"]["verdict"] for fact in facts if fact["fact"] == "track.evaluated"]
    assert verdicts == ["FAIL", "PASS"]
    stages = [fact["stage"] for fact in facts if fact["fact"] == "stage.moved" and fact.get("lane", "main") == "main"]
    assert stages == [
        "EVALUATE_PLAN",
        "EXECUTE",
        "INTEGRATE",
        "MONITOR",
        "CHECKPOINT",
        "EVALUATE_EXECUTION",
        "FIX",
        "EVALUATE_EXECUTION",
        "BUSINESS_SYNC",
        "COMPLETE",
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `flyball` that pip brought from the sources into an environment of its own, in a folder that sandboxes cover."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    words = ("-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", str(SOURCES))
    subprocess.run([str(folder / "bin" / "python"), *words], check=True)
    return folder / "bin" / "flyball"


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("words", [(), ("--workflow", "backlog")])
def test_pip_install_of_the_sources_is_enough_for_the_demo(
    installed: Path, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel names every dependency of the demo: nothing that only the development environment has is used."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.defpath)
    command = [str(installed), "demo", *words, "--keep", "--json"]
    before = _work_of_children()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["decision"] == "DONE"
    [settings] = tmp_path.glob("flyball-demo-*/basket/flyball.toml")
    there = not isinstance(available(), Unavailable)
    assert tomllib.loads(settings.read_text())["sandbox"] == ("bwrap" if there else "none")
    assert _work_of_children() - before < 60, "under a minute, and on a busy machine by the processor's time"


def _work_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.req("C40", "C51")
def test_the_demo_of_quick_refuses_the_lie_rejects_once_and_ships(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "untouched"))
    command = [sys.executable, "-m", "flyball", "demo", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    status = lines[-1]
    assert status["decision"] == "DONE"
    assert status["false_claims"] == 1
    assert [each["state"] for each in status["subtasks"]] == ["completed"] * 2
    facts = [line["fact"] for line in lines[:-1]]
    moves = [fact["stage"] for fact in facts if fact["fact"] == "stage.moved"]
    assert moves == ["REVIEW", "IMPLEMENT", "REVIEW", "SHIP"]
    assert list(tmp_path.iterdir()) == []
