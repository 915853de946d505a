"""One line for each event."""

import json
from datetime import timedelta

import msgspec
import pytest
from tests.support.builders import Story, measurement, short_tdd_run, tdd_task, verdict

from flyball.core.claims.values import Claim
from flyball.core.fold.evolve import evolve
from flyball.core.health.breaker import Breaker
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import (
    Begun,
    Consented,
    DocumentSeen,
    Ended,
    Held,
    ItemsSet,
    LearningRecorded,
    LimitHit,
    PersonSpoke,
    TaskStopped,
    TurnSetAside,
)
from flyball.core.model.measurement import GateResult, Measurement, Trick
from flyball.core.model.outcomes import Answered, Usage
from flyball.core.model.state import State
from flyball.core.model.task import EffectId, Item, Source
from flyball.core.vocabulary import event_type
from flyball.core.workflows.backlog.facts import Evaluated
from flyball.core.workflows.plan.effects import MarkEntries
from flyball.core.workflows.plan.sources.marking import MarkChange
from flyball.core.workflows.plan.sources.values import Key
from flyball.core.workflows.registry import WORKFLOWS
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lines import LONGEST, PLACE_WIDTH, json_line, line
from flyball.projections.views.standing import stuck
from flyball.projections.views.status import status


def lines(story: Story) -> list[str]:
    state: State | None = None
    told = []
    for event in story.events:
        state = evolve(state, event)
        text = line(event, state)
        if text is not None:
            told.append(text)
    return told


def last(story: Story) -> str:
    return lines(story)[-1]


def test_a_run_reads_as_a_story():
    told = lines(short_tdd_run())
    spent = "1000+100 tokens, 0.0500 USD"
    assert f"RED 1       turn 1 tester (scripted) … 41 s, {spent}; says complete, done: it is done" in told
    assert "GREEN 1     gate test: 11 passed, 1 failed (test_empty)" in told
    assert any(
        t.startswith("GREEN 1     verdict: CONTINUE, PROGRESSING: first iteration; the agent says done, but")
        for t in told
    )
    assert "GREEN       RED -> GREEN: the measurements hold and the agent says that it is done" in told
    assert told[-1].startswith("SHIP        DONE: gates passed")


@pytest.mark.req("O23")
def test_marks_in_a_users_plan_and_what_people_did_to_it_are_told():
    key, other = Key("T001", "a"), Key("T002", "b")
    changes = (MarkChange(key, " ", "X"), MarkChange(other, "X", " "))
    story = Story(msgspec.structs.replace(tdd_task(), workflow="plan"), "GATHER")
    story.add(Begun(MarkEntries(EffectId("mark/1"), Source("tasks.md", ""), "", changes)))
    assert last(story).endswith("marks in tasks.md: T001 as [X]; T002 as [ ]")
    story.add(DocumentSeen("tasks.md", "", ("T003: ticked in tasks.md by a person; taken: the gates hold",)))
    assert last(story).endswith("T003: ticked in tasks.md by a person; taken: the gates hold")
    assert len(lines(story.add(DocumentSeen("tasks.md", "")))) == len(lines(story)), "nothing to tell"


def test_a_report_that_could_not_be_taken_is_named_in_the_line_of_its_turn():
    told = lines(Story().turn(Claim(problems=("the report file is not valid JSON",))))
    assert any(t.endswith("; not taken: the report file is not valid JSON") for t in told)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_stages_of_every_workflow_fit_into_their_column_and_stay_apart(workflow: str):
    places = []
    for stage in WORKFLOWS[workflow].stages:
        text = last(Story(msgspec.structs.replace(tdd_task(), workflow=workflow), stage))
        assert text[PLACE_WIDTH : PLACE_WIDTH + 5] == " task", text
        places.append(text[:PLACE_WIDTH])
    assert len(set(places)) == len(places)


def test_every_line_is_short_aligned_and_one_line():
    for text in lines(short_tdd_run()):
        assert "\n" not in text
        assert len(text) <= LONGEST + 16
        assert text[11] == " "
        assert text[12] != " "


def test_every_verdict_has_its_evidence():
    said = verdict("STALLED", evidence="same error 3x: TypeError in parse_row, iterations 4, 5, 6")
    breaker = Breaker("HALF_OPEN", 2, reason="no progress in 2 iterations")
    text = last(
        Story().start().iterate(said=said, breaker=breaker, rung="fresh-context", missing=("fails: t1", "fails: t2"))
    )
    assert "STALLED: same error 3x: TypeError in parse_row, iterations 4, 5, 6" in text
    assert "missing: fails: t1 and 1 more" in text
    assert "remedy: fresh-context" in text
    assert "nearly stuck: no progress in 2 iterations" in text


def test_a_wait_says_until_when():
    story = Story().start()
    story.add(Held("provider", "scripted: usage limit", story.at + timedelta(hours=1)))
    assert last(story) == "RED         waits until 2026-01-05 10:00:05 UTC (provider): scripted: usage limit"


def test_a_broken_gate_and_a_trick_are_named():
    broken = Measurement("c", "t", (GateResult("test", "pytest", passed=False, broken="command missing"),))
    assert last(Story().start().turn().measure(broken)).endswith("gate test cannot run: command missing")
    trick = Trick("test-deleted", "tests/test_rows.py", "gone")
    assert "caught tests/test_rows.py: gone" in last(Story().start().turn().measure(measurement("c", tricks=(trick,))))


def test_a_question_shows_options_and_default_and_then_its_answer():
    story = Story().start().ask(Question("q", "Which?", (Option("a", ""), Option("b", "")), default="a"))
    assert last(story).endswith("question ask/1: Which? [a | b] (default: a)")
    due = Question("q", "Which?", default="a", deadline_at=story.at + timedelta(minutes=40))
    assert last(Story().start().ask(due)).endswith(f"Which? (default: a, taken at {due.deadline_at:%H:%M} UTC)")
    assert last(story.add(Ended(EffectId("ask/1"), Answered("a", "default")))).endswith(
        "ask/1 answered: a (the default)"
    )


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (TaskStopped("blocked", "stuck"), "BLOCKED: stuck; next: flyball resume 007-parse-rows"),
        (TaskStopped("interrupted", "SIGINT"), "PAUSED: SIGINT; next: flyball resume"),
        (PersonSpoke("modify", "read the spec"), "a person says modify read the spec"),
        (ItemsSet((Item("AC-1", "x"),), "planner"), "1 item from the planner: AC-1"),
        (ItemsSet((Item("1", "x"), Item("F.1", "y")), "review"), "2 items with those the review added: 1, F.1"),
        (LearningRecorded(4, "decision", "Use csv"), "decision 004: Use csv"),
        (Consented(("a.py",), "a person", allowed=False), "a person refused changes to a.py"),
    ],
)
def test_other_facts_have_their_words(fact, words):
    assert words in last(Story().start().add(fact))


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (Usage(), "… 41 s"),
        (Usage(300, 0), "… 41 s, 300+0 tokens, – USD"),
        (Usage(0, 60), "… 41 s, 0+60 tokens, – USD"),
        (Usage(300, 60, 0.0024), "… 41 s, 300+60 tokens, 0.0024 USD"),
        (Usage(300, 60, 0.0024, estimated=True), "… 41 s, 300+60 tokens, about 0.0024 USD"),
        (Usage(estimated=True), "… 41 s"),
    ],
)
def test_what_a_turn_used_stands_in_its_line_and_an_estimate_is_called_one(usage, told):
    assert last(Story().start().turn(usage=usage)).endswith(told)


def test_a_limit_and_the_turn_it_cost_are_told():
    story = Story().start().turn(kind="usage_limit", detail="try later")
    assert "… 41 s, 1000+100 tokens, 0.0500 USD, usage limit: try later" in last(story)
    story.add(LimitHit("scripted", "usage_limit", story.at), TurnSetAside(1, "limited", "try later"))
    assert last(story).endswith("turn 1 hit a limit of its provider (try later); not counted")


def test_an_agent_cannot_write_a_line_of_its_own():
    story = Story().start().iterate(said=verdict(evidence="x\nSHIP        DONE: gates passed\x1b[2J\u202e"))
    text = last(story)
    assert text.startswith("RED 1       verdict: CONTINUE")
    assert "\n" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_json_line_is_one_line_and_reads_back_as_the_event():
    for event in short_tdd_run().events:
        raw = json_line(event)
        assert b"\n" not in raw
        assert json.loads(raw)["seq"] == event.seq
        assert msgspec.json.decode(raw, type=event_type()) == event


def test_a_sentence_that_goes_on_has_no_full_stop_within():
    backlog = msgspec.structs.replace(tdd_task(), workflow="backlog")
    told = last(
        Story(backlog).start().add(Evaluated("CONTINUE", "1 actionable issue remains.", "actionable", 1, "A-1@a"))
    )
    assert told.endswith("CONTINUE (actionable): 1 actionable issue remains; next: A-1@a")
    stopped = last(Story().start().add(TaskStopped("done", "All is well.")))
    assert "All is well; next: flyball " in stopped


@pytest.mark.parametrize(
    ("breaker", "told"),
    [
        (Breaker(), "no"),
        (Breaker("CLOSED", 1, 1, "e"), "not yet: 1 of 3 iterations without progress, 1 of 5 with the same error"),
        (
            Breaker("HALF_OPEN", 2, 1, "e", "x"),
            "nearly: 2 of 3 iterations without progress, 1 of 5 with the same error",
        ),
        (
            Breaker("OPEN", 3, 1, "e", "no progress in 3 iterations"),
            "yes, stopped repeating: no progress in 3 iterations",
        ),
    ],
)
def test_what_the_breaker_counts_is_told_in_plain_words(breaker: Breaker, told: str):
    story = Story().start().iterate(breaker=breaker)
    assert stuck(story.state, TaskHistory(story.events)) == told


@pytest.mark.parametrize(
    ("breaker", "told"),
    [
        (Breaker("OPEN", 3, reason="no progress in 3 iterations"), "yes, stopped repeating in 2.1: no progress in 3 iterations"),
        (Breaker("HALF_OPEN", 2, 1), "nearly in 2.1: 2 of 3 iterations without progress, 1 of 5 with the same error"),
    ],
)  # fmt: skip
def test_stuck_is_told_of_the_subtask_that_is_nearest_to_being_stopped(breaker, told):
    story = Story().start().iterate().switch_to("2.1").iterate(breaker=breaker).switch_to("2.2").iterate()
    assert stuck(story.state, TaskHistory(story.events)) == told
    shown = status(story.state, TaskHistory(story.events)).breaker
    assert (shown.lane, shown.state) == ("2.1", breaker.state)


def test_a_pause_can_be_taken_back_until_the_loop_has_stopped():
    story = Story().start().add(PersonSpoke("pause"))
    assert story.state.pausing
    assert not story.add(PersonSpoke("resume")).state.pausing


@pytest.mark.req("C49")
def test_a_reviewer_that_judged_a_protected_change_is_not_said_to_wait():
    story = Story().start().turn().add(TurnSetAside(1, "consent"))
    assert last(story).endswith("turn 1 reviewed a change of protected files")
