"""A second agent takes over while the first is limited, and another may be set to review: by the settings alone, for real."""

import json

import pytest
from tests.faults.world import PROGRAMS, World

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun, Held, LimitHit

pytestmark = pytest.mark.slow


def settings(world: World, first: list[str]) -> None:
    tiny = ["sh", str(PROGRAMS / "tiny_agent.sh")]
    world.write(
        "flyball.toml",
        'agent = "first"\nworkflow = "tdd"\nsandbox = "none"\n'
        f"[agents.first]\ncommand = {json.dumps(first)}\nfallback = ['second']\n"
        f"[agents.second]\ncommand = {json.dumps(tiny)}\nmodel = 'small'\n"
        f"[agents.third]\ncommand = {json.dumps(tiny)}\n"
        "[roles.qa]\nagent = 'third'\n"
        f"[gates]\ntest = {json.dumps(world.gate)}\n",
    )
    assert world.flyball("trust", "--yes")[0] == 0


@pytest.mark.req("C2", "C12")
def test_the_next_agent_works_on_without_a_wait_and_the_reviewer_is_the_one_that_was_set(world: World) -> None:
    settings(world, ["sh", str(PROGRAMS / "limited.sh")])

    code, said = world.flyball("run", "--from", str(world.outside / "request.md"), "--unattended")

    assert (code, world.state().decision) == (0, "DONE"), said
    facts = [event.fact for event in world.events()]
    turns = [fact.effect for fact in facts if isinstance(fact, Begun) and isinstance(fact.effect, RunAgent)]
    assert [(turn.agent, turn.model) for turn in turns] == [("first", ""), *[("second", "small")] * 3, ("third", "")]
    assert [turn.role for turn in turns][-1] == "qa"
    assert [fact.agent for fact in facts if isinstance(fact, LimitHit)] == ["first"]
    assert not [fact for fact in facts if isinstance(fact, Held)], "nobody had to wait"
    assert (world.state().turns, world.state().iterations) == (5, 4), "a limited turn is no iteration"
