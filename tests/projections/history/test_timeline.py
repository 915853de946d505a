"""When what was under way in which lane, and how each iteration ended."""

from msgspec.structs import replace
from tests.support.builders import CRITERIA, Story, short_tdd_run, tdd_task

from flyball.core.model.batch_events import LaneOpened
from flyball.core.model.effects import RunAgent, Wait
from flyball.core.model.events import Begun, Ended, ItemChanged, SessionStarted
from flyball.core.model.outcomes import TurnEnded, Usage, Waited
from flyball.core.model.task import Commit, EffectId
from flyball.projections.history.timeline import Timeline


def of(story: Story) -> Timeline:
    made = Timeline()
    for event in story.events:
        made.add(event)
    return made


def test_every_iteration_has_a_mark_with_its_verdict_and_its_own_lanes_counts() -> None:
    marks = of(short_tdd_run()).marks
    assert [mark.kind for mark in marks] == ["accepted", "false claim", "accepted", "accepted", "accepted", "accepted"]
    assert [mark.failing for mark in marks] == [0, 1, 0, 0, 0, 0]
    assert [mark.number for mark in marks] == [1, 2, 3, 4, 5, 6]


def test_an_iteration_that_was_rolled_back_is_that_before_it_is_a_false_claim() -> None:
    story = Story().start().iterate(signal=True, restore_to=Commit("best0000"))
    assert of(story).marks[0].kind == "rolled back"


def test_a_gate_that_held_is_told_apart_and_a_bar_without_end_is_under_way() -> None:
    line = of(Story().start().iterate(held=True, signal=True))
    gates = [bar for bar in line.bars if bar.kind == "gate"]
    assert [gate.held for gate in gates] == [False, True]
    story = Story().start().turn()
    story.events.pop()
    open_ones = [bar for bar in of(story).bars if bar.ended_at is None]
    assert open_ones == []
    begun = Story().start()
    turn = RunAgent(EffectId("turn/1"), "implementer", "RED", "scripted", "", "do", 1, 1, lane="a", item="AC-1")
    assert of(begun.add(LaneOpened("a", "RED", Commit("base0000"), "AC-1"), Begun(turn))).bars[-1].ended_at is None


def test_waits_money_and_sittings_are_kept_with_their_times() -> None:
    story = Story().start()
    until = story.at.replace(hour=10)
    story.add(Begun(Wait(EffectId("wait/1"), until=until, reason="usage limit of claude: until 10:00")))
    story.add(Ended(EffectId("wait/1"), Waited()), after_s=3600)
    story.iterate().add(SessionStarted(1, "host", "0.1.0"), after_s=7200)
    line = of(story)
    assert [(pause.ended_at - pause.begun_at).total_seconds() for pause in line.pauses if pause.ended_at] == [3600]
    assert line.marks[0].wait_s == 3600
    assert [amount.usd for amount in line.money] == [0.05]
    assert len(line.sittings) == 2
    assert line.sittings[0].last_at < line.sittings[1].begun_at


def test_a_wait_is_told_with_the_next_iteration_of_the_lane_that_waited() -> None:
    story = Story().start().add(LaneOpened("a", "RED", Commit("base0000"), "AC-1"))
    waits = [Wait(EffectId(f"wait/{lane}"), until=story.at, reason="full", lane=lane) for lane in ("a", "main")]
    story.add(*(Begun(wait) for wait in waits))
    story.add(*(Ended(wait.id, Waited()) for wait in waits), after_s=3600)
    assert [(mark.lane, mark.wait_s) for mark in of(story.iterate().iterate()).marks] == [("main", 3600), ("main", 0)]


def test_a_wait_is_told_with_the_next_verdict_of_its_own_lane() -> None:
    story = Story().start().switch_to("2.1")
    wait = Wait(EffectId("2.1/wait/1"), until=story.at.replace(hour=10), reason="usage limit", lane="2.1")
    story.add(Begun(wait)).add(Ended(wait.id, Waited()), after_s=3600)
    story.switch_to("2.2").iterate().switch_to("2.1").iterate().iterate()
    assert [(mark.lane, mark.wait_s) for mark in of(story).marks] == [("2.2", 0), ("2.1", 3600), ("2.1", 0)]


def test_money_nobody_told_is_not_counted_as_nothing() -> None:
    story = Story().start()
    effect = RunAgent(EffectId("turn/1"), "implementer", "RED", "scripted", "", "do", 1, 1)
    ended = TurnEnded("ok", usage=Usage(10, 1))
    assert of(story.perform(effect, ended)).money == []


def test_items_are_counted_as_they_are_done_whatever_fact_says_so() -> None:
    items = tuple(replace(item, status="not-started") for item in CRITERIA)
    story = (
        Story(tdd_task(items=items)).start().add(ItemChanged("AC-1", "completed"), ItemChanged("nobody", "completed"))
    )
    assert [(each.done, each.of) for each in of(story).progress] == [(0, 2), (1, 2)]
