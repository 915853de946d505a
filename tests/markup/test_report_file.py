"""V20: the report as one file that needs nothing and shows everything."""

import re
from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.core.model.events import LearningRecorded, PersonSpoke
from flyball.core.model.outcomes import Usage
from flyball.core.model.task import Item
from flyball.markup.report_file import html_report
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.summary import Known, Place
from flyball.projections.views.situation import Seen

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)> & \x1b[31mred \u202etxt "\x00'


def file_of(story: Story) -> str:
    known = Known(
        Place("x", "x"), story.state, TaskHistory(story.events), (), Seen(False), story.at + timedelta(minutes=1)
    )
    return html_report(known, "0.1.0")


@pytest.mark.req("V20", "O61")
def test_the_file_has_everything_a_person_needs_to_judge_the_work() -> None:
    task = tdd_task()
    story = Story(task)
    story.start().iterate(signal=True, missing=("fails: a::b",), failing=("a::b",))
    story.add(LearningRecorded(1, "decision", "yield postings", choice="a generator", consequences="lazy"))
    story.add(LearningRecorded(2, "anti-pattern", "do not cache", context="it was stale"))
    story.add(PersonSpoke("modify", "mind the sign"))
    story.leave("GREEN", forced=True, reason="a person skipped it")
    html = file_of(story)
    for told in (
        "parse the rows",
        "AC-1",
        "rows are parsed",
        "How it was verified",
        "pytest",
        "base0000",
        "fails: a::b",
        "yield postings",
        "do not cache",
        "mind the sign",
        "RED was skipped by a person and is not verified",
        "What it took",
        "tester",
        "1,000, 100",
        "0.05",
        "What is left",
        "stage RED was skipped and is not verified",
    ):
        assert told in html, told
    assert html.count('<svg class="plot') == 6


@pytest.mark.req("C13")
def test_tokens_that_nobody_told_are_a_dash_in_the_file_too() -> None:
    assert "–, –" in file_of(Story().start().turn(usage=Usage()))


@pytest.mark.req("V20")
def test_the_file_makes_no_request_and_runs_no_script() -> None:
    html = file_of(short_tdd_run())
    assert "<script" not in html
    assert not re.search(r'\b(?:src|srcset)=|url\((?!#)|@import|href="(?!#)', html)
    assert not re.search(r"\son[a-z]+=", html)
    assert len(html) < 200_000
    assert "prefers-color-scheme" in html
    assert "@media print" in html


@pytest.mark.req("V20")
def test_whatever_an_agent_wrote_is_text_and_steers_nothing() -> None:
    task = replace(tdd_task(request=HOSTILE), items=(Item("AC-1", HOSTILE),))
    story = Story(task).start().iterate(missing=(HOSTILE,), signal=True, error=HOSTILE)
    story.add(LearningRecorded(1, "decision", HOSTILE, choice=HOSTILE))
    html = file_of(story)
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.req("V9", "V20")
def test_every_cell_of_a_table_with_a_head_names_its_column_for_narrow_screens() -> None:
    html = file_of(short_tdd_run())
    headed = [
        table for table in re.findall(r'<table class="wide-table">.*?</table>', html, re.DOTALL) if "<th" in table
    ]
    assert len(headed) >= 4
    for table in headed:
        names = [re.sub("<.*?>", "", name) for name in re.findall(r"<th[ >].*?</th>", table)]
        for row in re.findall(r"<tr><td.*?</tr>", table, re.DOTALL):
            cells = re.findall(r"<td([^>]*)>", row)
            assert [re.search(r'data-label="([^"]*)"', cell)[1] for cell in cells] == names[: len(cells)]  # type: ignore[index]
