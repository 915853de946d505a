"""The prompts of a plan, word by word: a change of one is seen here, and goes with a new `VERSION`."""

from pathlib import Path

import pytest
from tests.core.workflows.plan.world import Team, rejecting, simulated
from tests.support.simulator import Simulator

from flyball.core.claims.claims import Claim, Finding, OpenQuestion
from flyball.core.loop.prompts import VERSION
from flyball.core.model.effects import RunAgent
from flyball.core.model.state import State

HERE = Path(__file__).parent / "prompts"
ROLES = ("planner", "plan-reviewer", "scaffolder", "implementer", "fixer", "reviewer")


def played() -> Simulator:
    """A task in which somebody asks, the plan is sent back once, and 2.1 is rejected once."""
    world = Team()
    asked = [
        Claim(
            status="needs_clarification", questions=(OpenQuestion("Which currency?", (), "euro"),), source="report-file"
        )
    ]
    sent_back = [Claim(verdict="fail", findings=(Finding("major", "nobody tests the bill"),), source="report-file")]
    rejected = [rejecting(**{"2_1": "an empty order is not read"})]

    def say(turn: RunAgent, state: State) -> Claim | None:
        if turn.role == "planner":
            return asked.pop() if asked else None
        if turn.role == "plan-reviewer":
            return sent_back.pop() if sent_back else None
        return rejected.pop() if turn.role == "reviewer" and "2.1" in state.lanes and rejected else None

    world.say = say
    simulator = simulated(world)
    assert simulator.run().decision == "DONE"
    return simulator


@pytest.mark.parametrize("role", ROLES)
def test_the_prompt_of_a_role_is_as_it_was(role: str) -> None:
    turns = [turn for turn in played().turns if turn.role == role]
    turn = turns[-1] if role == "planner" else turns[0]
    assert turn.prompt == (HERE / f"{role}.md").read_text(), (
        f"prompts are at version {VERSION}; write them anew with a new one"
    )


def test_prompts_are_short_and_specific() -> None:
    turns = played().turns
    assert max(len(turn.prompt) for turn in turns) < 6000
    working = [turn for turn in turns if turn.role in {"implementer", "fixer"}]
    assert all(f"## Subtask {turn.item}" in turn.prompt for turn in working)
    assert all("Which currency? euro" in turn.prompt for turn in working), "a person's answers reach whoever works"
