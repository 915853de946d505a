"""What stands in `.loop/NNN-slug/`."""

import json
import re
import uuid
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from tests.support.builders import Story, short_tdd_run, tdd_task, verdict

from flyball.core.health.breaker import Breaker
from flyball.core.loop.shipping import ship
from flyball.core.model.batch_events import LaneOpened
from flyball.core.model.events import Begun, Held, LearningRecorded, LimitHit, Moved, PersonSpoke, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Commit, Item
from flyball.projections.files.loop_files import render, shows
from flyball.projections.files.loop_state import verdict_lines
from flyball.projections.files.task_files import LONGEST_CONTEXT
from flyball.projections.history.task_history import TaskHistory

ALWAYS = {
    "loop-state.md", "context.md", "plan.md", "loop-state.json", "circuit-breaker.json", "rate-limit.json", "dual-gate.json",
    "verdict.json",
}  # fmt: skip


def of(story: Story) -> dict[str, str]:
    return render(story.state, TaskHistory(story.events))


def read(story: Story, name: str):
    return json.loads(of(story)[name])


@pytest.mark.req("O4")
def test_a_new_task_has_empty_pages_and_a_loop_state_that_says_initializing():
    files = of(Story())
    assert set(files) == ALWAYS
    assert files["context.md"] == files["plan.md"] == ""
    assert "**Iteration**: 0\n**Status**: INITIALIZING\n" in files["loop-state.md"]


def test_the_loop_state_follows_the_agreed_form_m30():
    story = Story().start()
    for _ in range(3):
        story.iterate(error="TypeError in parse_row", said=verdict("STALLED", recommendation="retry-with-change"))
    page = of(story)["loop-state.md"]
    assert re.findall(r"^#+ (.+)$", page, re.MULTILINE) == [
        "Loop State", "Current Batch", "History", "Pattern Detection", "Recommendation",
    ]  # fmt: skip
    assert "**Iteration**: 3\n**Status**: STALLED\n**Confidence**: LOW\n" in page
    assert "| Iter | Attempted | Passed | Failed | Notes |" in page
    assert "- Attempted: RED\n- Passed: \n- Failed: RED\n" in page
    assert "- Consecutive failures: 3\n- Same-error streak: 3 — TypeError in parse_row\n- Trend: stable" in page
    assert page.endswith("## Recommendation\nretry-with-change\n")


STEPS = st.lists(st.sampled_from(["pass", "fail", "restore", "hostile"]), max_size=120)


@given(STEPS)
@settings(max_examples=25, deadline=None)
def test_the_loop_state_never_exceeds_fifty_lines_and_always_shows_the_latest_m30(steps):
    story = Story().start()
    for step in steps:
        if step == "restore":
            story.restore(Commit("base0000"))
        elif step == "hostile":
            story.judge(error="a\nb | c\n## Status", said=verdict(evidence="x\n" * 80))
        else:
            story.judge(held=step == "pass", error="E")
    page = of(story)["loop-state.md"]
    assert len(page.splitlines()) <= 50
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    assert sum(1 for s in steps if s != "restore") == story.state.iterations
    if steps:
        assert rows[-1].startswith(f"| {story.state.iterations} |")
    tables = [t for t in MarkdownIt("commonmark").enable("table").parse(page) if t.type == "tr_open"]
    assert len(tables) == len(rows) + 1


def test_old_rows_fold_into_one_that_keeps_their_totals_m30():
    story = Story().start()
    for number in range(40):
        story.judge(held=number % 2 == 0)
    page = of(story)["loop-state.md"]
    (folded,) = [line for line in page.splitlines() if "earlier rows" in line]
    assert folded == "| 1–14 | | 7 | 7 | 14 earlier rows; the journal has them all |"


@pytest.mark.req("M30")
def test_the_rows_of_a_plan_are_its_batches_and_not_the_iterations_of_their_lanes():
    story = Story().start().switch_to("2.1").iterate(held=True).switch_to("2.2").iterate(error="E")
    story.switch_to("main").judge(held=True).judge(error="F")
    page = of(story)["loop-state.md"]
    assert "**Iteration**: 2\n" in page
    assert [line.split(" | ")[1] for line in page.splitlines() if re.match(r"\| \d", line)] == ["RED", "RED"]
    assert "- Attempted: RED\n- Passed: \n- Failed: RED\n" in page


def test_the_monitor_prints_one_line_and_then_blockers_m32():
    assert verdict_lines(verdict()) == "Status: PROGRESSING | Recommendation: continue\n"
    blocker = {"id": "1.2", "type": "external", "description": "no key"}
    said = verdict("BLOCKED", recommendation="escalate", blockers=[blocker])
    assert verdict_lines(said) == "Status: BLOCKED | Recommendation: escalate\nBlockers: no key\n"


def test_criteria_are_boxes_that_are_ticked_when_the_task_has_left_qa():
    plan = of(Story().start())["plan.md"]
    assert "- [ ] **AC-1** rows are parsed" in plan
    assert "**Status:** APPROVED" in plan
    plan = of(short_tdd_run())["plan.md"]
    assert "- [x] **AC-1** rows are parsed" in plan
    assert "- [ ]" not in plan


def test_a_subtask_has_its_files_acceptance_and_dependencies_in_the_plan():
    item = Item("1.2", "parse", files=("a.py",), depends_on=("1.1",), acceptance=("rows",), kind="scaffold")
    story = Story(tdd_task(items=(item,))).start()
    assert (
        "- [ ] **1.2** parse — Files: `a.py` | Acceptance: rows | `depends_on: 1.1` | `scaffold: true`"
        in of(story)["plan.md"]
    )


def test_hostile_items_cannot_add_boxes_or_headings():
    item = Item("AC-1", "x\n- [x] **AC-2** done\n# Plan")
    plan = of(Story(tdd_task(items=(item,), request="# a\n## Tasks")).start())["plan.md"]
    assert len(re.findall(r"^- \[", plan, re.MULTILINE)) == 1
    assert len(re.findall(r"^#", plan, re.MULTILINE)) == 3


def test_the_context_is_short_and_says_the_most_useful_first():
    story = Story(tdd_task(request="r" * 5000)).start()
    for number in range(30):
        story.iterate(error="TypeError " + "e" * 400, missing=("m" * 400,) * 5)
        story.add(LearningRecorded(number + 1, "anti-pattern", "t" * 300))
    page = of(story.add(PersonSpoke("modify", "g" * 900)))["context.md"]
    assert len(page) <= LONGEST_CONTEXT
    assert page.index("## Current State") < page.index("## Ready Subtasks")
    assert "last failure: TypeError" in page


@pytest.mark.req("O10", "O41")
def test_the_context_leaves_out_what_was_undone_or_dropped():
    story = Story().start().add(LearningRecorded(1, "anti-pattern", "split on commas"))
    assert "- split on commas" in of(story)["context.md"]
    story.add(PersonSpoke("drop", "1"))
    assert "split on commas" not in of(story)["context.md"]


def test_the_context_names_the_subtask_whose_verdict_it_shows():
    story = Story().start().iterate(missing=("the whole",)).switch_to("2.1")
    story.iterate(missing=("a part",), said=verdict(evidence="one test less"))
    page = of(story)["context.md"]
    assert "- PROGRESSING: 2.1: one test less" in page
    assert "- missing: a part" in page
    story.add(Moved("GREEN", "RED", "both gates", lane="2.1"))
    assert "missing" not in of(story)["context.md"], "2.1 has left the stage that missed it"


DECISION = LearningRecorded(
    1,
    "decision",
    "Use the csv module",
    context="rows have quotes",
    choice="csv from the standard library",
    alternatives=("a regular expression",),
    consequences="quotes work",
    depends_on=("AC-1",),
    invalidated_if="rows have no quotes",
)


def test_a_decision_has_a_file_in_the_agreed_form_o40():
    files = of(Story().start().iterate().add(DECISION))
    page = files["learnings/001-use-csv-module.md"]
    assert page.startswith("# Decision 001: Use the csv module\n")
    for part in ("## Context", "## Choice", "## Alternatives Rejected", "## Consequences", "## Dependencies"):
        assert part in page
    assert "- a regular expression" in page
    assert "- Depends On: AC-1\n- Invalidated If: rows have no quotes" in page
    assert "**Date**: 2026-01-05" in page


@given(st.lists(st.text(max_size=300), max_size=40), st.text(max_size=3000))
@settings(max_examples=40, deadline=None)
def test_a_learning_never_exceeds_thirty_lines_o40(alternatives, text):
    fact = LearningRecorded(
        1, "decision", "x " + text, text, text, tuple(alternatives), text, tuple(alternatives), text
    )
    files = of(Story().start().iterate().add(fact))
    (page,) = [t for p, t in files.items() if p.startswith("learnings/")]
    assert len(page.split("\n")) <= 31
    assert "## Dependencies" in page
    assert re.search(r"## Alternatives Rejected\n- \S", page)


def test_of_a_learning_file_only_the_status_line_follows_what_became_of_it_o40():
    story = Story().start().iterate(held=True).add(DECISION)
    before = {p: t for p, t in of(story).items() if p.startswith("learnings/")}
    story.iterate().restore(Commit("base0000")).iterate().add(LearningRecorded(2, "anti-pattern", "use csv module"))
    after = of(story)
    (changed,) = [
        (old, new)
        for path, text in before.items()
        for old, new in zip(text.split("\n"), after[path].split("\n"), strict=True)
        if old != new
    ]
    assert changed == (
        "**Status**: DECISION (proposed)",
        "**Status**: DECISION (undone: the work was taken back to base0000)",
    )
    assert after["learnings/002-use-csv-module.md"].startswith("# Anti-Pattern 002")
    assert "**Status**: ANTI-PATTERN" in after["learnings/002-use-csv-module.md"]


def test_files_of_learnings_link_to_what_they_supersede_both_ways_o40():
    newer = replace(
        DECISION,
        number=2,
        title="Use JSON",
        choice="lines of JSON",
        supersedes=("001",),
        files=("rows.py",),
        item="AC-1",
    )
    story = Story().start().iterate(held=True, signal=True).add(DECISION, newer)
    assert "SUPERSEDED" not in of(story)["learnings/001-use-csv-module.md"], "not before it is kept"
    files = of(story.leave("GREEN"))
    assert "**Status**: SUPERSEDED by 007-parse-rows/2" in files["learnings/001-use-csv-module.md"]
    page = files["learnings/002-use-json.md"]
    assert "**Status**: DECISION (kept: accepted with RED)" in page
    assert "**About**: AC-1, `rows.py`\n**Supersedes**: 001\n" in page
    assert "- Invalidated If: rows have no quotes" in page


def test_the_report_is_there_when_the_task_stops_or_closes():
    story = Story().start()
    assert "report.md" not in of(story)
    assert "report.md" in of(story.add(TaskStopped("paused", "by a person")))
    closing = Story().start().add()
    for following in ("GREEN", "REFACTOR", "DOCUMENT", "QA", "SHIP"):
        closing.iterate(held=True, signal=True).leave(following)
    assert "Closing: gates passed." in of(closing)["report.md"]


@pytest.mark.req("O3", "O61")
def test_the_report_that_is_saved_to_the_branch_is_the_last_one_whatever_was_rendered_before():
    story = Story().start().iterate()
    (save,) = ship(story.state, story.state.main, "2 issues completed").effects
    assert "report.md" not in of(story)
    story.add(Begun(save))
    assert shows(story.events[-1]), "it must be in the tree before the tree is saved"
    told = of(story)["report.md"]
    assert "**Done: gates passed.**" in told
    assert "- Decision: DONE: 2 issues completed; the work is on branch flyball/" in told
    assert "git merge flyball/" in told
    assert read(story, "loop-state.json")["status"] == "running", "nothing else says so before it is true"


@pytest.mark.req("C71")
def test_loop_state_json_has_every_field_of_the_schema():
    story = short_tdd_run()
    shown = read(story, "loop-state.json")
    assert set(shown) >= {
        "session_id", "prp_file", "started_at", "current_phase", "current_iteration", "green_model", "last_activity",
        "status", "halt_reason", "pause_reason", "paused_at", "resumed_at", "completed_at", "phases_completed",
        "phase_history", "error_history", "total_agent_calls",
    }  # fmt: skip
    assert shown["prp_file"] == "docs/rows.md"
    assert shown["status"] == "completed"
    assert datetime.fromisoformat(shown["completed_at"]).utcoffset() == timedelta(0)
    assert shown["phases_completed"] == ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"]
    assert set(shown["phase_history"]["GREEN"]) >= {"started_at", "completed_at", "iterations", "exit_reason"}
    assert shown["phase_history"]["GREEN"]["iterations"] == 2
    assert shown["error_history"][0]["error"] == "TypeError in parse_row"
    assert set(shown["error_history"][0]) == {"timestamp", "phase", "iteration", "error", "hash"}
    assert shown["total_agent_calls"] == 6


@pytest.mark.req("C71")
def test_the_session_id_is_a_uuid_that_never_changes():
    story = Story()
    first = read(story, "loop-state.json")["session_id"]
    assert str(uuid.UUID(first)) == first
    assert uuid.UUID(first).version == 5
    assert read(story.start().iterate(), "loop-state.json")["session_id"] == first


@pytest.mark.req("C71")
def test_a_halted_and_a_paused_task_say_why_and_since_when():
    story = Story().start().iterate()
    blocked = read(story.add(TaskStopped("blocked", "stuck")), "loop-state.json")
    assert (blocked["status"], blocked["halt_reason"], blocked["pause_reason"]) == ("halted", "stuck", None)
    story = Story().start()
    paused = read(story.add(Held("hourly", "100 of 100 calls", story.at)), "loop-state.json")
    assert (paused["status"], paused["pause_reason"]) == ("paused", "100 of 100 calls")
    assert paused["paused_at"] is not None


@pytest.mark.req("C71")
def test_a_phase_entered_again_goes_on_counting():
    story = Story().start().iterate(held=True, signal=True).leave("GREEN").iterate().iterate(held=True, signal=True)
    story.leave("QA").iterate().leave("GREEN", reason="rejected").iterate()
    history = read(story, "loop-state.json")["phase_history"]
    assert history["GREEN"]["iterations"] == 3
    assert history["GREEN"]["completed_at"] is None


@pytest.mark.req("C71")
def test_circuit_breaker_json_counts_what_its_reason_names_through_all_contexts():
    story = Story().start()
    for _ in range(3):
        story.iterate(breaker=Breaker("HALF_OPEN", 1, 1, "abc"))
    story.iterate(breaker=Breaker("OPEN", 1, 1, "abc", "same error 4x"))
    assert read(story, "circuit-breaker.json")["same_error_count"] == 4


@pytest.mark.req("C71")
def test_circuit_breaker_json_has_every_field_and_its_history():
    story = Story().start().iterate(progress=True, values={"tests_passing": 3})
    story.iterate(breaker=Breaker("OPEN", 3, 2, "abc", "no progress in 3 iterations"))
    shown = read(story, "circuit-breaker.json")
    assert shown["state"] == "OPEN"
    assert (shown["no_progress_count"], shown["same_error_count"], shown["last_error_hash"]) == (3, 2, "abc")
    assert shown["last_progress_metric"] == {"RED": {"tests_passing": 3}}
    assert shown["open_reason"] == "no progress in 3 iterations"
    assert datetime.fromisoformat(shown["opened_at"]) == story.at
    assert [e["event"] for e in shown["history"]] == ["progress", "state_change"]
    assert set(shown["history"][0]) == {"timestamp", "event", "from_state", "to_state", "reason"}


@pytest.mark.req("C71")
def test_circuit_breaker_json_is_of_the_subtask_that_is_nearest_to_being_stopped():
    story = Story().start().iterate(progress=True, values={"tests_passing": 3}).switch_to("2.1")
    story.iterate(breaker=Breaker("OPEN", 3, 2, "abc", "no progress in 3 iterations"))
    opened_at = story.at
    story.switch_to("2.2").iterate(progress=True, values={"tests_passing": 5})
    shown = read(story, "circuit-breaker.json")
    assert (shown["lane"], shown["state"], shown["no_progress_count"]) == ("2.1", "OPEN", 3)
    assert datetime.fromisoformat(shown["opened_at"]) == opened_at
    assert shown["last_progress_metric"] == {}
    assert [event.get("lane") for event in shown["history"]] == [None, "2.1", "2.2"]


@pytest.mark.req("C71")
def test_a_hold_of_another_lane_is_not_told_as_the_tasks_own():
    story = Story().start().iterate().add(LaneOpened("a", "RED", Commit("base0000")))
    story.add(Held("hourly", "100 of 100 calls", story.at))
    held_at = story.at
    story.add(Held("crash", "it crashed", story.at, lane="a"))
    assert datetime.fromisoformat(read(story, "loop-state.json")["paused_at"]) == held_at
    assert datetime.fromisoformat(read(story, "rate-limit.json")["paused_at"]) == held_at


@pytest.mark.req("C71")
def test_rate_limit_json_shows_the_hour_and_the_provider():
    story = Story().start().turn(kind="usage_limit")
    until = story.at + timedelta(hours=2)
    story.add(LimitHit("scripted", "usage_limit", until))
    hit_at = story.at
    shown = read(story.add(Held("provider", "limit", until)), "rate-limit.json")
    assert shown["hourly"]["calls_made"] == 1
    assert shown["hourly"]["limit"] == 100
    start, reset = (datetime.fromisoformat(shown["hourly"][k]) for k in ("window_start", "next_reset"))
    assert reset - start == timedelta(hours=1)
    provider = shown["anthropic_5h"]
    assert (provider["detected"], provider["waiting"]) == (True, True)
    assert datetime.fromisoformat(provider["resume_at"]) == until
    assert datetime.fromisoformat(provider["detected_at"]) == hit_at
    assert (shown["paused"], shown["pause_reason"]) == (True, "limit")
    story.at = until
    later = read(story.turn(), "rate-limit.json")
    assert (later["anthropic_5h"]["detected"], later["paused"]) == (False, False)


@pytest.mark.req("C71")
def test_rate_limit_json_shows_the_wait_of_subtasks_since_it_began():
    story = Story().start().switch_to("2.1")
    until = story.at + timedelta(hours=3)
    story.add(Held("provider", "usage limit", until, lane="2.1"))
    since = story.at
    story.switch_to("2.2").add(Held("provider", "usage limit", until + timedelta(hours=1), lane="2.2"))
    shown = read(story, "rate-limit.json")
    assert shown["anthropic_5h"]["waiting"]
    assert (shown["paused"], shown["pause_reason"]) == (True, "usage limit")
    assert datetime.fromisoformat(shown["paused_at"]) == since
    paused = read(story, "loop-state.json")
    assert (paused["status"], datetime.fromisoformat(paused["paused_at"])) == ("paused", since)


@pytest.mark.req("C71")
def test_dual_gate_json_names_the_lane_whose_gates_it_shows():
    story = Story().start().iterate()
    assert read(story, "dual-gate.json")["lane"] == "main"
    assert read(story.switch_to("2.1").iterate(), "dual-gate.json")["lane"] == "2.1"


@pytest.mark.req("C71")
def test_dual_gate_json_shows_both_gates_and_where_the_signal_came_from():
    shown = read(short_tdd_run(), "dual-gate.json")
    assert (shown["phase"], shown["iteration"], shown["can_exit"]) == ("QA", 1, True)
    assert set(shown["gate_1"]) >= {"satisfied", "condition", "values"}
    assert shown["gate_1"]["values"]["verdict"] == "APPROVE"
    assert shown["gate_2"] == {"satisfied": True, "source": "fenced-block"}
    assert shown["timestamp"] == shown["evaluated_at"] is not None


def test_the_same_facts_give_the_same_bytes():
    assert of(short_tdd_run()) == of(short_tdd_run())


def test_a_measurement_without_any_number_renders():
    story = Story().start(baseline=Measurement("base0000", "t")).iterate(Measurement("c", "t"))
    assert set(of(story.add(TaskStopped("paused", "by a person")))) >= {*ALWAYS, "report.md"}


def test_a_name_between_backticks_stays_one_in_the_plan():
    item = Item("1.1", "write `Receipt`", acceptance=("`Receipt` says `a*b`",))
    assert (
        "write `Receipt` — Acceptance: `Receipt` says \\`a\\*b\\`"
        in of(Story(tdd_task(items=(item,))).start())["plan.md"]
    )
