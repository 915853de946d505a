"""Which tree a task governs follows from the journal."""

import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from flyball.config.home import environment
from flyball.core.events import TaskStopped
from flyball.core.task import TaskId
from flyball.hook import stop
from flyball.testing.builders import Story, short_tdd_run, tdd_task
from flyball.wiring.rendering import catch_up

TASK = TaskId("007-parse-rows")


def ask(folder: Path) -> dict[str, str] | None:
    return stop(
        io.StringIO(json.dumps({"session_id": "s", "cwd": str(folder), "stop_hook_active": False})), environment()
    )


def in_place() -> Story:
    task = tdd_task()
    return Story(replace(task, settings=replace(task.settings, in_place=True))).start()


def test_an_unfinished_task_in_place_governs_the_users_tree(repository, told, site):
    told(in_place().add(TaskStopped("limit", "10 turns are spent")))
    catch_up(site, site.state(TASK))
    answer = ask(repository)
    assert answer is not None
    assert answer["decision"] == "block"
    assert "10 turns are spent" in answer["reason"]


def test_a_task_in_a_checkout_of_its_own_leaves_the_users_tree_alone_and_governs_the_checkout(repository, told, site):
    told(Story().start().add(TaskStopped("limit", "10 turns are spent")))
    catch_up(site, site.state(TASK))
    assert ask(repository) is None
    assert ask(site.home.task(TASK) / "tree") is not None


@pytest.mark.parametrize("kind", ["done", "aborted"])
def test_a_finished_task_governs_nothing(repository, told, site, kind):
    told(in_place())
    catch_up(site, site.state(TASK))
    assert ask(repository) is not None
    site.journal.append(TASK, [TaskStopped(kind, "over")], epoch=0, at=site.state(TASK).now)
    catch_up(site, site.state(TASK))
    assert ask(repository) is None


def test_the_verdict_in_the_loop_folder_is_the_one_of_the_journal(repository, told, site):
    told(short_tdd_run())
    catch_up(site, site.state(TASK))
    shown = json.loads((repository / ".loop" / TASK / "verdict.json").read_text())
    assert (shown["task"], shown["decision"]) == (TASK, "DONE")
