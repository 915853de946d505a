"""A person or the machine asks the controller to end: the agent's tree ends with it, everything is saved, the task can go on."""

import signal
import time

import pytest
from tests.faults.world import TASK, TDD_ITERATIONS, World, check_journal

pytestmark = pytest.mark.slow

ASKING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.req("C60")
@pytest.mark.parametrize("number", ASKING, ids=lambda n: n.name)
def test_a_signal_ends_the_agents_tree_saves_and_leaves_the_task_resumable(
    world: World, number: signal.Signals
) -> None:
    process = world.begin(world.misbehave("brood"))
    process.send_signal(number)
    said = world.said(process)
    assert process.returncode == 130, said
    assert f"flyball resume {TASK}" in said
    assert "stopping: the work under way is ended and saved" in said
    assert world.processes() == []
    stopped = world.state().stopped
    assert stopped is not None
    assert (stopped.kind, number.name in stopped.reason) == ("interrupted", True)
    world.finish()
    assert world.state().decision == "DONE"
    assert world.state().iterations == TDD_ITERATIONS
    check_journal(world.events())


@pytest.mark.req("C60")
def test_a_second_sigint_ends_at_once_and_the_task_is_still_resumable(world: World) -> None:
    process = world.begin(world.misbehave("stubborn"))
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    assert process.returncode == 130
    assert f"ended at once; continue with: flyball resume {TASK}" in world.said(process)
    assert world.state().stopped is None, "an end that waited for the agent would have been recorded"
    assert world.orphans() == []
    world.finish()
    assert world.state().decision == "DONE"
    check_journal(world.events())


@pytest.mark.req("C60")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda n: n.name)
def test_a_measurement_that_was_broken_off_is_made_again(world: World, number: signal.Signals) -> None:
    flag = world.outside / "measuring"
    world.gate += f" {flag}"
    process = world.begin(flag)
    process.send_signal(number)
    world.said(process)
    assert world.orphans() == []
    world.finish()
    state = world.state()
    assert (state.decision, state.iterations, state.turns) == ("DONE", TDD_ITERATIONS, TDD_ITERATIONS)
    check_journal(world.events())
