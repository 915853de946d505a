"""The object of `status --json`."""

import json

import msgspec
import pytest
from tests.support.builders import Story, measurement, short_tdd_run, tdd_task, two_lanes_asking, verdict

from flyball.core.health.breaker import Breaker
from flyball.core.loop.opening import ANEW
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import Held, ItemChanged, ItemsSet, PersonSpoke, TaskStopped
from flyball.core.model.measurement import Coverage
from flyball.core.model.task import AgentChoice, EffectId, Item, Limits, Settings
from flyball.projections.files.loop_files import render
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import markdown
from flyball.projections.views.standing import next_command, running_state, stuck, task_status
from flyball.projections.views.status import Status, status

PROMISED = {
    "task", "workflow", "stage", "decision", "reason", "health", "iterations", "turns", "branch", "head", "checkpoints",
    "questions", "breaker", "usage", "started_at", "updated_at", "subtasks",
}  # fmt: skip
FOUR = tuple(Option(key, "") for key in ("reset", "skip", "abort", "modify"))


def of(story: Story) -> Status:
    return status(story.state, TaskHistory(story.events))


def test_every_promised_field_is_there_even_for_a_task_just_opened():
    shown = json.loads(msgspec.json.encode(of(Story())))
    assert set(shown) >= PROMISED
    assert set(shown["breaker"]) >= {"state", "no_progress", "same_error"}
    assert set(shown["usage"]) >= {"input_tokens", "output_tokens", "usd"}
    assert shown["usage"]["input_tokens"] == 0
    assert (shown["decision"], shown["health"], shown["state"]) == ("CONTINUE", "INITIALIZING", "RUNNING")


def test_a_finished_run_is_shown_as_done_with_what_it_cost():
    shown = of(short_tdd_run())
    assert (shown.decision, shown.state, shown.stage) == ("DONE", "DONE", "SHIP")
    assert shown.progress_percent == 100
    assert shown.usage.input_tokens == 6000
    assert shown.usage.usd == pytest.approx(0.3)
    assert shown.head == shown.checkpoints[-1].sha
    assert shown.false_claims == 1
    assert shown.next_command == "git merge flyball/007-parse-rows"
    assert shown.updated_at > shown.started_at


@pytest.mark.req("C50")
def test_a_check_that_was_not_made_is_shown_as_unverified():
    assert [u.name for u in of(short_tdd_run()).unverified] == ["changelog"]


@pytest.mark.req("O60")
@pytest.mark.req("C50")
def test_a_failed_check_that_does_not_block_is_named():
    story = short_tdd_run()
    assert [(w.name, w.detail) for w in of(story).warnings] == [("duplication", "7 %")]


def test_every_subtask_has_its_live_state():
    story = Story().start()
    assert {s.state for s in of(story).subtasks} == {"not-started"}
    story.turn()
    assert [(s.id, s.state) for s in of(story).subtasks] == [("AC-1", "in-progress"), ("AC-2", "in-progress")]
    assert {s.state for s in of(short_tdd_run()).subtasks} == {"completed"}


@pytest.mark.req("O60")
def test_a_recorded_state_of_a_subtask_stands():
    story = Story().start().add(ItemChanged("AC-2", "completed"))
    assert [s.state for s in of(story).subtasks] == ["not-started", "completed"]


@pytest.mark.req("C22")
def test_a_skipped_stage_is_shown_as_forced_and_its_criteria_are_never_completed():
    story = (
        Story().start().iterate(held=True, signal=True).leave("GREEN").leave("REFACTOR", reason="skipped", forced=True)
    )
    for following in ("DOCUMENT", "QA", "SHIP"):
        story.iterate(held=True, signal=True).leave(following)
    shown = of(story.ship())
    assert [f.stage for f in shown.forced] == ["GREEN"]
    assert {s.state for s in shown.subtasks} == {"in-progress"}


def test_open_questions_carry_all_a_person_needs():
    question = Question("q", "Which format?", (Option("csv", "commas"),), default="csv", detail="seen: both")
    story = Story().start().ask(question)
    (shown,) = of(story).questions
    assert (shown.id, shown.text, shown.default, shown.asked_at) == ("ask/1", "Which format?", "csv", story.at)
    assert shown.options[0].key == "csv"
    assert shown.detail == "seen: both"


def test_health_and_reason_are_those_of_the_subtask_that_is_stuck_and_name_it():
    open_breaker = Breaker("OPEN", 3, reason="it repeats")
    story = Story().start().switch_to("2.1")
    story.iterate(error="E", breaker=open_breaker, said=verdict("STALLED", evidence="the same error 3 times"))
    story.switch_to("2.2").iterate(held=True, said=verdict(evidence="one test more passes"))
    shown = of(story)
    assert (shown.health, shown.reason) == ("STALLED", "2.1: the same error 3 times")
    page = render(story.state, TaskHistory(story.events))["loop-state.md"]
    assert "**Status**: STALLED" in page
    assert "- Consecutive failures: 1\n" in page
    assert "- STALLED: 2.1: the same error 3 times" in render(story.state, TaskHistory(story.events))["context.md"]
    story.add(PersonSpoke("reset", lane="2.1"))
    assert of(story).reason == "2.2: one test more passes"


@pytest.mark.req("M22")
def test_a_loop_that_is_not_progressing_is_never_said_not_to_be_stuck():
    story = Story().start().iterate(error="E", said=verdict("STALLED"), rung="fresh-context")
    tried = ("STALLED", "nearly: fresh-context is tried")
    assert (of(story).health, stuck(story.state, TaskHistory(story.events))) == tried
    story.leave("GREEN")
    assert (of(story).health, stuck(story.state, TaskHistory(story.events))) == tried, "until it is judged again"
    crashed = Story().start().iterate(breaker=Breaker("CLOSED", 1, 1)).add(TaskStopped("blocked", "the agent crashed"))
    assert stuck(crashed.state, TaskHistory(crashed.events)) == "yes, blocked"


def test_a_loop_that_waits_for_a_guard_says_until_when():
    story = Story().start()
    story.add(Held("provider", "scripted: usage limit", story.at))
    shown = of(story)
    assert shown.state == "WAITING"
    assert shown.held is not None
    assert shown.held.guard == "provider"
    assert shown.reason == "scripted: usage limit"
    assert of(story.turn()).held is None


@pytest.mark.parametrize(
    ("kind", "state", "decision"),
    [
        ("done", "completed", "DONE"),
        ("blocked", "halted", "BLOCKED"),
        ("aborted", "halted", "BLOCKED"),
        ("error", "halted", "BLOCKED"),
        ("limit", "paused", "CONTINUE"),
        ("paused", "paused", "CONTINUE"),
        ("interrupted", "paused", "CONTINUE"),
        ("no_agent", "paused", "BLOCKED"),
    ],
)
def test_every_way_of_stopping_has_its_state_and_decision(kind, state, decision):
    story = Story().start().add(TaskStopped(kind, "because"))
    assert (running_state(story.state), story.state.decision) == (state, decision)
    assert of(story).reason == "because"


@pytest.mark.req("O2")
def test_the_word_in_a_list_is_derived_from_the_facts():
    attended = Settings(roles={"default": AgentChoice("scripted")}, attended=True)
    story = Story(tdd_task(items=(), settings=attended))
    assert task_status(story.state) == "DRAFT"
    story.start().add(ItemsSet((Item("AC-1", "x"),), "planner"))
    assert task_status(story.state) == "DRAFT"
    story.add(ItemsSet((Item("AC-1", "x"),), "person"))
    assert task_status(story.state) == "APPROVED"
    assert task_status(story.turn().state) == "IN_PROGRESS"
    assert task_status(story.add(TaskStopped("blocked", "stuck")).state) == "BLOCKED"
    assert task_status(short_tdd_run().state) == "COMPLETE"
    assert task_status(Story().start().state) == "APPROVED"


def test_the_next_command_fits_how_it_stopped():
    story = Story().start()
    task = story.state.task.id
    assert next_command(story.state) == ""
    assert next_command(story.add(TaskStopped("paused", "x")).state) == f"flyball resume {task}"
    asked = Story().start().ask(Question("breaker", "stuck", FOUR))
    assert (
        next_command(asked.add(TaskStopped("blocked", "stuck", (), EffectId("ask/1"))).state) == f"flyball reset {task}"
    )
    asked = Story().start().ask(Question("criteria", "right?", (Option("yes", ""),)))
    stopped = asked.add(TaskStopped("blocked", "right?", (), EffectId("ask/1")))
    assert next_command(stopped.state) == f"flyball answer {task} ask/1 yes"


def test_the_next_command_is_the_one_that_the_reason_names():
    allowing = Story().start().add(TaskStopped("blocked", "refused. If needed: flyball resume 007 --may-change 'a b'"))
    assert next_command(allowing.state).endswith("flyball resume 007-parse-rows --may-change 'a b'")
    unfit = Story().start().add(TaskStopped("blocked", f"the gate test cannot run; correct it and type: {ANEW}"))
    assert next_command(unfit.state) == "flyball trust"


def test_where_two_lanes_ask_the_next_command_answers_one_of_them():
    blocked = TaskStopped("blocked", "stuck", (), EffectId("2.2/ask/1"))
    story = two_lanes_asking(Question("breaker", "stuck", FOUR)).add(blocked)
    assert next_command(story.state) == f"flyball answer {story.state.task.id} 2.2/ask/1 reset"


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        (Limits(max_iterations=1), " --max-iterations 10"),
        (Limits(max_turns=1), " --max-turns 10"),
        (Limits(max_hours=0.01), " --max-hours 1"),
        (Limits(budget_usd=0.05), " --budget-usd 1"),
        (Limits(budget_tokens=1100), " --budget-tokens 100000"),
        (Limits(), ""),
    ],
)
def test_the_next_command_raises_the_limit_that_was_reached(limits: Limits, option: str):
    settings = Settings(roles={"default": AgentChoice("scripted")}, limits=limits)
    stopped = Story(tdd_task(settings=settings)).start().iterate().add(TaskStopped("limit", "whatever the words"))
    assert next_command(stopped.state) == f"flyball resume {stopped.state.task.id}{option}"


def test_the_next_command_raises_the_limit_that_a_workflow_sets_itself():
    story = Story(msgspec.structs.replace(tdd_task(), workflow="track"), "EXECUTE")
    stopped = story.add(TaskStopped("limit", "whatever the words")).state
    assert next_command(stopped) == f"flyball resume {stopped.task.id}"
    spent = msgspec.structs.replace(stopped, iterations=50)
    assert next_command(spent) == f"flyball resume {stopped.task.id} --max-iterations 100"


def test_the_breaker_is_shown_with_both_counters():
    shown = of(Story().start().iterate(breaker=Breaker("HALF_OPEN", 2, 1, reason="no progress")))
    assert (shown.breaker.state, shown.breaker.no_progress, shown.breaker.same_error) == ("HALF_OPEN", 2, 1)


def test_every_limit_of_the_loop_is_shown():
    settings = Settings(roles={"default": AgentChoice("scripted")}, limits=Limits(max_cycles=7))
    shown = msgspec.to_builtins(of(Story(tdd_task(settings=settings)).start()).limits)
    assert shown["max_cycles"] == 7
    assert {name for name in Limits.__struct_fields__ if name.startswith(("max_", "budget_"))} <= set(shown)


@pytest.mark.req("C31")
def test_measured_coverage_is_shown_and_without_it_nothing_is():
    story = Story().start()
    assert of(story).coverage is None
    covered = msgspec.structs.replace(measurement("c"), coverage=Coverage(120, 90, 4, 3))
    shown = of(story.turn().measure(covered)).coverage
    assert str(shown) == "75.0 % of 120 lines, 75.0 % of 4 changed lines"
    untouched = msgspec.structs.replace(covered, coverage=Coverage(120, 90))
    assert str(of(story.turn().measure(untouched)).coverage) == "75.0 % of 120 lines; none of them was changed"
    said = markdown(report(story.state, TaskHistory(story.events)))
    assert "coverage 75.0 % of 120 lines" in said
