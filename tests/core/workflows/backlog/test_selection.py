"""What can be worked on without a person, and what comes next."""

import pytest

from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.selection import candidates, in_order
from flyball.core.workflows.backlog.values import ISSUE_FILES, Backlog, Issue, Session, Situation

OPEN = "BUG-001@a1b2c3"


def cause(issue: Issue, *others: Issue, environment=("linux",), finished=(), answered=()) -> str:
    """Why an issue waits; empty where it can be worked on."""
    situation = Situation(
        backlog=Backlog((issue, *others), finished=finished),
        environment=environment,
        session=Session(answered=answered),
    )
    return next((why for waiting, why in candidates(situation).waiting if waiting is issue), "")


@pytest.mark.req("E4")
@pytest.mark.parametrize("tag", ["needs-input", "Needs Input", "blocked", "requires-human", "requires_human"])
def test_what_is_tagged_for_a_person_waits_until_the_person_has_spoken(tag):
    issue = Issue(OPEN, tags=("x", tag))
    assert cause(issue).startswith("tagged ")
    assert cause(issue, answered=(OPEN,)) == ""


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("more", "environment", "why"),
    [
        ({"requires": ("windows",)}, ("linux",), "requires windows, and here is linux"),
        ({"requires": ("Linux",)}, ("linux",), ""),
        ({"requires": ("darwin",)}, ("macos",), ""),
        ({"requires": ("linux", "macos")}, ("macos",), ""),
        ({"requires": ("gpu",)}, ("linux",), "requires gpu, and here is linux"),
        ({"requires": ("gpu",)}, ("linux", "gpu"), ""),
        ({"requires": ("any",)}, ("linux",), ""),
        ({"tags": ("windows-only",)}, ("linux",), "requires windows, and here is linux"),
        ({"tags": ("Linux only",)}, ("linux",), ""),
        ({"tags": ("requires-macos",)}, ("linux",), "requires macos, and here is linux"),
        ({"tags": ("requires: windows",)}, ("linux",), "requires windows, and here is linux"),
        ({"tags": ("windows", "read-only")}, ("linux",), ""),
    ],
)
def test_what_requires_another_machine_waits(more, environment, why):
    assert cause(Issue(OPEN, **more), environment=environment) == why


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("other", "finished", "why"),
    [
        (Issue("BUG-002@b", status="proposed"), (), "which is proposed"),
        (Issue("BUG-002@b", status="blocked"), (), "which is blocked"),
        (Issue("BUG-002@b", status="completed"), (), ""),
        (Issue("BUG-002@b", status="won't-fix"), (), ""),
        (Issue("BUG-003@b"), ("BUG-002@b",), ""),
        (Issue("BUG-002@b"), ("BUG-002@b",), "which is proposed"),
        (Issue("BUG-003@b"), (), "which is in no file"),
    ],
)
@pytest.mark.parametrize("name", ["BUG-002@b", "BUG-002"])
def test_what_another_blocks_waits_until_that_one_is_finished(name, other, finished, why):
    said = cause(Issue(OPEN, blocked_by=(name,)), other, finished=finished)
    assert said == (f"blocked by {name}, {why}" if why else "")


@pytest.mark.req("E4")
def test_only_proposed_and_in_progress_can_be_worked_on():
    issues = tuple(
        Issue(f"BUG-{n:03}@a1b2c3", status=status)  # type: ignore[arg-type]
        for n, status in enumerate(["proposed", "in-progress", "blocked", "completed", "won't-fix"])
    )
    found = candidates(Situation(backlog=Backlog(issues)))
    assert {issue.status for issue in found.actionable} == {"proposed", "in-progress"}
    assert found.waiting == ()


@pytest.mark.req("E1", "E12")
def test_files_come_in_their_order_and_the_backlog_last():
    issues = [Issue(f"BUG-{n:03}@a1b2c3", file=file) for n, file in enumerate(reversed(ISSUE_FILES))]
    assert [issue.file for issue in in_order(issues, {})] == list(ISSUE_FILES)


@pytest.mark.req("E12")
def test_within_a_file_in_progress_comes_first_then_the_oldest_then_the_undated_as_written():
    issues = [
        Issue("a", order=0),
        Issue("b", order=1),
        Issue("c", created="2026-01-05", order=2),
        Issue("d", created="2026-01-04T23:30:00-01:00", order=3),
        Issue("e", created="2026-01-04T23:30:00Z", order=4),
        Issue("f", status="in-progress", created="2026-03-01", order=5),
        Issue("g", created="someday", order=6),
    ]
    assert [issue.id for issue in in_order(issues, {})] == ["f", "e", "c", "d", "a", "b", "g"]


@pytest.mark.req("E12")
def test_what_failed_twice_this_session_comes_after_all_else():
    issues = [
        Issue("stuck", status="in-progress", file="shortlist.md"),
        Issue("once", file="shortlist.md"),
        Issue("late", file="backlog.md"),
    ]
    assert [issue.id for issue in in_order(issues, {"stuck": 2, "once": 1})] == ["once", "late", "stuck"]


@pytest.mark.req("E4")
@pytest.mark.parametrize("other", ["blocked", "proposed", "in-progress"])
def test_of_two_unfinished_issues_with_one_id_none_is_worked_and_both_places_are_named(other):
    twice = (Issue("A-1@a", status=other, line=3, file="high.md"), Issue("A-1@a", line=17, file="low.md"))
    found = candidates(Situation(backlog=Backlog(twice)))
    assert not found.actionable
    assert found.waiting[-1][1] == "its id stands 2 times (high.md, line 3; low.md, line 17)"
    assert evaluate(Situation(backlog=Backlog(twice), build="pass", gates="met")).trigger == "no_actionable"


def test_an_issue_that_was_finished_under_the_same_id_is_no_doubt():
    issues = (Issue("A-1@a", status="completed", line=3), Issue("A-1@a", line=17))
    assert [issue.line for issue in candidates(Situation(backlog=Backlog(issues))).actionable] == [17]
