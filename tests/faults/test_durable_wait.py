"""A wait survives the controller: whoever resumes waits only what is left, and calls nobody before."""

import time

import pytest
from tests.faults.world import TDD_ITERATIONS, World, check_journal

from flyball.core.model.effects import RunAgent, Wait
from flyball.core.model.events import Begun, LimitHit

pytestmark = pytest.mark.slow


@pytest.mark.req("C1", "C11", "C61")
def test_a_kill_during_a_wait_neither_lengthens_it_nor_cuts_it_short(world: World) -> None:
    world.misbehave("limited")
    process = world.start(*world.run_arguments())
    deadline = time.monotonic() + 120
    while not any(isinstance(e.fact, Begun) and isinstance(e.fact.effect, Wait) for e in world.events()):
        assert time.monotonic() < deadline, world.said(process)
        time.sleep(0.05)
    process.kill()
    world.said(process)
    world.finish(attempts=1)
    events = world.events()
    limit = next(e.fact for e in events if isinstance(e.fact, LimitHit))
    turns = [e for e in events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, RunAgent)]
    assert turns[1].at >= limit.until
    assert len(turns) == TDD_ITERATIONS + 1, "the one that met the limit was made again"
    waits = [e.fact.effect for e in events if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Wait)]
    assert {(wait.id, wait.until) for wait in waits} == {("wait/1", limit.until)}
    state = world.state()
    assert (state.decision, state.iterations, state.main.crashes) == ("DONE", TDD_ITERATIONS, 0)
    check_journal(events)
