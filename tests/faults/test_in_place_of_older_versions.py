"""A task that an older version began in the user's own tree goes on in an isolated checkout, and says so in one sentence."""

import json
import shutil
import sqlite3

import pytest
from msgspec.structs import replace
from tests.faults.world import TASK, World

from flyball.core.model.events import TaskOpened
from flyball.journal.codec import encode

pytestmark = [pytest.mark.slow, pytest.mark.req("C46")]
SENTENCE = f"this task began with --in-place, which flyball no longer has: flyball resume {TASK} continues it in an isolated checkout"


def began_in_place(world: World) -> None:
    """Make of a task what an older version left: the setting in its journal, and no checkout."""
    first, *_ = world.events()
    assert isinstance(first.fact, TaskOpened)
    task = replace(first.fact.task, settings=replace(first.fact.task.settings, in_place=True))
    (stored,), _ = encode(TASK, [replace(first.fact, task=task)], after=0, epoch=first.epoch, at=first.at)
    with sqlite3.connect(world.site / "journal.sqlite") as journal:
        journal.execute(
            "UPDATE events SET body = ?, crc = ? WHERE task = ? AND seq = 1", (stored.body, stored.crc, TASK)
        )
    journal.close()
    shutil.rmtree(world.tree)


def test_it_goes_on_in_a_checkout_and_the_users_tree_stays_as_it_is(world: World) -> None:
    code, said = world.flyball(*world.run_arguments("--max-turns", "2"))
    assert code == 4, said
    began_in_place(world)
    before = world.belongings()
    assert SENTENCE in json.loads(world.flyball("status", TASK, "--json")[1])["reason"]
    code, said = world.flyball("resume", TASK, "--max-turns", "100")
    assert code == 0, said
    assert said.count("--in-place") == 1
    assert SENTENCE in said
    assert world.belongings() == before
    assert "--in-place" not in world.flyball("status", TASK)[1]
