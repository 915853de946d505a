"""Lanes side by side in the live view, one line each, and the lane before each line of plain output."""

import io
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.support.builders import Story

from flyball.cli.screen.live import LiveScreen
from flyball.cli.screen.panel import Moment, View, panel
from flyball.cli.screen.plain import PlainScreen
from flyball.core.model.batch_events import LaneClosed, LaneOpened
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import (
    Begun,
    Ended,
    Event,
    Fact,
    ItemChanged,
    ItemsSet,
    TaskStopped,
)
from flyball.core.model.outcomes import Failed, TurnEnded
from flyball.core.model.task import Commit, EffectId, Item
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lines import PLACE_WIDTH, line

ITEMS = tuple(Item(f"1.{n}", f"part {n}", files=(f"{n}.py",)) for n in range(1, 6))
C = Commit("c" * 40)


def a_turn(number: int, lane: str, **more: Any) -> RunAgent:
    return RunAgent(
        EffectId(f"turn/{number}"), lane=lane, role="implementer", stage="RED", agent="scripted", model="", prompt="x",
        iteration=1, turn=number, item=lane, **more,
    )  # fmt: skip


def a_measure(lane: str) -> Measure:
    return Measure(EffectId(f"{lane}/measure"), kind="gates", candidate=C, base=C, accepted=C, lane=lane)


def three_lanes() -> Story:
    """Two turns run beside each other, a third lane is parked, and one subtask of five is done."""
    story = Story().start()
    story.add(ItemsSet(ITEMS, "planner"))
    for id_, status in (("1.1", "completed"), ("1.2", "in-progress"), ("1.3", "in-progress"), ("1.4", "blocked")):
        story.add(ItemChanged(id_, status))  # type: ignore[arg-type]
    for name in ("1.3", "1.2", "1.4"):
        story.add(LaneOpened(name, "RED", C, name))
    story.add(Begun(a_turn(1, "1.2")))
    story.add(Begun(a_turn(2, "1.3")))
    story.add(Begun(a_measure("1.4")))
    return story.add(Ended(EffectId("1.4/measure"), Failed("setup of lane 1.4 failed: no network")))


def drawn(story: Story, width: int = 80, height: int = 24, **more: Any) -> list[str]:
    view = View(story.state, None, "PROGRESSING")
    moment = Moment(story.at + timedelta(seconds=65), keys="p pause", **more)
    return [text.plain for text in panel(view, moment, width, height)]


@pytest.mark.req("O60")
def test_every_lane_has_one_line_with_its_stage_turn_agent_age_and_last_line() -> None:
    lines = drawn(three_lanes(), heard={"1.2": "editing model.py", "1.3": "reading " * 40})
    lanes = [text for text in lines if text.startswith("1.")]
    assert lanes[0].startswith("1.2     RED · turn 1 · implementer (scripted) · 1 min ")
    assert lanes[0].endswith("editing model.py")
    assert lanes[1].startswith("1.3     RED · turn 2 · implementer (scripted)")
    assert lanes[1].endswith("…")
    assert lanes[2] == "1.4     RED · parked: setup of lane 1.4 failed: no network"
    assert len(lanes) == 3
    (done,) = (text for text in lines if text.startswith("done"))
    assert done.endswith(" 1 of 5 subtasks · 1 blocked")


@pytest.mark.parametrize("width", [24, 40, 60, 61, 80, 200])
@pytest.mark.parametrize("height", [6, 12, 24])
def test_the_view_fits_whatever_the_terminal(width: int, height: int) -> None:
    said = {"1.2": "x" * 300, "1.3": "für die Ünïcode \u4e16\u754c " * 20}
    lines = drawn(three_lanes(), width, height, heard=said)
    assert len(lines) <= height
    assert all(len(text) <= min(width, 120) for text in lines)


def test_a_measurement_that_waits_for_another_says_so() -> None:
    story = three_lanes()
    for number in (1, 2):
        story.add(Ended(EffectId(f"turn/{number}"), TurnEnded("ok")))
    story.add(Begun(replace(a_measure("1.2"), at=story.at)))
    story.add(Begun(replace(a_measure("1.3"), at=story.at + timedelta(seconds=5))))
    told = "\n".join(drawn(story))
    assert "1.2     RED · measuring (gates)" in told
    assert "1.3     RED · waits for the gates" in told


def test_a_task_without_lanes_looks_as_it_did() -> None:
    text = "\n".join(drawn(Story().start()))
    assert "now     iteration 1" in text
    assert "done " not in text


def test_what_is_said_in_a_lane_is_shown_in_its_line_until_it_is_closed() -> None:
    story = three_lanes()
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, color_system=None)
    screen = LiveScreen(TaskHistory(story.events), console)
    screen.listener(story.events[-1], story.state)
    screen.notify("agent", "in lane two", "1.2")
    screen.notify("command", "pytest -q", "1.3")
    lines = [text.plain for text in screen._picture(80, 24)]
    assert [text.rpartition(" · ")[2] for text in lines if text.startswith(("1.2", "1.3"))] == [
        "in lane two",
        "pytest -q",
    ]
    story.add(LaneClosed("1.2", "integrated"))
    screen.listener(story.events[-1], story.state)
    assert not [text for text in screen._picture(80, 24) if "in lane two" in text.plain]


def test_plain_lines_name_their_lane(capsys: pytest.CaptureFixture[str]) -> None:
    story = three_lanes()
    screen = PlainScreen(TaskHistory(story.events))
    screen.listener(story.events[-1], story.state)
    story.add(Ended(EffectId("turn/2"), TurnEnded("ok", seconds=3.0)))
    screen.listener(story.events[-1], story.state)
    story.add(TaskStopped("paused", "paused by a person"))
    screen.listener(story.events[-1], story.state)
    places = [text[9 : 9 + PLACE_WIDTH].rstrip() for text in capsys.readouterr().out.splitlines()]
    assert places == ["1.4 RED", "1.3 RED", "RED"]


@pytest.mark.parametrize("fact", [LaneClosed("a-very-long-name-of-a-lane", "x"), Begun(a_turn(9, "T012", at=None))])
def test_a_place_is_never_wider_than_its_column(fact: Fact) -> None:
    story = three_lanes()
    story.add(LaneOpened("T012", "FINAL_REVIEW", C))
    told = line(Event(99, story.at, 1, fact), story.state)
    assert told is None or told[PLACE_WIDTH] == " "
