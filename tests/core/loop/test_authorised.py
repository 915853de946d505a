"""C42: only a person's own words open a protected path, however they were said."""

import pytest
from tests.support.builders import Story, tdd_task

from flyball.core.loop.guidance import authorised_changes
from flyball.core.model.events import ItemsSet, PersonSpoke, QuestionClosed
from flyball.core.model.task import MAIN, EffectId, Item
from flyball.measures.tampering.protected import exempt

PLANNED = (Item("AC-1", "multiply(6, 7) gives 42; update conftest.py"),)


def story(request: str = "Teach calc to multiply", items: tuple[Item, ...] = ()) -> Story:
    return Story(tdd_task(request=request, items=items)).start()


def opens(told: Story, path: str = "conftest.py", lane: str = MAIN) -> bool:
    return exempt(path, authorised_changes(told.state, told.state.lanes[lane]))


@pytest.mark.req("C42")
def test_criteria_that_an_agent_wrote_open_no_path() -> None:
    assert not opens(story().add(ItemsSet(PLANNED, "planner")))


@pytest.mark.req("C42")
def test_criteria_of_the_persons_own_document_open_the_paths_they_ask_to_change() -> None:
    assert opens(story(items=PLANNED))


@pytest.mark.req("C42")
@pytest.mark.parametrize(("by", "opened"), [("person", True), ("default", False)])
def test_an_agents_criteria_open_a_path_once_a_person_has_confirmed_them(by, opened) -> None:
    closed = QuestionClosed(EffectId("ask/1"), "criteria", "yes", by)
    assert opens(story().add(ItemsSet(PLANNED, "planner"), closed)) is opened


@pytest.mark.req("C42")
def test_criteria_written_again_after_a_persons_objection_are_the_agents_once_more() -> None:
    told = story().add(ItemsSet(PLANNED, "planner"), QuestionClosed(EffectId("ask/1"), "criteria", "make it fast"))
    told.add(PersonSpoke("modify", "Acceptance criteria: make it fast"), ItemsSet((), "person"))
    assert not opens(told.add(ItemsSet(PLANNED, "planner")))


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    ("request_", "opened"),
    [
        ("Teach calc to multiply. Update conftest.py.", True),
        ("Add a fixture `two` to conftest.py and use it", True),
        ("Fix add so that conftest.py loads", False),
        ("Fix add until conftest.py loads", False),
        ("Add multiply without changing conftest.py", False),
        ("Add multiply; do not change conftest.py", False),
        ("Don't change conftest.py. Add multiply.", False),
        ("Do not change calc.py, but update conftest.py", True),
    ],
)
def test_the_request_opens_what_it_asks_to_change_and_not_what_it_merely_names(request_, opened) -> None:
    assert opens(story(request_).add(ItemsSet(PLANNED, "planner"))) is opened


@pytest.mark.req("C42")
def test_a_persons_guidance_opens_the_path_it_asks_to_change() -> None:
    told = story().add(ItemsSet(PLANNED[:0], "request"), PersonSpoke("modify", "update conftest.py, it is outdated"))
    assert opens(told)


@pytest.mark.req("C42")
def test_guidance_to_one_lane_opens_a_path_there_and_where_its_work_is_integrated_and_in_no_other_lane() -> None:
    told = story().add(ItemsSet((), "request")).open_lanes("2.1", "2.2")
    told.add(PersonSpoke("modify", "update conftest.py, it is outdated", lane="2.2"))
    assert {lane: opens(told, lane=lane) for lane in told.state.lanes} == {"main": True, "2.1": False, "2.2": True}


@pytest.mark.req("C42")
def test_guidance_to_the_task_opens_a_path_in_every_lane() -> None:
    told = story().add(ItemsSet((), "request")).open_lanes("2.1")
    told.add(PersonSpoke("modify", "update conftest.py, it is outdated"))
    assert opens(told, lane="2.1")
