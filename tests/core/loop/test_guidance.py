"""Whom a person's guidance reaches."""

from tests.support.builders import Story

from flyball.core.loop.prompts import compose
from flyball.core.loop.role import WORKING, Role
from flyball.core.model.batch_events import LaneClosed
from flyball.core.model.events import PersonSpoke


def guidance_in_prompts(told: Story) -> dict[str, list[str]]:
    """What stands in the prompt of each lane as a person's guidance."""
    found = {}
    for name, lane in told.state.lanes.items():
        prompt = compose(told.state, lane, Role("implementer", "", WORKING, "work"), "", context=())
        section = prompt.partition("## Guidance from a person\n")[2].partition("\n\n")[0]
        found[name] = section.splitlines()
    return found


def two_lanes() -> Story:
    return Story().start().open_lanes("2.1", "2.2")


def test_what_is_said_to_one_lane_stands_in_its_prompts_and_under_its_name_in_those_of_the_task() -> None:
    told = two_lanes().add(PersonSpoke("rollback", "Rolled back to the last good tree.", lane="2.2"))
    assert guidance_in_prompts(told) == {
        "main": ["- 2.2: Rolled back to the last good tree."],
        "2.1": [],
        "2.2": ["- Rolled back to the last good tree."],
    }


def test_what_is_said_to_the_task_or_to_its_own_lane_stands_in_every_prompt() -> None:
    told = two_lanes().add(PersonSpoke("modify", "be quick"), PersonSpoke("modify", "use a table", lane="main"))
    assert guidance_in_prompts(told) == {lane: ["- be quick", "- use a table"] for lane in told.state.lanes}


def test_what_was_said_to_a_subtask_is_known_to_the_next_lane_that_works_on_it() -> None:
    told = two_lanes().add(PersonSpoke("modify", "use a table", lane="2.2"), LaneClosed("2.2", "given up"))
    assert guidance_in_prompts(told.open_lanes("2.2"))["2.2"] == ["- use a table"]
