"""A workflow of another package: built, installed, found by its entry point, and worked with by the real command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SECOND = Path(__file__).parent / "second_package"
SUITE = """
import pytest
from flyball_notes import WORKFLOW
from flyball.testing.workflow_suite import WorkflowSuite


class TestNotes(WorkflowSuite):
    @pytest.fixture
    def workflow(self):
        return WORKFLOW
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as pip installs it; its sources are copied, for building writes beside them."""
    place = tmp_path_factory.mktemp("second")
    shutil.copytree(SECOND, place / "source")
    words = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target", str(place / "site"))
    command = [sys.executable, "-m", "pip", "install", *words, str(place / "source")]
    subprocess.run(command, check=True, timeout=120, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return place / "site"


def run(installed: Path, place: Path, *words: str, module: str = "flyball") -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(path for path in (str(installed), os.environ.get("PYTHONPATH", "")) if path)
    env = {**os.environ, "PYTHONPATH": paths, "FLYBALL_HOME": str(place / "home"), "TMPDIR": str(place)}
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
@pytest.mark.e2e
def test_its_task_is_worked_and_its_own_fact_is_in_the_journal(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "demo", "--workflow", "notes", "--json")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (lines[-1]["workflow"], lines[-1]["decision"]) == ("notes", "DONE")
    facts = [line["fact"] for line in lines[:-1] if "fact" in line]
    assert [fact["text"] for fact in facts if fact["fact"] == "notes.noted"] == ["written in 1 iterations"]


@pytest.mark.slow
@pytest.mark.e2e
def test_its_own_words_stand_on_the_screen_and_in_the_report(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "demo", "--workflow", "notes", "--keep")
    assert done.returncode == 0, done.stderr
    assert "noted: written in 1 iterations" in done.stdout
    reports = [path.read_text() for path in tmp_path.glob("*/*/.loop/*/report.md")]
    assert any("The work was written in 1 iterations." in report for report in reports)


@pytest.mark.slow
@pytest.mark.e2e
def test_it_passes_the_suite_that_ships(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_notes.py").write_text(SUITE)
    done = run(installed, tmp_path, "-q", "-p", "no:cacheprovider", "test_notes.py", module="pytest")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize(
    ("workflow", "why"),
    [
        ("broken", "has no attribute 'WORKFLOW_THAT_IS_NOT_THERE'"),
        ("misnamed", "its name is 'notes'; name its entry point the same"),
    ],
)
def test_one_that_cannot_be_used_is_refused_with_its_package(
    installed: Path, tmp_path: Path, workflow: str, why: str
) -> None:
    refused = run(installed, tmp_path, "demo", "--workflow", workflow)
    assert refused.returncode == 2, refused.stderr
    said = " ".join(refused.stderr.split())
    assert "the package flyball-notes 0.3.0 offers it" in said
    assert why in said


@pytest.mark.slow
@pytest.mark.e2e
def test_a_name_that_is_taken_stays_what_it_was_and_other_commands_go_on(installed: Path, tmp_path: Path) -> None:
    looked = run(installed, tmp_path, "doctor")
    said = " ".join(looked.stdout.split())
    assert (
        "tdd: the package flyball-notes 0.3.0 offers it as flyball_notes:WORKFLOW, but a workflow of that name" in said
    )
    assert "broken: the package flyball-notes 0.3.0" in said
    assert run(installed, tmp_path, "agents").returncode == 0
