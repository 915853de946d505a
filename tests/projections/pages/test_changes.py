"""What a turn or an item changed is compared within its own lane."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.builders import Story

from flyball.core.model.events import TaskReopened
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import LaneOpening
from flyball.projections.pages.changes import BEGAN, of_item, of_turn
from flyball.projections.pages.diffs import Hunk, Line
from flyball.projections.pages.subtasks import TO_COME, ItemShown, nodes

pytestmark = pytest.mark.req("V5")


def two_lanes() -> TaskHistory:
    """Two lanes from one base, whose checkpoints come in turns; one of them is opened again from another base."""
    history = TaskHistory(())
    clock = iter(Story().at + timedelta(minutes=n) for n in range(20))

    def opened(lane: str, base: str) -> None:
        history.timeline.openings.append(LaneOpening(next(clock), lane, lane, base))

    def kept(label: str, commit: str, turn: int, lane: str, before: str) -> None:
        record = CheckpointRecord(label, commit, next(clock), False, "EXECUTE", turn, lane=lane, before=before)
        history.checkpoints.append(record)

    opened("2.1", "base1")
    opened("2.2", "base1")
    kept("turn-6", "c6", 7, "2.2", "base1")
    kept("turn-5", "c5", 7, "2.1", "base1")
    kept("turn-7", "c7", 7, "2.1", "c5")
    opened("2.2", "base2")
    kept("turn-9", "c9", 9, "2.2", "base2")
    return history


def test_a_turn_is_compared_with_what_stood_before_it_in_its_own_lane() -> None:
    history = two_lanes()
    changed = {number: of_turn(history, number) for number in (5, 6, 7, 9, 10)}
    told = {number: (change.older, change.newer, change.since) for number, change in changed.items() if change}
    assert told == {
        5: ("base1", "c5", BEGAN),
        6: ("base1", "c6", BEGAN),
        7: ("c5", "c7", "turn-5"),
        9: ("base2", "c9", BEGAN),
    }


@pytest.mark.req("C25")
def test_a_turn_after_a_rollback_is_compared_with_the_tree_that_was_restored() -> None:
    story = Story().start().turn().turn()
    first, second = (each.commit for each in story.state.checkpoints[-2:])
    story.restore(first).turn()
    change = of_turn(TaskHistory(story.events), 3)
    assert change is not None
    assert (change.older, change.since) == (first, "turn-1")
    assert second not in {change.older, change.newer}


@pytest.mark.req("C25")
def test_a_rollback_is_offered_only_where_it_is_not_refused() -> None:
    history = two_lanes()
    main = CheckpointRecord("turn-1", "c1", Story().at, False, "GREEN", 1)
    assert history.can_restore(main)
    assert not history.can_restore(replace(main, tricked="tests/test_a.py: gone"))
    assert not any(history.can_restore(kept) for kept in history.checkpoints), "of subtasks"
    reopened = Story().start().add(TaskReopened("more"))
    delivered = TaskHistory(reopened.events).checkpoints[0]
    assert not TaskHistory(reopened.events).can_restore(delivered)


def test_an_item_is_what_its_lane_changed_since_it_was_last_opened() -> None:
    history = two_lanes()
    changed = [of_item(history, item) for item in ("2.1", "2.2", "2.9")]
    assert [(change.older, change.newer) if change else None for change in changed] == [
        ("base1", "c7"),
        ("base2", "c9"),
        None,
    ]


def test_an_item_that_was_worked_on_leads_to_its_diff_whatever_it_is_called() -> None:
    shown = [ItemShown(name, "x", TO_COME, (), worked_on=name != "b") for name in ("a&b #1", "b")]
    assert [node.href for node in nodes(tuple(shown), "/t/r/1")] == ["/t/r/1/diff?item=a%26b%20%231", "/t/r/1#item-b"]


def test_side_by_side_what_went_stands_beside_what_came() -> None:
    same, gone, also, came = (Line(kind, kind) for kind in (" ", "-", "-", "+"))
    assert Hunk(0, "", [same, gone, also, came, same]).pairs == [(same, same), (gone, came), (also, None), (same, same)]
