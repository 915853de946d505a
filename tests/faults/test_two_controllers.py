"""One controller per task and per working tree: the second is told who holds it."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.world import TASK, World

pytestmark = pytest.mark.slow


@pytest.mark.req("C63")
def test_a_second_controller_of_a_task_exits_75_and_names_the_holder(world: World) -> None:
    first = world.begin(world.misbehave("brood"))
    code, said = world.flyball("resume", TASK)
    assert code == 75
    assert f"process {first.pid} on {os.uname().nodename}" in said
    first.send_signal(signal.SIGINT)
    world.said(first)
    world.finish()


@pytest.mark.req("C63")
def test_the_lease_of_a_killed_controller_is_free_at_once(world: World) -> None:
    first = world.begin(world.misbehave("brood"))
    first.kill()
    world.said(first)
    world.finish(attempts=1)


@pytest.mark.req("C61", "C63")
def test_a_gate_under_way_keeps_the_lock_though_its_controller_is_killed(world: World) -> None:
    flag = world.outside / "measuring"
    world.gate += f" {flag}"
    process = world.begin(flag)
    lock = next((world.site / "locks").glob("task-*"))
    assert len(holders(lock)) == 2, "the controller and the gate's warden"
    process.kill()
    world.said(process)
    world.finish(attempts=1)
    assert holders(lock) == []
    assert world.state().decision == "DONE"


def holders(lock: Path) -> list[int]:
    """The processes that have this file open."""
    found = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):
            if any(fd.resolve() == lock for fd in folder.iterdir()):
                found.append(int(folder.parent.name))
    return found
