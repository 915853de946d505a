"""SIGKILL while what a trick did is undone: `resume` finishes it, once, and the result is the same."""

import shutil

import pytest
from tests.faults.test_sweep import Point, check_resumed
from tests.faults.world import PROGRAMS, Result, World

from flyball.core.model.effects import PutBack
from flyball.core.model.events import Begun

pytestmark = [pytest.mark.slow, pytest.mark.req("C24", "C61")]


def test_a_kill_while_protected_files_are_put_back_changes_nothing_of_the_result(world: World) -> None:
    world.agent = f"sh {PROGRAMS / 'tiny_trickster.sh'}"
    images = world.outside / "images"
    images.mkdir()
    code, said = world.flyball(*world.run_arguments(), images=images)
    assert code == 0, said
    wanted, turns = Result.of(world), world.state().turns
    assert sum(isinstance(e.fact, Begun) and isinstance(e.fact.effect, PutBack) for e in world.events()) == 1
    points = [Point(line, images) for line in (images / "points").read_text().splitlines()]
    seen = set()
    for point in (p for p in points if p.is_new and not p.in_loop):
        shutil.rmtree(world.folder)
        point.image.rename(world.folder)
        if world.events() and world.state().main.mend is not None:
            seen.add(point.name)
            check_resumed(world, wanted, turns)
            assert (world.tree / "tests" / "ac_1_greets.t").read_text().startswith("# AC-1")
    assert {"restore.files.before", "restore.files.after", "journal.append.after"} <= seen, seen
