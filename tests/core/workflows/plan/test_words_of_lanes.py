"""A question, an answer and a word of one lane of a plan leave the others alone."""

from collections.abc import Sequence

import pytest
from tests.core.workflows.plan.world import Team, a_plan_task

from flyball.core.model.effects import Ask, Effect
from flyball.core.model.events import Begun, WindowOpened
from flyball.core.model.task import Limits
from flyball.testing.simulator import Simulator


def answer_last(under_way: Sequence[Effect]) -> Effect:
    """A person is slower than anything else."""
    return next((effect for effect in under_way if not isinstance(effect, Ask)), under_way[0])


def asks(simulator: Simulator) -> list[Ask]:
    begun = (event.fact.effect for event in simulator.events if isinstance(event.fact, Begun))
    return [effect for effect in begun if isinstance(effect, Ask)]


@pytest.mark.req("C10")
@pytest.mark.parametrize("word", ["continue", "wait"])
def test_the_hourly_limit_is_asked_about_once_and_every_lane_follows_the_answer(word: str) -> None:
    world = Team()
    world.answer = lambda _ask, _state: word
    task = a_plan_task(attended=True, parallel=3, limits=Limits(calls_per_hour=4))
    simulator = Simulator(world, task, "GATHER", answer_last)
    state = simulator.run()
    assert state.decision == "DONE", state.stopped
    windows = [fact for fact in simulator.of(WindowOpened) if isinstance(fact, WindowOpened)]
    assert [fact.forced for fact in windows] == [word == "continue"] * 2
    assert [ask.question.name for ask in asks(simulator)] == ["hourly-limit"] * 2
    assert asks(simulator)[0].lane != "main", "two subtasks were to begin when the hour was used up"
