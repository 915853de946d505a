"""A person's word reaches its task exactly once, whoever is killed on the way."""

import pytest
from tests.faults.world import TASK, World, check_journal

from flyball.core.model.events import PersonSpoke

pytestmark = pytest.mark.slow
WORD = "greet politely"


def spoken(world: World) -> list[str]:
    return [e.fact.text for e in world.events() if isinstance(e.fact, PersonSpoke)]


def begun_and_killed(world: World) -> None:
    process = world.begin(world.misbehave("brood"))
    process.kill()
    world.said(process)
    assert world.orphans() == []


@pytest.mark.req("C61")
@pytest.mark.parametrize("when", ["before", "inside", "after"])
@pytest.mark.parametrize("append", [2, 3])
def test_a_word_is_taken_once_though_its_taker_is_killed(world: World, when: str, append: int) -> None:
    begun_and_killed(world)
    assert world.flyball("modify", TASK, WORD)[0] == 0
    assert world.flyball("resume", kill=f"journal.append.{when}:{append}")[0] == -9
    world.finish(attempts=1)
    assert spoken(world) == [WORD]
    assert world.state().guidance == (WORD,)
    check_journal(world.events())


@pytest.mark.req("C61")
@pytest.mark.parametrize(("when", "heard"), [("before", []), ("after", [WORD])])
def test_a_word_whose_speaker_is_killed_is_there_whole_or_not_at_all(world: World, when: str, heard: list[str]) -> None:
    begun_and_killed(world)
    assert world.flyball("modify", TASK, WORD, kill=f"journal.post.{when}:1")[0] == -9
    world.finish(attempts=1)
    assert spoken(world) == heard
