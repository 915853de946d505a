"""SIGKILL at every journal append, every checkpoint step and every file write of a short loop: `resume` gives the same result.

The loop is played once without a kill, and at each fault point the disk is copied: that is what SIGKILL there leaves, since
nothing of a process but its files outlives it. From every copy the task is then resumed by a new process. Points between which
nothing on disk changed share a copy. What is rendered into `.loop/` is nothing the loop builds on, so for a kill in the middle of
such a write it is shown that the next process heals it before it does anything else; between two such writes that is shown of a
seeded sample, and from another sample the loop is resumed to its end. Every point of `quick` is taken, the shortest loop there is,
and a seeded sample of the points of `tdd`, which passes the same places more often. `test_real_kills.py` kills real processes at
every place.
"""

import random
import shutil
from pathlib import Path

import pytest
from tests.faults.world import TASK, Result, World, check_journal, check_repository

from flyball.core.model.events import TaskStopped

pytestmark = pytest.mark.slow

SHARES = 4
SEED = 20260301
ONE_POINT_IN = {"quick": 1, "tdd": 2}
"""Of a workflow's points, one in so many is taken."""
RESUMED_ONE_IN = 40
"""Of the copies made while `.loop/` was rendered, one in so many is resumed to the end."""
HEALED_ONE_IN = 16
"""Of those made between two writes, one in so many is healed."""


class Point:
    """A fault point that has a copy of the disk of its own."""

    def __init__(self, line: str, images: Path) -> None:
        number, self.name, kind = line.split()
        self.image = images / f"{int(number):04d}"
        self.is_new = kind == "new"
        self.in_loop = self.name.startswith("loop.")
        self.between_writes = self.in_loop and not self.name.endswith(".inside")


@pytest.mark.req("C5", "C61")
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("workflow", ONE_POINT_IN)
def test_a_kill_at_any_point_changes_nothing_of_the_result(world: World, workflow: str, share: int) -> None:
    world.workflow = workflow
    images = world.outside / "images"
    images.mkdir()
    code, said = world.flyball(*world.run_arguments(), images=images, wanted=(share, SHARES))
    assert code == 0, said
    wanted, turns = Result.of(world), world.state().turns
    points = [Point(line, images) for line in (images / "points").read_text().splitlines()]
    chosen = random.Random(SEED + share)
    wrong = []
    for point in (p for p in points if p.is_new and not chosen.randrange(ONE_POINT_IN[workflow])):
        shutil.rmtree(world.folder)
        point.image.rename(world.folder)
        try:
            if not point.in_loop or not chosen.randrange(RESUMED_ONE_IN):
                check_resumed(world, wanted, turns)
            elif not point.between_writes or not chosen.randrange(HEALED_ONE_IN):
                check_healed(world)
        except AssertionError as error:
            wrong.append(f"{point.image.name} {point.name}: {error}")
    assert not wrong, f"{len(wrong)} of {len(points)} points:\n" + "\n".join(wrong[:20])


def check_resumed(world: World, wanted: Result, turns: int) -> None:
    """The task is taken up and ends as if nothing had happened."""
    known, before = world.events(), world.belongings()
    code, said = world.flyball(*(["resume"] if known else world.run_arguments()))
    assert code == 0, said
    events = world.events()
    assert events[: len(known)] == known, "a fact that was acknowledged is gone"
    assert Result.of(world).differs(wanted) == ""
    assert world.belongings() == before
    assert turns <= world.state().turns <= turns + 1
    check_journal(events)
    check_repository(world)


def check_healed(world: World) -> None:
    """The next process renders all of `.loop/` before it does anything else."""
    known = world.events()
    if isinstance(known[-1].fact, TaskStopped):
        assert world.flyball("resume")[0] == 0
    else:
        assert world.flyball("resume", kill="journal.append.before:2")[0] == -9
    assert world.events()[: len(known)] == known
    for tree in (world.repository, world.tree):
        folder = tree / ".loop" / TASK
        if tree.is_dir() and folder.is_dir():
            assert not [p.name for p in folder.rglob("*") if ".edited-" in p.name or p.name.endswith(".new")]
