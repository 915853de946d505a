"""A question, an answer and a word of one lane of a plan leave the others alone."""

from collections.abc import Sequence

import pytest
from tests.core.workflows.plan.world import SUBTASKS, Team, a_plan_task
from tests.support.builders import Story
from tests.support.simulator import Simulator

from flyball.core.loop.questions import FOUR_CHOICES
from flyball.core.model.effects import Ask, Effect, Question
from flyball.core.model.events import Begun, Ended, QuestionClosed, WindowOpened
from flyball.core.model.outcomes import Answered
from flyball.core.model.task import Limits
from flyball.core.workflows.plan.planning import weigh_answer


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


@pytest.mark.req("O51")
def test_what_is_to_change_in_the_plan_leaves_the_question_of_a_subtask_open() -> None:
    story = Story(a_plan_task(SUBTASKS, attended=True), "PLAN_REVIEW").start().open_lanes("2.2")
    story.ask(Question("breaker", "2.2 makes no progress", FOUR_CHOICES), "2.2").ask(
        Question("plan", "Is this the plan?")
    )
    (plan,) = (asked for asked in story.state.open.values() if asked.lane == "main")
    answer = "print the bill first"
    story.add(Ended(plan.id, Answered(answer)), QuestionClosed(plan.id, "plan", answer))
    story.add(*weigh_answer(story.state, story.state.main, plan.id, answer))
    assert [asked.lane for asked in story.state.questions.values()] == ["2.2"]
    assert story.state.guidance == ("The plan: print the bill first",)
