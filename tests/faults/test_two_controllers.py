"""One controller per task and per working tree: the second is told who holds it."""

import os
import signal

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
def test_a_second_task_in_the_same_tree_exits_75_and_names_the_holder(world: World) -> None:
    world.git("stash", "-q", "--include-untracked")
    first = world.begin(world.misbehave("hold", "/nowhere"), *world.run_arguments("--in-place"))
    code, said = world.flyball(*world.run_arguments("--in-place", "--new"))
    assert code == 75
    assert f"process {first.pid} on {os.uname().nodename}" in said
    first.send_signal(signal.SIGINT)
    world.said(first)


@pytest.mark.req("C63")
def test_the_lease_of_a_killed_controller_is_free_at_once(world: World) -> None:
    first = world.begin(world.misbehave("brood"))
    first.kill()
    world.said(first)
    world.finish(attempts=1)
