"""Reports, screens and files say which model ran and who reviewed whose work."""

import json
from typing import Literal

import pytest
from tests.support.builders import Story, tdd_task

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, EarlierFinding
from flyball.core.loop import casting
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Begun
from flyball.core.model.task import AgentChoice, EffectId, Settings
from flyball.projections.files.state_files import state_files
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lines import line
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown


def told(**ran: str) -> Story:
    """A task whose implementer and reviewer say these models ran, whatever was set."""
    roles = {"default": AgentChoice("scripted", "set")}
    story = Story(tdd_task(settings=Settings(roles=roles)), stage="GREEN").start()
    story.turn(Claim(), model=ran["implementer"]).leave("QA")
    return story.turn(Claim(verdict="pass"), model=ran["reviewer"])


def shown(story: Story) -> tuple[str, dict[str, object]]:
    chronicle = TaskHistory(story.events)
    files = state_files(story.state, chronicle)
    return markdown(report(story.state, chronicle)), json.loads(files["loop-state.json"])


@pytest.mark.req("C2")
def test_another_model_is_named_with_the_author_as_they_ran() -> None:
    text, state = shown(told(implementer="claude-opus-5-5", reviewer="claude-sonnet-5"))
    assert (
        "turn 2, qa: scripted (claude-sonnet-5) reviewed the work of scripted (claude-opus-5-5): another model" in text
    )
    assert "author reviewed" not in text
    assert state["green_model"] == "claude-opus-5-5", "the model that ran, not the setting"
    assert "| GREEN | implementer | scripted claude-opus-5-5 |" in text


@pytest.mark.req("C2")
def test_a_reviewer_that_ran_the_authors_model_is_called_the_author_whatever_was_planned() -> None:
    text, _ = shown(told(implementer="claude-opus-5-5", reviewer="opus"))
    assert "the author reviewed its own work** (scripted (claude-opus-5-5))" in text


@pytest.mark.req("C2")
def test_before_anybody_implemented_no_model_did() -> None:
    _, state = shown(Story(stage="GREEN").start())
    assert state["green_model"] is None
    limited = Story(stage="GREEN").start().turn(Claim(), kind="usage_limit", model="large")
    assert shown(limited)[1]["green_model"] is None


@pytest.mark.req("C2")
@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("sonnet", "another model than the author's: scripted (claude-opus-5-5)"),
        ("opus", "the author reviews its own work: scripted (claude-opus-5-5)"),
        ("", "not known to be another model than the author's: scripted (claude-opus-5-5)"),
    ],
)
def test_a_reviewing_turn_says_when_it_begins_whether_it_is_another_model(model: str, sentence: str) -> None:
    story = told(implementer="claude-opus-5-5", reviewer="x")
    turn = RunAgent(
        EffectId("turn/9"),
        "qa",
        "QA",
        "scripted",
        model,
        "",
        1,
        9,
        authors=casting.authors(story.state, story.state.main),
    )
    story.add(Begun(turn))
    assert sentence in (line(story.events[-1], story.state) or "")


MINOR = Finding("minor", "gcd2(0, -1) raises ZeroDivisionError", "gcd2.py", 7, quote="a % b", shows="gcd2(0, -1)")
LEFT = "qa in turn 2, minor, gcd2.py:7: gcd2(0, -1) raises ZeroDivisionError"


def left(*looks: Claim) -> tuple[str, ...]:
    """What the report names as left of reviews, once each of these looks has been made."""
    story = Story(stage="GREEN").start().turn(Claim()).leave("QA")
    for claim in looks:
        story.turn(claim)
    return tuple(x for x in report(story.state, TaskHistory(story.events)).left if x.startswith("qa "))


@pytest.mark.req("O61", "C50")
@pytest.mark.parametrize("verdict", ["pass", "warn"])
def test_what_an_approving_review_found_is_left_with_severity_and_place(verdict: Literal["pass", "warn"]) -> None:
    approved = Claim(verdict=verdict, findings=(MINOR,))
    assert left(approved) == (LEFT,)
    story = Story(stage="GREEN").start().turn(Claim()).leave("QA").turn(approved)
    assert f"- {LEFT}\n" in shown(story)[0].partition("## What is left\n")[2]


@pytest.mark.req("O61", "C50")
def test_what_a_review_found_is_left_once_and_until_a_later_look_says_it_is_gone() -> None:
    approved = Claim(verdict="pass", findings=(MINOR,))
    assert left(approved, Claim(verdict="pass")) == (LEFT,), "a look that only confirms says nothing of it"
    assert left(approved, approved) == (LEFT.replace("turn 2", "turn 3"),)
    gone, kept = (Claim(verdict="pass", earlier=(EarlierFinding("F2.1", gone=gone),)) for gone in (True, False))
    assert left(approved, gone) == ()
    assert left(approved, kept) == (LEFT.replace("turn 2", "turn 3"),)


@pytest.mark.req("O61", "C50")
def test_what_a_rejection_was_for_or_what_is_void_is_not_named_as_left_by_an_approval() -> None:
    void = Finding("minor", "it is slow", "a.py", stands="nowhere")
    assert left(Claim(verdict="fail", findings=(MINOR,)), Claim(verdict="pass", findings=(void,))) == ()
