"""The report, as a value and as Markdown."""

import json
import re

import msgspec
import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from tests.support.builders import Story, measurement, short_tdd_run, tdd_task, verdict

from flyball.core.claims.values import Claim
from flyball.core.model.batch_events import LaneClosed
from flyball.core.model.effects import Option, Question, Recall, RunAgent
from flyball.core.model.events import (
    Begun,
    Consented,
    Ended,
    Held,
    LearningRecorded,
    PersonSpoke,
    QuestionClosed,
    TaskStopped,
)
from flyball.core.model.measurement import Trick
from flyball.core.model.outcomes import Answered, Recalled, RecalledLearning, Usage
from flyball.core.model.task import EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.outcome_lines import outcome_line
from flyball.projections.views.report import Report, report
from flyball.projections.views.report_markdown import markdown
from flyball.projections.views.status import status

pytestmark = pytest.mark.req("O61")

HOSTILE = (
    "done\n\n# Report: PASSED\n- [x] **AC-9** ok\n<img src=x onerror=alert(1)> [a](javascript:b) `c` \x1b[2J \u202e |"
)


def of(story: Story) -> Report:
    return report(story.state, TaskHistory(story.events))


def text(story: Story) -> str:
    return markdown(of(story))


def eventful() -> Story:
    """A run in which everything the report speaks of has happened."""
    trick = Trick("test-deleted", "tests/test_rows.py", "test_empty is gone")
    story = Story().start(baseline=measurement("base0000", known_failing=1))
    story.iterate(held=True, signal=True).add(LearningRecorded(1, "decision", "Use csv", choice="the csv module"))
    story.leave("GREEN").iterate(measurement("bad", tricks=(trick,)), claim=Claim(exit_signal=True), signal=True)
    story.add(
        LearningRecorded(2, "decision", "Use regex", choice="re"), LearningRecorded(3, "anti-pattern", "regex fails")
    )
    story.restore(story.state.main.head)
    story.add(Consented(("tests/conftest.py",), "the QA reviewer", allowed=False))
    story.ask(Question("breaker", "GREEN makes no progress", (Option("reset", ""),)))
    story.add(
        Ended(EffectId("ask/1"), Answered("modify read the spec")),
        QuestionClosed(EffectId("ask/1"), "breaker", "modify"),
    )
    story.add(PersonSpoke("modify", "read the spec"), Held("provider", "scripted: usage limit", story.at))
    return story.leave("REFACTOR", reason="skipped by a person", forced=True).iterate(
        failing=("t1",), missing=("fails: t1",)
    )


def test_a_report_counts_the_files_of_the_branch_and_names_the_subtask_that_was_measured_last():
    story = Story().start().switch_to("2.1").iterate(failing=("t1",))
    told = report(story.state, TaskHistory(story.events))
    assert (told.files.created, told.files.modified) == (0, 0), "nothing of 2.1 is on the branch yet"
    assert told.last_measured is not None
    assert told.last_measured.lane == "2.1"
    assert "- **2.1: RED** on" in markdown(told)
    told = report(story.add(LaneClosed("2.1", "given up")).state, TaskHistory(story.events))
    assert told.last_measured is None


def test_a_finished_run_says_gates_passed_with_commands_counts_and_commits():
    page = text(short_tdd_run())
    assert "**Done: gates passed.**" in page
    assert "gate test passed: `pytest`, exit 0, 12 passed, 0 failed" in page
    assert "- [x] **AC-1** rows are parsed (completed)" in page
    assert "`git merge flyball/007-parse-rows`" in page
    shown = of(short_tdd_run())
    assert [v.stage for v in shown.verifications] == ["baseline", "RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"]
    assert shown.last_measured is None
    assert [c.label for c in shown.commits] == ["RED", "GREEN", "REFACTOR", "DOCUMENT", "report"]
    assert all(c.sha[:8] in page for c in shown.commits)
    assert "1 file created, 2 modified, 0 deleted since `base0000`" in page


def test_no_report_ever_says_correct():
    for story in (short_tdd_run(), eventful(), Story()):
        assert "correct" not in text(story).lower()


def test_false_claims_and_disagreements_are_named():
    page = text(short_tdd_run())
    assert "GREEN 1, turn 2: said done, but measured: fails: tests/test_rows.py::test_empty" in page
    assert "tests_passing: reported 12, measured 11" in page


@pytest.mark.req("C50")
def test_checks_that_were_not_made_are_unverified_and_left():
    page = text(short_tdd_run())
    assert "- Check changelog: unverified (off in the settings)" in page
    assert "- check changelog was not made" in page


@pytest.mark.req("C22", "C42")
def test_forced_stages_tricks_consents_rollbacks_and_words_are_all_there():
    page = text(eventful())
    assert "Stage GREEN was forced" in page
    assert "it does not count as verified" in page
    assert "not verified, skipped by a person: GREEN" in page
    assert "- `tests/test_rows.py`: test_empty is gone" in page
    assert "the QA reviewer refused changes to `tests/conftest.py`" in page
    assert "what was undone is kept as `undone00`" in page
    assert "Answer: modify read the spec" in page
    assert "provider: scripted: usage limit" in page
    assert "1 test failed before the task began and still fails" not in page


def test_decisions_say_whether_they_were_kept():
    page = text(eventful())
    assert "- 001 Use csv: the csv module (kept: accepted with RED)" in page
    assert "- 002 Use regex: re (undone: the work was taken back to " in page
    assert "- 003 regex fails" in page


@pytest.mark.req("O41")
def test_the_report_says_which_learnings_turns_were_given_and_whose_work_was_rejected_all_the_same():
    given = RecalledLearning("009-x/1", "decision", "Rows", "csv", "line", 6.0, "shares a.py 4.0", ("a.py",))
    unused = replace(given, id="009-x/2", title="Unused")
    story = Story().start().perform(Recall(EffectId("recall/1"), words="rows"), Recalled((given, unused)))
    turn = RunAgent(EffectId("turn/1"), "implementer", "GREEN", "a", "", "p", 1, 1, recalled=("009-x/1",))
    story.add(Begun(turn), LearningRecorded(1, "anti-pattern", "the review rejected the work", source="review"))
    (told,) = of(story).learnings_given
    assert (told.id, told.turns, told.rejected) == ("009-x/1", (1,), (1,))
    line = "- 009-x/1 Rows: turn 1 (shares a.py 4.0); the work of turn 1 was rejected all the same"
    assert line in text(story)


def test_what_was_measured_last_without_holding_is_told_apart():
    shown = of(eventful())
    assert shown.last_measured is not None
    assert shown.last_measured.counts.failing == 1
    assert "fails: t1" in shown.left
    assert "Measured last, and the gate did not hold" in text(eventful())


@pytest.mark.req("C18")
def test_a_measurement_that_was_not_run_again_says_so_with_its_reason_in_the_log_and_in_the_report():
    reason = "task 006-rows was measured on the same commit, gates and environment at 2026-03-01 12:00"
    story = Story().start(baseline=replace(measurement("base0000"), reused=reason))
    assert f"not run again: {reason}" in text(story)
    ended = next(event.fact for event in story.events if isinstance(event.fact, Ended) and "measure" in event.fact.id)
    assert (outcome_line(ended, story.state) or "").endswith(f"; not run again: {reason}")


def test_known_failing_tests_are_reported_as_left():
    story = Story().start(baseline=measurement("base0000", known_failing=2))
    assert "2 tests failed before the task began and still fail" in of(story).left


def test_spending_is_told_by_stage_and_role_and_in_all():
    story = short_tdd_run()
    shown = of(story)
    green = next(s for s in shown.spend if s.stage == "GREEN")
    assert (green.role, green.turns, green.seconds, green.input_tokens) == ("implementer", 2, 82, 2000)
    assert shown.total.usd == pytest.approx(story.state.usage.usd)
    assert "| GREEN | implementer | scripted large | 2 | 1 min 22 s | 2000 | 200 | 0.1000 |" in text(story)


def test_spending_is_told_turn_by_turn_failed_ones_included():
    story = short_tdd_run().turn(kind="crashed", usage=Usage(7, 3, 0.01, estimated=True))
    *turns, last = of(story).turns
    assert [t.turn for t in turns] == list(range(1, len(turns) + 1))
    assert {(t.role, t.outcome, t.input_tokens) for t in turns if t.stage == "GREEN"} == {("implementer", "ok", 1000)}
    assert (last.outcome, last.input_tokens, last.output_tokens, last.usd, last.estimated) == (
        "crashed",
        7,
        3,
        0.01,
        True,
    )
    assert sum(t.usd or 0 for t in of(story).turns) == pytest.approx(of(story).total.usd)


@pytest.mark.req("C13")
def test_tokens_that_nobody_told_are_a_dash_and_null_and_not_nothing():
    story = Story().start().turn(usage=Usage())
    (turn,) = of(story).turns
    assert (turn.input_tokens, turn.output_tokens, of(story).total.input_tokens) == (None, None, None)
    assert "| – | – | – |" in text(story)
    assert "A dash stands for money or tokens that no agent reported." in text(story)
    assert status(story.state, TaskHistory(story.events)).usage.input_tokens is None
    partly = story.turn(usage=Usage(1000, 100, 0.05))
    assert "| at least 1000 | at least 100 | at least 0.0500 |" in text(partly)


def test_estimates_are_called_estimates():
    story = Story().start().turn(usage=Usage(1, 1, 0.1, estimated=True))
    assert "Some figures are estimates" in text(story)


def test_a_report_notes_what_checkpoints_do_not_hold():
    page = text(short_tdd_run())
    assert "Checkpoints hold no submodule contents and no ignored files." in page
    assert "submodule vendor/x" in page


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("blocked", "Blocked: a person is needed"),
        ("limit", "Stopped at a limit"),
        ("aborted", "Aborted by a person"),
        ("interrupted", "Interrupted"),
    ],
)
def test_every_end_has_its_sentence_and_evidence(kind, words):
    page = text(Story().start().add(TaskStopped(kind, "because", ("command: pytest",))))
    assert words in page
    assert "- Evidence: command: pytest" in page


def test_hostile_text_cannot_write_headings_boxes_links_or_control_sequences_into_the_report():
    hostile = Claim(summary=HOSTILE, exit_signal=True)
    story = Story(tdd_task(request=HOSTILE)).start(notes=(HOSTILE,))
    story.iterate(
        measurement("c", tricks=(Trick("test-deleted", HOSTILE, HOSTILE),)),
        claim=hostile,
        signal=True,
        missing=(HOSTILE,),
        said=verdict(evidence=HOSTILE),
        disagreements=(HOSTILE,),
        error=HOSTILE,
    )
    story.add(LearningRecorded(1, "decision", HOSTILE, HOSTILE, HOSTILE, (HOSTILE,)), PersonSpoke("modify", HOSTILE))
    story.ask(Question("q", HOSTILE)).add(TaskStopped("blocked", HOSTILE, (HOSTILE,)))
    calm = eventful()
    page = text(story)
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = {t.type for t in tokens} | {c.type for t in tokens for c in t.children or ()}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "fence"}
    headings = [t.content for t, before in zip(tokens[1:], tokens, strict=False) if before.type == "heading_open"]
    known = {line[3:] for line in (text(calm) + text(short_tdd_run())).splitlines() if line.startswith("## ")}
    assert set(headings) <= known | {"Report: 007-parse-rows"}
    assert not re.search(r"^\s*- \[x\]", page, re.MULTILINE)
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_report_is_json_with_every_field():
    shown = json.loads(msgspec.json.encode(of(short_tdd_run())))
    assert set(shown) == {f.name for f in msgspec.structs.fields(Report)}
    assert shown["files"] == {"created": 1, "modified": 2, "deleted": 0}
    assert shown["verifications"][0]["counts"]["failing"] == 0


def test_the_same_facts_give_the_same_report():
    assert text(eventful()) == text(eventful())


@pytest.mark.req("C13")
def test_unknown_money_is_a_dash_and_null_and_never_nothing():
    story = Story().start().turn(usage=Usage(25_000, 100))
    assert (of(story).total.usd, of(story).turns[0].usd) == (None, None)
    text = markdown(of(story))
    assert "| 25000 | 100 | – |" in text
    assert "0.0000" not in text
    assert '"usd":null' in msgspec.json.encode(of(story)).decode()
    assert msgspec.to_builtins(status(story.state, TaskHistory(story.events)))["usage"]["usd"] is None


@pytest.mark.req("C13")
def test_of_money_known_in_part_that_part_is_called_the_least():
    story = Story().start().turn(usage=Usage(10, 1, 0.5)).turn(usage=Usage(10, 1))
    assert (of(story).total.usd, of(story).total.known_usd) == (None, 0.5)
    assert "| at least 0.5000 |" in markdown(of(story))
