"""Which tree a task governs follows from the journal."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.config.home import environment
from flyball.core.model.events import TaskStopped
from flyball.core.model.task import TaskId
from flyball.hook import stop
from flyball.wiring.run.rendering import catch_up
from flyball.wiring.site import Site

TASK = TaskId("007-parse-rows")


def ask(folder: Path) -> dict[str, str] | None:
    return stop(
        io.StringIO(json.dumps({"session_id": "s", "cwd": str(folder), "stop_hook_active": False})), environment()
    )


def test_a_task_in_a_checkout_of_its_own_leaves_the_users_tree_alone_and_governs_the_checkout(repository, told, site):
    told(Story().start().add(TaskStopped("limit", "10 turns are spent")))
    catch_up(site, site.state(TASK))
    assert ask(repository) is None
    assert ask(site.home.task(TASK) / "tree") is not None


def test_a_backlog_governs_the_users_tree_wherever_it_is_worked_on(repository, told, site):
    told(Story(replace(tdd_task(), workflow="backlog")).start().add(TaskStopped("limit", "10 turns are spent")))
    catch_up(site, site.state(TASK))
    for tree in (repository, site.home.task(TASK) / "tree"):
        answer = ask(tree)
        assert answer is not None
        assert "10 turns are spent" in answer["reason"]


@pytest.mark.parametrize("kind", ["done", "aborted"])
def test_a_finished_task_governs_nothing(repository, told, site, kind):
    told(Story().start())
    catch_up(site, site.state(TASK))
    tree = site.home.task(TASK) / "tree"
    assert ask(tree) is not None
    site.journal.append(TASK, [TaskStopped(kind, "over")], epoch=0, at=site.state(TASK).now)
    catch_up(site, site.state(TASK))
    assert ask(tree) is None


def test_the_verdict_in_the_loop_folder_is_the_one_of_the_journal(repository, told, site):
    told(short_tdd_run())
    catch_up(site, site.state(TASK))
    shown = json.loads((repository / ".loop" / TASK / "verdict.json").read_text())
    assert (shown["task"], shown["decision"]) == (TASK, "DONE")


@pytest.mark.slow
@pytest.mark.e2e
def test_a_real_task_governs_its_checkout_until_it_is_over(repository: Path, site: Site) -> None:
    (repository / "test_rows.py").write_text("def test_rows():\n    assert True\n")
    for words in (["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "Tests"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    gate = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
    asked = ("run", "Parse rows", "--unattended", "--sandbox", "none", "--agent-command", "true")
    done = run(repository, *asked, "--gate", gate, "--max-turns", "1")
    assert done.returncode == 4, done.stderr
    tree = site.home.task(TaskId("001-parse-rows")) / "tree"
    answer = ask(tree)
    assert answer is not None
    assert answer["decision"] == "block"
    assert "001-parse-rows" in answer["reason"]
    assert run(repository, "abort", "001-parse-rows").returncode == 0
    assert ask(tree) is None


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flyball", *words]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
