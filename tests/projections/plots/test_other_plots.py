"""Time and money, the graph of items, and round steps."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from flyball.core.model.measurement import Counts
from flyball.projections.history.timeline import (
    ENDLESS,
    Amount,
    Bar,
    Pause,
    Progress,
    Sitting,
    Timeline,
    TimelineMark,
)
from flyball.projections.plots.failing import WIDTHS
from flyball.projections.plots.governor import governor
from flyball.projections.plots.graph import GraphNode, graph
from flyball.projections.plots.lanes import more, order, rows_of
from flyball.projections.plots.scale import small_steps, steps, time_scale
from flyball.projections.plots.spending import Course, QuestionSpan, course_plot, waiting_time

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def minutes(n: float) -> datetime:
    return AT + timedelta(minutes=n)


def course(count: int = 12, **changes: object) -> Course:
    bars = []
    for n in range(count):
        lane = f"lane-{n % 2}"
        bars.append(Bar("turn", lane, minutes(n * 10), minutes(n * 10 + 7), n + 1, f"1.{n % 3}"))
        bars.append(Bar("gate", lane, minutes(n * 10 + 7), minutes(n * 10 + 8), held=n % 2 == 0))
    marks = [
        TimelineMark(n + 1, minutes(n * 10 + 8), "rejected", f"lane-{n % 2}", "", "S", Counts(5, 5), n + 1)
        for n in range(count)
    ]
    timeline = Timeline()
    timeline.marks = marks
    timeline.pauses = [Pause("lane-0", "usage limit of claude: no call", minutes(20), minutes(60), minutes(60))]
    timeline.sittings = [Sitting(AT, minutes(count * 10))]
    timeline.money = [Amount(minutes(n * 10 + 7), 0.1 * (n + 1)) for n in range(count)]
    for name in set(changes) & {"money", "sittings", "progress"}:
        setattr(timeline, name, changes.pop(name))
    values = {
        "now": minutes(count * 10),
        "running": True,
        "timeline": timeline,
        "bars": bars,
        "questions": [QuestionSpan("ask/1", minutes(30), None, minutes(500))],
        "rows": {"lane-0": "A", "lane-1": "B"},
        "cap": 10.0,
        "dearest": 0.14,
    }
    return Course(**{**values, **changes})  # type: ignore[arg-type]


def test_each_lane_is_a_chain_and_a_wait_is_a_hatched_band_with_its_times() -> None:
    svg = course_plot(course(), 1136, label="c")
    assert svg.count('class="b-turn"') == 2
    assert svg.count('class="b-held"') == 1
    assert "usage limit of claude" in svg
    assert "09:20 to 10:00" in svg
    assert "no turn starts above $9.86: the dearest took $0.14" in svg
    assert "You" in svg
    assert "now 11:00" in svg


def test_ten_thousand_turns_weigh_no_more_than_a_plot_may() -> None:
    assert len(course_plot(course(10_000), 1136, label="c")) <= 60_000


def test_no_money_known_leaves_the_money_out_and_no_sitting_leaves_all_out() -> None:
    assert "$" not in course_plot(course(money=[]), 680, label="c")
    assert course_plot(course(sittings=[]), 680, label="c") == ""


def test_times_in_which_nobody_ran_the_task_are_a_narrow_break() -> None:
    scale = time_scale([(AT, minutes(60)), (minutes(1440), minutes(1500))], 0, 1000)
    assert len(scale.pieces) == 2
    assert scale.pieces[1].left - scale.pieces[0].right == 22
    assert scale.x(minutes(700)) == scale.pieces[1].left
    assert "p-break" in course_plot(
        course(sittings=[Sitting(AT, minutes(60)), Sitting(minutes(1440), minutes(1500))]), 1136, label="c"
    )


def test_axes_have_three_to_five_round_steps() -> None:
    assert steps(48) == [0, 10, 20, 30, 40, 50]
    assert steps(1) == [0, 1]
    assert steps(0) == [0, 1]
    for highest in range(5, 4000, 7):
        axis = steps(highest)
        assert 3 <= len(axis) - 1 <= 5
        assert axis[-1] >= highest
    assert small_steps(0.3)[-1] >= 0.3


def test_waits_of_several_lanes_at_one_time_count_once() -> None:
    pauses = [Pause("a", "r", AT, minutes(30), minutes(30)), Pause("b", "r", minutes(10), minutes(40), None)]
    assert waiting_time(pauses, minutes(35)) == timedelta(minutes=35)


def node(name: str, *after: str, done: bool = False) -> GraphNode:
    return GraphNode(
        name, f"work {name} <b>", "accepted" if done else "to come", "accepted", "green", after, done, f"/x#{name}"
    )


def test_a_graph_has_columns_by_depth_solid_edges_from_what_is_done_and_links() -> None:
    svg = graph([node("1", done=True), node("2", "1"), node("3", "1"), node("4", "2", "3")], label="g")
    assert svg.count("e-done") == 2
    assert svg.count("e-waits") == 2
    assert svg.count('href="/x#') == 4
    assert "<b>" not in svg
    tops = re.findall(r'<rect x="([\d.]+)"', svg)
    assert len(set(tops)) == 3


def test_a_list_says_it_better_where_nothing_waits_or_there_are_very_many() -> None:
    assert graph([node("1"), node("2")], label="g") == ""
    assert graph([node("1")], label="g") == ""
    assert graph([node(str(n), str(n - 1)) for n in range(41)], label="g") == ""


def test_a_circle_of_dependencies_is_drawn_and_ends() -> None:
    assert "e-waits" in graph([node("1", "2"), node("2", "1"), node("3", "2")], label="g")


def test_the_governors_arms_rise_with_the_strikes() -> None:
    heights = [float(re.findall(r'cy="([\d.]+)"', governor(angle))[0]) for angle in (30, 50, 80)]
    assert heights == sorted(heights, reverse=True)


def test_lanes_that_were_never_worked_on_at_once_share_a_row() -> None:
    spans = {"1.1": (minutes(0), minutes(9)), "main": (minutes(0), minutes(60)), "1.2": (minutes(5), minutes(20))}
    spans |= {"1.3": (minutes(9), minutes(30)), "1.4": (minutes(20), ENDLESS), "1.5": (minutes(40), minutes(50))}
    rows = rows_of(spans)
    assert rows == {"main": "main", "1.1": "A", "1.2": "B", "1.3": "A", "1.4": "B", "1.5": "A"}
    assert order(rows) == ["main", "A", "B"]
    assert more(["r"] * 6) == ""
    assert more(["r"] * 7) == "and 1 more lane"


@pytest.mark.req("V3")
def test_items_done_are_a_step_line_under_how_many_there_are() -> None:
    done = [Progress(minutes(10 * n), n, 6 if n < 3 else 7) for n in range(5)]
    for width in WIDTHS:
        svg = course_plot(course(progress=done), width, label="c")
        assert "items done" in svg
        assert "4 of 7" in svg
        assert svg.count('class="p-goal"') == 1
    assert "items done" not in course_plot(
        course(progress=[Progress(AT, 0, 1), Progress(minutes(1), 1, 1)]), 680, label="c"
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_is_cut_off_at_an_edge(width: int) -> None:
    spread = {f"lane-{n % 2}": name for n, name in enumerate(("main", "A"))}
    for minute in range(0, 40, 7):
        drawn = course(rows=spread, questions=[QuestionSpan("ask/1", minutes(119), None)], now=minutes(120 + minute))
        svg = course_plot(drawn, width, label="c")
        for x, anchor, text in re.findall(r'<text x="([\d.-]+)"[^>]*?(?: text-anchor="(\w+)")?>([^<]*)<', svg):
            long = len(text) * 11.5 * 0.5
            left = float(x) - {"": 0, "middle": long / 2, "end": long}[anchor]
            assert left >= -2, text
            assert left + long <= width + 2, text
