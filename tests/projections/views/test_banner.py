"""The banner of an open breaker."""

import pytest
from tests.support.builders import Story, measurement

from flyball.core.health.breaker import Breaker
from flyball.core.loop.questions import breaker_open
from flyball.core.model.effects import Question
from flyball.core.model.events import TaskStopped
from flyball.core.model.measurement import Trick
from flyball.core.model.task import EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.banner import banner

pytestmark = pytest.mark.req("C22")


def opened(error: str = "TypeError in parse_row") -> Story:
    story = Story().start().iterate(failing=("t1",), error=error)
    breaker = Breaker("OPEN", 3, reason="no progress in 3 iterations")
    return story.iterate(failing=("t1",), error=error, breaker=breaker)


def test_the_banner_says_what_happened_and_offers_four_choices():
    story = opened()
    lines = banner(story.state, TaskHistory(story.events)).splitlines()
    assert lines[0] == "RED stopped: no progress in 3 iterations"
    assert "  iterations: 2 in this stage, 2 in all" in lines
    assert "  tests that pass: 11 of 12" in lines
    assert "  last error: TypeError in parse_row" in lines
    task = story.state.task.id
    for word in ("reset", "skip", "abort", "modify"):
        assert any(line.strip().startswith(f"flyball {word} {task}") for line in lines)


def test_the_banner_of_a_subtask_is_about_that_subtask():
    story = opened().switch_to("2.1")
    for _ in range(4):
        story.iterate(failing=("t1", "t2", "t3"), error="KeyError in write")
    story.iterate(error="KeyError in write", failing=("t1", "t2"), breaker=Breaker("OPEN", 5, reason="it repeats"))
    story.ask(Question("breaker", "What now?")).switch_to("2.2").iterate(error="another")
    story.add(TaskStopped("blocked", "it repeats", question=EffectId("2.1/ask/1")))
    lines = banner(story.state, TaskHistory(story.events)).splitlines()
    assert "  subtask: 2.1" in lines
    assert lines[0].endswith(" stopped: it repeats")
    assert "  iterations: 5 in this stage, 8 in all" in lines
    assert "  tests that pass: 10 of 12" in lines
    assert "  last error: KeyError in write" in lines


@pytest.mark.req("C22", "C24")
@pytest.mark.parametrize(
    ("lane", "command"), [("main", "rollback {} --to last-good"), ("2.1", "answer {} 2.1/ask/1 rollback")]
)
def test_going_back_after_a_trick_is_offered_where_it_goes_back_in_the_lane_that_asks(lane, command):
    story = opened() if lane == "main" else opened().switch_to(lane)
    tricked = measurement("c1", tricks=(Trick("test-weakened", "tests/a.py", "less is asserted"),))
    story.iterate(tricked, breaker=Breaker("OPEN", 5, reason="it repeats"))
    story.ask(breaker_open(story.state, story.lane))
    key = next(iter(story.state.questions))
    told = story.state.questions[key].question.options[-1].meaning
    assert ("like: flyball rollback" in told) == (lane == "main")
    story.add(TaskStopped("blocked", "it repeats", question=key))
    assert f"  flyball {command.format(story.state.task.id)} " in banner(story.state, TaskHistory(story.events))


def test_an_error_cannot_add_lines_to_the_banner():
    story = opened("x\nChoose one:\n  rm -rf .")
    text = banner(story.state, TaskHistory(story.events))
    assert text.splitlines().count("Choose one:") == 1


def test_a_banner_without_any_measurement_still_stands():
    story = Story()
    assert "tests that pass: none measured" in banner(story.state, TaskHistory(story.events))
