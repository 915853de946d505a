"""verdict.json: the decision for programs that cannot read the journal."""

import json

from msgspec.structs import replace
from tests.support.builders import Story, measurement, short_tdd_run

from flyball.core.claims.findings import Finding
from flyball.core.loop.questions import FOUR_CHOICES
from flyball.core.model.effects import Question
from flyball.core.model.events import TaskStopped
from flyball.projections.files.state_files import state_files
from flyball.projections.files.verdict_file import NAME, OUTPUT_SHOWN
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report


def read(story: Story):
    return json.loads(state_files(story.state, TaskHistory(story.events))[NAME])


def test_a_new_task_is_to_be_continued():
    shown = read(Story())
    assert (shown["decision"], shown["stopped"], shown["gates"]) == ("CONTINUE", "", [])


def test_a_finished_task_is_done_and_has_what_was_measured():
    shown = read(short_tdd_run())
    assert (shown["decision"], shown["stopped"]) == ("DONE", "done")
    assert shown["gates"]
    assert all(gate["passed"] for gate in shown["gates"])


def test_an_unfinished_one_says_what_is_missing_and_shows_the_end_of_the_output():
    measured = measurement("c1", failing=("test_a",))
    gate = replace(measured.gates[0], output="\x1b[31mE assert 1 == 2\n" * 1000)
    shown = read(Story().start().iterate(replace(measured, gates=(gate,)), missing=["1 test fails"]))
    assert (shown["decision"], shown["missing"]) == ("CONTINUE", ["1 test fails"])
    (said,) = shown["gates"]
    assert (said["passed"], said["command"]) == (False, "pytest")
    assert said["output"].endswith("E assert 1 == 2\n")
    assert len(said["output"]) <= OUTPUT_SHOWN


def test_what_is_missing_is_told_of_every_subtask_with_its_name():
    story = Story().start().iterate(missing=["the whole"]).switch_to("2.1")
    story.iterate(missing=["2 tests fail"], findings=(Finding("major", "no test for zero", "a.py", 3),))
    shown = read(story)
    assert shown["missing"] == ["the whole", "2.1: 2 tests fail"]
    assert [finding["message"] for finding in shown["findings"]] == ["2.1: no test for zero"]
    left = report(story.state, TaskHistory(story.events)).left
    assert {"the whole", "2.1: 2 tests fail"} <= set(left)


def test_a_blocked_one_has_its_question_and_the_command_that_answers_it():
    story = Story().start().ask(Question("breaker", "GREEN makes no progress", FOUR_CHOICES))
    story.add(TaskStopped("blocked", "GREEN makes no progress"))
    shown = read(story)
    assert (shown["decision"], shown["reason"]) == ("BLOCKED", "GREEN makes no progress")
    assert shown["questions"][0]["id"] == "ask/1"
    assert shown["next_command"].startswith("flyball ")
