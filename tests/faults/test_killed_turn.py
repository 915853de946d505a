"""SIGKILL of the controller while an agent works: nothing it started lives on, and what it left in the tree is kept and told."""

import signal

import pytest
from tests.faults.world import TDD_ITERATIONS, World, check_journal

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun, Ended
from flyball.core.model.outcomes import Interrupted, Saved

pytestmark = pytest.mark.slow


@pytest.mark.req("C61")
def test_no_descendant_of_an_agent_outlives_a_killed_controller(world: World) -> None:
    process = world.begin(world.misbehave("brood"))
    assert len([line for line in world.processes() if "sleep" in line or "once.sh" in line]) > 2
    process.kill()
    world.said(process)
    assert world.orphans() == []


@pytest.mark.req("C61")
def test_partial_edits_of_a_killed_turn_are_kept_in_a_checkpoint_and_shown_to_the_next(world: World) -> None:
    process = world.begin(world.misbehave("brood"))
    process.kill()
    world.said(process)
    world.finish()
    facts = [e.fact for e in world.events()]
    ended = [f for f in facts if isinstance(f, Ended) and f.id == "turn/1"]
    assert [type(f.outcome) for f in ended] == [Interrupted]
    kept = next(f.outcome for f in facts if isinstance(f, Ended) and f.id == "save/1")
    assert isinstance(kept, Saved)
    assert kept.label == "interrupted-1"
    assert world.vault("show", f"{kept.commit}:partial.txt") == "half done"
    second = next(f.effect for f in facts if isinstance(f, Begun) and f.effect.id == "turn/2")
    assert isinstance(second, RunAgent)
    assert "The turn before was cut off" in second.prompt
    assert kept.commit[:12] in second.prompt
    assert world.state().iterations == TDD_ITERATIONS
    check_journal(world.events())


@pytest.mark.req("C61", "C63")
def test_whoever_resumes_does_not_meet_the_killed_controllers_agent_at_work(world: World) -> None:
    process = world.begin(world.misbehave("stubborn"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    code, said = world.flyball("resume")
    assert code == 0, said
    world.said(process)
    kept = next(f.outcome for e in world.events() if isinstance(f := e.fact, Ended) and f.id == "save/1")
    assert isinstance(kept, Saved)
    assert world.vault("show", f"{kept.commit}:partial.txt") == world.vault(
        "show", f"{world.state().main.head}:partial.txt"
    )
