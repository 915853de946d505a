"""Home, task and report as values: what needs a person first, and nothing that nobody measured."""

import re
from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, measurement, short_tdd_run, tdd_task

from flyball.core.claims.values import Claim
from flyball.core.health.breaker import Breaker
from flyball.core.model.effects import Option, Question, Save
from flyball.core.model.events import Begun, Held, TaskStopped
from flyball.core.model.outcomes import DayCounted, Usage
from flyball.core.model.task import Commit, EffectId, Limits
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.pages.home import home_page
from flyball.projections.pages.report_page import report_page
from flyball.projections.pages.subtasks import rail
from flyball.projections.pages.summary import Known, Place, Summary, summarize
from flyball.projections.pages.task_page import iterations_shown, task_page
from flyball.projections.views.situation import Seen
from flyball.projections.views.standing import stuck

QUESTION = Question(
    "rounding", "Which rounding?", (Option("half-even", "as banks do"), Option("TEXT", "")), "half-even"
)
PLACE = Place("ledger-1", "ledger")


def known(story: Story, *, controlled: bool = True, merged: str = "", later_s: float = 60) -> Known:
    history = TaskHistory(story.events)
    return Known(PLACE, story.state, history, (), Seen(controlled, merged), story.at + timedelta(seconds=later_s))


def asking(**changes: object) -> Story:
    return Story().start().ask(replace(QUESTION, **changes))


def stopped(kind: str, reason: str = "so it is") -> Story:
    return Story().start().iterate().add(TaskStopped(kind, reason))  # type: ignore[arg-type]


CASES = {
    "RUNNING": (Story().start, {}, "RED 1 · between steps", "under way"),
    "NEEDS YOU": (asking, {}, "ask/1 waits for you", "needs"),
    "PAUSED": (lambda: stopped("paused", "paused by a person"), {}, "paused by a person", "under way"),
    "DONE": (short_tdd_run, {}, "check changelog was not made; 12 passed, 0 failed", "finished"),
    "MERGED": (short_tdd_run, {"merged": "main"}, "merged into main", "finished"),
    "BLOCKED": (lambda: stopped("blocked", "every remedy was tried"), {}, "every remedy was tried", "needs"),
    "LIMIT": (lambda: stopped("limit", "the budget is used up"), {}, "the budget is used up", "needs"),
    "ABORTED": (lambda: stopped("aborted"), {}, "by a person after 1 iteration; 2 checkpoints stay", "finished"),
    "LOST CONTACT": (Story().start, {"controlled": False}, "the journal is safe", "needs"),
}


@pytest.mark.parametrize("word", CASES)
def test_each_state_has_its_word_its_line_and_its_group(word: str) -> None:
    make, around, line, group = CASES[word]
    shown = summarize(known(make(), **around))  # type: ignore[arg-type]
    assert shown.word == word
    assert shown.chips[0].word == word
    assert line in shown.line
    assert "flyball " not in shown.line, "a command stands on a line of its own"
    assert shown.group == group


def test_the_next_command_stands_apart_from_the_sentence() -> None:
    commands = {word: summarize(known(make(), **around)).command for word, (make, around, _, _) in CASES.items()}  # type: ignore[arg-type]
    assert commands["RUNNING"] == ""
    assert commands["PAUSED"] == commands["LOST CONTACT"] == "flyball resume 007-parse-rows"
    assert commands["DONE"] == "git merge flyball/007-parse-rows"


def test_nothing_is_said_to_run_in_a_task_that_stopped_or_that_nobody_controls() -> None:
    story = Story().start().iterate(failing=("a::b",))
    words = {item.chip.word for item in task_page(known(story)).items}
    assert "running" in words
    for still in (known(story, controlled=False), known(stopped("paused"))):
        assert "running" not in {item.chip.word for item in task_page(still).items}


def test_a_wait_says_for_what_and_until_when() -> None:
    story = Story().start()
    story.add(Held("provider", "usage limit of claude", story.at + timedelta(hours=1)))
    shown = summarize(known(story))
    assert shown.chips[0].word == "WAITING"
    assert shown.chips[0].detail == "until 10:00"
    assert "usage limit of claude; no call is made before then" in shown.line


def test_every_state_has_a_glyph_of_its_own() -> None:
    from flyball.projections.pages.chips import STATES
    from flyball.projections.views.situation import WORDS

    assert set(STATES) == set(WORDS)
    assert len({glyph for glyph, _ in STATES.values()}) == len(WORDS)


def test_home_puts_the_nearest_deadline_first_then_what_stopped_longest_and_shows_no_task_twice() -> None:
    now = Story().at + timedelta(days=1)
    soon = summarize(known(asking(deadline_at=now + timedelta(minutes=40))))
    later = summarize(known(asking(deadline_at=now + timedelta(hours=4))))
    old, new = (summarize(known(stopped("blocked"))) for _ in range(2))
    new = replace(new, since=new.since + timedelta(hours=3))
    tasks: list[Summary] = [new, later, summarize(known(short_tdd_run())), old, soon, summarize(known(Story().start()))]
    page = home_page(tasks, now, today=DayCounted(now).plus(Usage(1000, 234, 9.31)))
    assert page.heading == "4 tasks need you"
    assert page.needs == (soon, later, old, new)
    assert len(page.under_way) == 1
    assert len(page.finished) == 1
    assert page.sentence == "1 task runs. Spent today: 9.31 USD, 1,234 tokens in 1 repository."


def test_home_without_a_task_and_without_a_need_says_so() -> None:
    empty = home_page((), Story().at)
    assert (empty.heading, empty.sentence) == ("Nothing needs you", "No task runs in any repository on this machine.")
    calm = home_page([summarize(known(Story().start()))], Story().at)
    assert calm.heading == "Nothing needs you"


def test_a_budget_that_is_nearly_gone_needs_somebody() -> None:
    task = tdd_task()
    task = replace(task, settings=replace(task.settings, limits=Limits(budget_usd=0.052)))
    shown = summarize(known(Story(task).start().iterate()))
    assert shown.group == "needs"
    assert "nearly gone" in shown.headline


def test_unknown_money_is_a_dash_and_never_nothing() -> None:
    from flyball.core.model.outcomes import Usage

    story = Story().start()
    story.turn(usage=Usage(10, 1))
    figures = {figure.name: figure for figure in task_page(known(story)).figures}
    assert figures["Spent"].value == "–"
    assert figures["Spent"].note == "agent reports none"
    assert figures["Failing tests"].value == "–"


def test_a_task_page_has_figures_rail_plots_and_iterations_with_their_change() -> None:
    story = Story().start()
    story.iterate(failing=("a::b", "a::c"), missing=("fails: a::b",))
    story.iterate(failing=("a::b",), breaker=Breaker("HALF_OPEN", 2, 1))
    page = task_page(known(story))
    figures = {figure.name: figure for figure in page.figures}
    assert (figures["Failing tests"].value, figures["Failing tests"].note) == ("1", "of 12; was 2")
    assert figures["Stuck"].value == "nearly"
    assert figures["Stuck"].gauge is not None
    assert figures["Stuck"].gauge > 60
    story.switch_to("2.1").iterate(breaker=Breaker("OPEN", 3))
    figures = {figure.name: figure for figure in task_page(known(story)).figures}
    assert (figures["Stuck"].value, figures["Stuck"].note) == ("yes", "3 of 3 iterations without progress in 2.1")
    assert page.failing is not None
    assert len(page.failing.pictures) == 3
    assert [row.delta for row in page.iterations] == ["−1", ""]
    assert page.rail_words.name == "RED, stage 1 of 6"


def test_before_the_first_verdict_there_is_no_plot_and_no_number() -> None:
    page = task_page(known(Story()))
    assert page.failing is None
    assert page.course is None
    assert page.figures[0].value == "–"


def test_only_what_went_wrong_leaves_out_what_is_healthy() -> None:
    story = Story().start().iterate().iterate(restore_to=Commit("base0000"))
    rows = iterations_shown(TaskHistory(story.events), only_wrong=True)
    assert [row.verdict.word for row in rows] == ["rolled back"]
    assert rows[0].delta == "back"


def test_a_skipped_stage_is_marked_on_the_rail_and_stands_first_in_what_is_told() -> None:
    story = Story().start().iterate().leave("GREEN", forced=True, reason="a person skipped it")
    stops = {stop.name: stop for stop in rail(story.state)}
    assert stops["RED"].detail == "skipped, unverified"
    done = story.iterate(held=True, signal=True).leave("REFACTOR").iterate(held=True, signal=True).leave("DOCUMENT")
    done.iterate(held=True, signal=True).leave("QA").iterate(held=True, signal=True).leave("SHIP").ship()
    assert summarize(known(done)).line.startswith("RED skipped, unverified")


def test_the_report_page_holds_what_was_done_verified_claimed_and_left() -> None:
    page = report_page(known(short_tdd_run()))
    assert page.summary.chips[0].word == "DONE"
    assert page.report.next_command == "git merge flyball/007-parse-rows"
    assert page.figures[3].value == "1"
    assert [item.id for item in page.items] == ["AC-1", "AC-2"]
    assert page.sentence.startswith("Check changelog was not made")
    assert isinstance(page.summary.status.request, str)


def test_a_summary_reads_a_state_of_any_workflow() -> None:
    from flyball.core.workflows.registry import WORKFLOWS

    for workflow in WORKFLOWS.values():
        task = replace(tdd_task(), workflow=workflow.name)
        page = task_page(known(Story(task, workflow.stages[0])))
        assert page.rail[0].name == workflow.stages[0]


def test_tests_that_failed_before_the_task_and_still_do_are_told_wherever_failing_tests_are() -> None:
    story = Story().start(baseline=measurement("base0000", total=4, known_failing=3))
    story.iterate(measurement("c1", total=4, known_failing=1), held=True, signal=True).ship()
    page, made = task_page(known(story)), report_page(known(story))
    tile = page.figures[0]
    assert (tile.value, tile.of, tile.note) == ("0", "new", "1 known failing since before the task; of 4")
    for shown in (page, made):
        assert shown.failing
        assert "0 now; 1 of 3 tests that failed before the task still fails." in shown.failing.story
        assert [weak.text for weak in shown.weaknesses] == ["1 test fails that failed before the task"]
    assert "3 passed, 0 failed, 1 known failing" in page.summary.line


def test_a_review_by_the_author_weakens_the_result() -> None:
    story = Story(tdd_task(), stage="GREEN").start()
    story.turn(Claim(), model="claude-opus-5-5").leave("QA").turn(Claim(verdict="pass"), model="opus")
    (told,) = (weak.text for weak in report_page(known(story)).weaknesses)
    assert told == "QA, turn 2, qa: the author reviewed its own work"
    for _ in range(3):
        story.turn(Claim(verdict="pass"), model="opus")
    (told,) = (weak.text for weak in report_page(known(story)).weaknesses)
    assert told == "QA, turn 2, qa; QA, turn 3, qa and 2 more turns: the author reviewed its own work"
    assert task_page(known(story)).weaknesses == report_page(known(story)).weaknesses


@pytest.mark.parametrize(
    "breaker", [Breaker(), Breaker("CLOSED", 1, 1), Breaker("HALF_OPEN", 2, 1), Breaker("OPEN", 3, reason="it repeats")]
)
def test_the_page_and_the_terminal_say_stuck_in_the_same_words(breaker: Breaker) -> None:
    story = Story().start().iterate(breaker=breaker)
    shown = next(figure.value for figure in task_page(known(story)).figures if figure.name == "Stuck")
    assert re.match(rf"{shown}(?=$|[:,])", stuck(story.state, TaskHistory(story.events)))


def test_failing_tests_are_counted_in_one_lane_which_is_named() -> None:
    story = Story().start().switch_to("2.1").iterate(failing=("a", "b", "c")).switch_to("2.2").iterate(failing=("d",))
    story.switch_to("2.1").iterate(failing=("a",))
    page = task_page(known(story))
    figures = {figure.name: figure for figure in page.figures}
    assert (figures["Failing tests"].value, figures["Failing tests"].note) == ("1", "of 12 in 2.1; was 3")
    assert page.failing is not None
    assert page.failing.story.startswith("3 failing at the start of 2.1, 1 now.")
    assert "1 test fails in 2.1" in page.sentence
    assert (page.summary.failing, page.summary.failing_was) == (1, 3)


def test_what_happens_now_is_told_with_the_place_of_its_lane() -> None:
    story = Story().start().switch_to("2.1").iterate().turn()
    story.add(Begun(Save(story.lane.effect_id("save/x"), "x", "x", Commit("base0000"), lane="2.1")))
    assert summarize(known(story)).line.startswith("2.1: RED 2 · save")


@pytest.mark.req("V9")
def test_a_failure_that_repeats_is_told_once_on_the_page_of_a_blocked_task() -> None:
    sentence = "GREEN makes no progress: the same failure 2x"
    story = Story().start()
    for _ in range(12):
        story.iterate(signal=True, error="E", missing=("fails: test_a",))
    story.ask(Question("breaker", sentence, detail="the same failure 2x\nfails: test_a"))
    story.add(TaskStopped("blocked", sentence, question=EffectId("ask/1")))
    page = task_page(known(story, controlled=False))
    assert (page.decision, page.sentence) == ("BLOCKED", "ask/1 waits for your answer.")
    assert page.summary.status.questions[0].detail == "fails: test_a"
    told = [row.evidence for row in page.iterations]
    assert (told[0], set(told[1:])) == ("says done; measured: fails: test_a", {"the same as 12"})
