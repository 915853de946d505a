"""Kills at any append, and between a deed and the append that tells of it, in any order of what is under way."""

import random
import re

import pytest
from tests.core.workflows.track.test_track_scenarios import APART
from tests.core.workflows.track.test_track_simulated import Team, a_track
from tests.support.simulator import Simulator
from tests.support.track_in_memory import TrackInMemory, failing

from flyball.core.model.events import SessionStarted
from flyball.core.workflows.track.effects import EditTrack
from flyball.engine.recovery import reconcile_open_effects
from flyball.testing.workflow_suite import fold

PLAN = APART + "- [ ] Task 1.3: print it <!-- deps: 1.1, 1.2 -->\n  - Acceptance: it prints\n  - Files: `print.py`\n"


@pytest.mark.req("C61", "D31", "D40")
@pytest.mark.parametrize("seed", range(8))
def test_whenever_it_is_killed_a_track_ends_as_it_would_have(seed: int) -> None:
    chance = random.Random(seed)
    world = Team()
    world.track = TrackInMemory(PLAN, failing("it leaks"), sync=True)
    simulator = Simulator(world, a_track(), "PLAN", pick=chance.choice)
    kills = 0
    while simulator.known.stopped is None:
        simulator.step()
        if kills < 12 and chance.random() < 0.08:
            kills += 1
            for effect in simulator.known.open.values():
                if isinstance(effect, EditTrack) and chance.random() < 0.7:
                    world.perform(effect, simulator.known)
            simulator.state = fold(simulator.events)
            simulator.append(SessionStarted(1 + kills, "simulated", "0"), *reconcile_open_effects(simulator.known))
    state = simulator.known
    assert kills > 3
    assert state.decision == "DONE", state.stopped
    boxes = re.findall(r"^- \[(.)\] Task (\S+): .*$", world.track.plan, re.MULTILINE)
    assert boxes == [("x", "1.1"), ("x", "1.2"), ("x", "1.3"), ("x", "F1.1")]
    assert world.track.plan.count("<!-- ") == 5, "one commit behind each, and the dependencies of the last"
