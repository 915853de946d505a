"""One word for what is the case with a task, from its facts, its lease and its branch."""

from datetime import timedelta

import pytest
from tests.core.loop.test_loop_fuzzed import Fuzz
from tests.support.builders import Story, short_tdd_run

from flyball.core.fold.evolve import evolve
from flyball.core.model.effects import Option, Question, Wait
from flyball.core.model.events import Begun, Ended, Fact, Held, SessionStarted, TaskStopped, TurnSetAside, WindowOpened
from flyball.core.model.outcomes import Waited
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.lanes import hold_of
from flyball.projections.views.situation import WORDS, Seen, Word, sentence, situation
from flyball.projections.views.standing import health, running_state
from flyball.projections.views.status import status

HERE, GONE, MERGED = Seen(), Seen(controlled=False), Seen(controlled=False, merged_into="main")

# What each word may stand beside: the decision, and the word of loop-state.json.
COMPATIBLE: dict[Word, tuple[set[str], set[str]]] = {
    "RUNNING": ({"CONTINUE"}, {"running", "paused"}),
    "NEEDS YOU": ({"CONTINUE"}, {"running", "paused"}),
    "WAITING": ({"CONTINUE"}, {"paused"}),
    "LOST CONTACT": ({"CONTINUE"}, {"running", "paused"}),
    "PAUSED": ({"CONTINUE"}, {"paused"}),
    "LIMIT": ({"CONTINUE"}, {"paused"}),
    "DONE": ({"DONE"}, {"completed"}),
    "MERGED": ({"DONE"}, {"completed"}),
    "BLOCKED": ({"BLOCKED"}, {"halted", "paused"}),
    "ABORTED": ({"BLOCKED"}, {"halted"}),
}


@pytest.mark.req("C68")
@pytest.mark.parametrize("seed", range(25))
def test_in_every_reachable_situation_one_word_fits_and_contradicts_neither_decision_nor_health(seed: int):
    fuzz = Fuzz(seed)
    fuzz.run()
    state: State | None = None
    chronicle = TaskHistory()
    seen_words = set()
    for event in fuzz.events:
        state = evolve(state, event)
        chronicle.add(event)
        for seen in (HERE, GONE, MERGED):
            word = situation(state, seen)
            decisions, running = COMPATIBLE[word]
            assert state.decision in decisions, (word, event)
            assert running_state(state) in running, (word, event)
            assert not (word in {"DONE", "MERGED"} and health(state, chronicle) == "BLOCKED")
            assert sentence(state, word, seen).startswith(word)
            assert (word == "LOST CONTACT") == (state.stopped is None and not seen.controlled)
            seen_words.add(word)
    assert seen_words <= set(WORDS)


@pytest.mark.req("C68")
@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("done", "DONE"),
        ("blocked", "BLOCKED"),
        ("error", "BLOCKED"),
        ("no_agent", "BLOCKED"),
        ("aborted", "ABORTED"),
        ("limit", "LIMIT"),
        ("paused", "PAUSED"),
        ("interrupted", "PAUSED"),
    ],
)
def test_every_way_of_stopping_has_its_word_whoever_holds_the_lease(kind, word):
    story = Story().start().add(TaskStopped(kind, "because"))
    assert {situation(story.state, seen) for seen in (HERE, GONE)} == {word}


@pytest.mark.req("C68")
def test_a_question_needs_you_until_its_answer_is_on_its_way():
    story = Story().start().ask(Question("q", "Which?", (Option("a", ""),)))
    assert situation(story.state, HERE) == "NEEDS YOU"
    assert situation(story.state, HERE, answered=["ask/1"]) == "RUNNING"
    assert situation(story.state, GONE) == "LOST CONTACT"


@pytest.mark.req("C68")
def test_a_wait_says_until_when_and_for_which_limit():
    story = Story().start()
    story.add(Held("provider", "usage limit", story.at + timedelta(minutes=40)))
    assert situation(story.state, HERE) == "WAITING"
    assert sentence(story.state, "WAITING", HERE) == "WAITING until 09:40 UTC (provider)"
    story.add(Held("provider", "usage limit", story.at + timedelta(days=2)))
    assert sentence(story.state, "WAITING", HERE) == "WAITING until 2026-01-07 09:00 UTC (provider)"


def wait_in(story: Story, lane: str, minutes: int) -> Story:
    """A provider's limit keeps the lane from its next turn."""
    until = story.at + timedelta(minutes=minutes)
    story.switch_to(lane).add(Held("provider", f"usage limit {minutes}", until, lane=lane))
    return story.add(Begun(Wait(story.lane.effect_id("wait/1"), until=until, reason="usage limit", lane=lane)))


@pytest.mark.req("C68")
def test_a_task_waits_once_all_of_its_subtasks_do_and_until_the_first_of_them_goes_on():
    story = Story().start().switch_to("2.1").turn()
    wait_in(story, "2.2", 180)
    assert situation(story.state, HERE) == "RUNNING", "turn 1 of 2.1 is not judged yet"
    story.switch_to("2.1").add(TurnSetAside(1, "limited", lane="2.1"))
    wait_in(story, "2.1", 90)
    wait_in(story, "2.3", 200)
    assert situation(story.state, HERE) == "WAITING"
    assert sentence(story.state, "WAITING", HERE) == "WAITING until 10:30 UTC (provider)"
    assert running_state(story.state) == "paused"
    shown = status(story.state, TaskHistory(story.events))
    assert shown.reason == "usage limit 90"
    assert shown.held is not None
    assert (shown.held.reason, shown.held.lane) == ("usage limit 90", "2.1")


def test_a_subtask_whose_wait_is_over_does_not_hide_one_that_waits_or_speak_for_one_that_asks():
    story = wait_in(Story().start(), "2.1", 10)
    story.add(Ended(EffectId("2.1/wait/1"), Waited()), after_s=600)
    wait_in(story, "2.2", 60)
    held = hold_of(story.state)
    assert held is not None
    assert held.lane == "2.2"
    alone = wait_in(Story().start(), "2.1", 10)
    alone.add(Ended(EffectId("2.1/wait/1"), Waited()), after_s=600).ask(Question("q", "Which?"))
    assert hold_of(alone.state) is None


@pytest.mark.parametrize("fact", [SessionStarted(4712, "host", "0.1.0"), WindowOpened()])
def test_a_wait_that_goes_on_is_shown_in_the_next_session_and_in_a_new_hour(fact: Fact):
    story = wait_in(Story().start(), "main", 60).add(fact)
    assert situation(story.state, HERE) == "WAITING"


@pytest.mark.req("C68", "C52")
def test_only_work_that_is_done_can_be_merged():
    assert situation(short_tdd_run().state, MERGED) == "MERGED"
    assert sentence(short_tdd_run().state, "MERGED", MERGED) == "MERGED into main"
    assert situation(Story().start().state, Seen(merged_into="main")) == "RUNNING"
