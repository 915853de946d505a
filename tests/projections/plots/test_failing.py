"""The plot of failing tests: nothing hides in it, whatever the number of iterations and the width."""

import re
from datetime import UTC, datetime, timedelta
from math import ceil

import pytest

from flyball.core.model.measurement import Counts
from flyball.projections.history.timeline import Kind, TimelineMark
from flyball.projections.plots.failing import WIDTHS, bins, failing_plot, spark
from flyball.projections.plots.failing_story import failing_story

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def marks(count: int, *, lanes: int = 1, **kinds: int) -> list[TimelineMark]:
    named: dict[int, Kind] = {n: kind.replace("_", " ") for kind, n in kinds.items()}  # type: ignore[misc]
    return [
        TimelineMark(
            n,
            AT + timedelta(minutes=10 * n),
            named.get(n, "continue"),
            f"lane-{n % lanes}" if lanes > 1 else "main",
            f"1.{n % lanes}" if lanes > 1 else "",
            "BUILD",
            Counts(500, 500 - count + n, count - n),
            n,
            "evidence",
            false_claim=n in {kinds.get("false_claim"), kinds.get("rolled_back")},
        )
        for n in range(1, count + 1)
    ]


def sizes(svg: str) -> tuple[float, float]:
    found = re.match(r'<svg class="plot w\d+" viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 2, 37, 500, 10_000])
def test_a_plot_of_any_length_fits_its_width_and_weighs_little(width: int, count: int) -> None:
    svg = failing_plot(marks(count, rolled_back=(count + 1) // 2), width, label="story")
    assert sizes(svg)[0] == width
    assert len(svg) <= 40_000
    assert "#g-rolled-back" in svg
    size = ceil(count / len(bins(marks(count), width - (68 if width > 400 else 46))))
    assert (f"in bins of {size}<" in svg) == (size > 1)
    places = [float(x) for x in re.findall(r'<use href="#g-[a-z-]+" x="(-?[\d.]+)"', svg)]
    assert min(places) >= 0
    assert max(places) <= width


def test_a_bin_shows_its_gravest_verdict_its_last_value_and_all_it_lies_between() -> None:
    found = bins(marks(500, rejected=77, rolled_back=78, accepted=80), 1068)
    assert len(found) <= 100
    (grave,) = [each for each in found if each.first <= 78 <= each.last.number]
    assert grave.mark.kind == "rolled back"
    assert grave.grave == 2
    assert (grave.value, grave.high) == (500 - grave.last.number, 500 - grave.first)


def test_a_young_task_looks_young_and_an_old_one_has_no_average() -> None:
    few = failing_plot(marks(2), 1136, label="story")
    strip = re.search(r'<rect x="46" y="[\d.]+" width="([\d.]+)" height="17"', few)
    assert strip
    assert float(strip[1]) == 96
    assert ">2<" in few


def test_at_most_four_labels_and_none_touches_another() -> None:
    crowded = marks(37, rolled_back=3, rejected=4, false_claim=20, asks_you=30)
    svg = failing_plot(crowded, 1136, label="story")
    told = re.findall(r'class="p-note"[^>]*>([^<]+)<', svg)
    assert "rolled back" in told
    assert len(told) <= 4


def test_lanes_have_a_row_each_and_more_than_six_are_counted() -> None:
    svg = failing_plot(marks(60, lanes=9), 1136, label="story")
    assert "and 3 more lanes" in svg
    assert re.findall(r'class="p-tick">([A-Z])<', svg) == list("ABCDEF")


def test_where_nothing_is_counted_the_strip_stands_alone() -> None:
    bare = [TimelineMark(1, AT, "accepted", "main", "", "BUILD", Counts(), 1)]
    svg = failing_plot(bare, 680, label="story")
    assert "p-line" not in svg
    assert "#g-accepted" in svg
    assert failing_story(bare) == "The gate counts no tests."
    assert spark(bare, label="x") == ""


def test_a_wait_of_over_a_quarter_of_an_hour_is_a_hatched_notch_with_its_length() -> None:
    from msgspec.structs import replace

    some = marks(20)
    some[9] = replace(some[9], wait_s=69 * 60.0)
    svg = failing_plot(some, 1136, label="story")
    assert "url(#hatch)" in svg
    assert "1 h 9 min wait" in svg


def test_foreign_names_are_text_in_the_picture() -> None:
    from msgspec.structs import replace

    some = [replace(each, lane=f"l{each.number % 2}", item='<script>"&\x1b[31m\u202e') for each in marks(20)]
    svg = failing_plot([*some[:19], replace(some[19], kind="rejected", note="<script>")], 1136, label="story")
    assert "<script" not in svg
    assert "\x1b" not in svg
    assert "\u202e" not in svg
    assert "⟨202E⟩" in svg


def test_the_story_has_the_numbers_and_counts_what_went_wrong() -> None:
    told = failing_story(marks(37, rolled_back=3, rejected=4, false_claim=20))
    assert told == "36 failing at the start, 0 now. 1 rollback, 1 rejection, 2 false claims.", (
        "as the figure counts them"
    )
