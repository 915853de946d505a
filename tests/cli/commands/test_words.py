"""A person's word: checked, durable, and acted upon at once where nobody else would."""

import json
import re
from datetime import UTC, datetime

import pytest
from tests.support.builders import OPENED_AT, Story, short_tdd_run, tdd_task, two_lanes_asking

from flyball.core.loop.questions import FOUR_CHOICES, hourly_limit
from flyball.core.model.batch_events import BatchBegun, BatchEnded
from flyball.core.model.effects import Option, Question, RunAgent
from flyball.core.model.events import Begun, PersonSpoke, TaskStopped
from flyball.core.model.task import AgentChoice, EffectId, Limits, Settings, TaskId
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.surroundings import what_is_known

TASK = TaskId("007-parse-rows")
PROTECTED = Question("protected-change", "Allow it?", (Option("allow", ""), Option("deny", "")))


def blocked() -> Story:
    story = Story().start().ask(Question("breaker", "GREEN makes no progress", FOUR_CHOICES))
    return story.add(TaskStopped("blocked", "GREEN makes no progress", (), EffectId("ask/1")))


def held(site: Site) -> Lease:
    return Lease.take(site.journal, site.home.locks, task_scope(TASK), this_process(datetime.now(UTC)))


@pytest.mark.parametrize("words", [["reset", "7"], ["skip", "7"], ["modify", "7", "use", "a", "set"]])
@pytest.mark.req("C22")
def test_the_breakers_choices_reach_the_inbox_and_say_that_resume_is_needed(told, site, flyball, words: list[str]):
    told(blocked())
    said = flyball(*words)
    assert said.code == 0
    assert f"flyball resume {TASK}" in said.out
    (word,) = site.journal.pending(TASK)
    assert word.word == words[0]
    assert word.text == " ".join(words[2:])


def test_a_word_to_a_running_task_says_that_its_controller_takes_it(told, site, flyball):
    told(blocked())
    with held(site):
        said = flyball("modify", "7", "smaller steps")
        assert "which is running" in said.out
        heard = json.loads(flyball("pause", "7", "--json").out)
    assert heard["taken"] == "by the running controller"
    assert [word.word for word in site.journal.pending(TASK)] == ["modify", "pause"]


def test_pausing_a_task_nobody_runs_is_refused_and_keeps_no_word_that_would_stop_the_next_resume(told, site, flyball):
    told(blocked())
    said = flyball("pause", "7")
    assert said.code == 2
    assert f"flyball resume {TASK}" in said.err
    assert site.journal.pending(TASK) == []


@pytest.mark.parametrize("named", ["ask/1", "1", "breaker"])
def test_a_question_is_found_by_id_number_or_name_and_its_answer_understood_from_its_beginning(
    told, site, flyball, named: str
):
    told(blocked())
    assert flyball("answer", "7", named, "res").code == 0
    (word,) = site.journal.pending(TASK)
    assert (word.word, word.text, word.question) == ("answer", "reset", "ask/1")


def test_a_name_that_two_lanes_asked_under_is_refused_with_the_commands_to_choose_from(told, site, flyball):
    told(two_lanes_asking(PROTECTED))
    unclear = flyball("answer", "7", "protected-change", "allow")
    assert unclear.code == 2
    commands = re.findall(r"flyball (answer \S+ \S+ allow)", unclear.err)
    assert commands == [f"answer {TASK} 2.1/ask/1 allow", f"answer {TASK} 2.2/ask/1 allow"]
    assert site.journal.pending(TASK) == []
    assert flyball(*commands[1].split()).code == 0
    assert [(word.text, word.question) for word in site.journal.pending(TASK)] == [("allow", "2.2/ask/1")]


def test_a_name_means_the_question_that_is_still_open_when_another_lanes_is_answered(told, site, flyball):
    told(two_lanes_asking(PROTECTED))
    assert flyball("answer", "7", "2.1/protected-change", "deny").code == 0
    assert flyball("answer", "7", "protected-change", "allow").code == 0
    answers = [(word.text, word.question) for word in site.journal.pending(TASK)]
    assert answers == [("deny", "2.1/ask/1"), ("allow", "2.2/ask/1")]
    again = flyball("answer", "7", "2.2/protected-change", "deny")
    assert again.code == 2
    assert "2.2/ask/1 of 007-parse-rows is answered already: 'allow'" in again.err


def test_an_unknown_question_and_one_answered_already_exit_2(told, site, flyball):
    told(blocked())
    unknown = flyball("answer", "7", "ask/9", "reset")
    assert unknown.code == 2
    assert "ask/1" in unknown.err
    flyball("answer", "7", "ask/1", "modify", "try", "less")
    again = flyball("answer", "7", "ask/1", "reset")
    assert again.code == 2
    assert "answered already: 'modify try less'" in again.err
    assert len(site.journal.pending(TASK)) == 1


def test_after_a_word_status_says_to_resume_and_no_longer_to_speak(told, site, flyball):
    told(blocked())
    assert f"next        flyball reset {TASK}" in flyball("status").out
    flyball("answer", "7", "1", "reset")
    shown = flyball("status").out
    assert f"next        flyball resume {TASK}" in shown
    assert "said        answer to ask/1: reset" in shown
    assert "flyball answer" not in shown
    assert json.loads(flyball("status", "--json").out)["next_command"] == f"flyball resume {TASK}"


def test_resuming_at_a_limit_says_which_and_what_raises_it(told, site, flyball):
    settings = Settings(limits=Limits(max_iterations=1), roles={"default": AgentChoice("scripted")})
    story = Story(tdd_task(settings=settings)).start().iterate()
    told(story.add(TaskStopped("limit", "limit reached: 1 iteration")))
    before = len(list(site.journal.read(TASK)))
    said = flyball("resume")
    assert said.code == 4
    assert "limit reached: 1 iteration" in said.err
    assert f"flyball resume {TASK} --max-iterations 10" in said.err
    assert json.loads(flyball("resume", "--json").out)["stopped"]["kind"] == "limit"
    assert len(list(site.journal.read(TASK))) == before


def test_resuming_what_is_finished_gives_a_program_its_status(told, site, flyball):
    told(short_tdd_run())
    said = flyball("resume", "--json")
    assert said.code == 0
    assert json.loads(said.out)["decision"] == "DONE"


def test_an_answer_that_is_none_of_the_options_is_refused_with_the_options(told, site, flyball):
    story = Story().start().ask(hourly_limit("100 of 100 calls", OPENED_AT))
    told(story)
    wrong = flyball("answer", "7", "ask/1", "whatever")
    assert wrong.code == 2
    assert "wait, continue, abort" in wrong.err
    assert site.journal.pending(TASK) == []


@pytest.mark.req("C62")
@pytest.mark.parametrize(
    "words",
    [["reset", "7"], ["abort", "7"], ["pause", "7"], ["answer", "7", "1", "x"]],
)
def test_a_finished_task_hears_feedback_and_a_rollback_and_no_other_word(told, site, flyball, words: list[str]):
    told(short_tdd_run())
    said = flyball(*words)
    assert said.code == 2
    assert "is finished" in said.err
    assert "flyball reopen 007-parse-rows TEXT" in said.err
    assert site.journal.pending(TASK) == []


@pytest.mark.req("C65")
def test_aborting_a_task_nobody_runs_takes_effect_at_once_and_is_rendered(told, site, flyball):
    story = Story().start()
    turn = RunAgent(
        EffectId("turn/1"), role="tester", stage="RED", agent="scripted", model="", prompt="x", iteration=1, turn=1
    )
    told(story.add(Begun(turn)))
    said = json.loads(flyball("abort", "7", "--json").out)
    assert said["taken"] == "now"
    state = site.state(TASK)
    assert state.stopped is not None
    assert state.stopped.kind == "aborted"
    assert state.open == {}
    assert site.journal.pending(TASK) == []
    assert any(isinstance(e.fact, PersonSpoke) and e.fact.word == "abort" for e in site.journal.read(TASK))
    assert "halted" in (site.repository.root / ".loop" / TASK / "loop-state.json").read_text()


def test_aborting_takes_in_what_was_said_before_so_that_nothing_is_shown_as_to_come(told, site, flyball):
    told(blocked())
    flyball("answer", "7", "1", "modify round up")
    flyball("modify", "7", "use a set")
    assert "said        modify: use a set; not applied yet" in flyball("status", "7").out
    flyball("abort", "7")
    spoken = [e.fact.word for e in site.journal.read(TASK) if isinstance(e.fact, PersonSpoke)]
    assert spoken == ["answer", "modify", "abort"]
    assert site.journal.pending(TASK) == []
    assert "said" not in flyball("status", "7").out


@pytest.mark.parametrize(
    ("stop", "word", "shown"),
    [("aborted", "modify", False), ("aborted", "reopen", False), ("done", "modify", False), ("done", "reopen", True)],
)
def test_a_word_that_a_finished_task_will_never_take_in_is_not_shown_as_to_come(told, site, flyball, stop, word, shown):
    told(Story().start().add(TaskStopped(stop, "it is over")))
    site.journal.post(TASK, word, text="use a set", at=OPENED_AT)
    assert ("not applied yet" in flyball("status", "7").out) == shown
    assert [each.word for each in what_is_known(site, TASK).said] == [word] * shown


def test_aborting_a_running_task_is_left_to_its_controller(told, site, flyball):
    told(blocked())
    with held(site):
        assert "which is running" in flyball("abort", "7").out
    assert [word.word for word in site.journal.pending(TASK)] == ["abort"]
    assert site.state(TASK).stopped is not None


def test_a_controller_is_seen_while_it_holds_the_lock_and_not_after(told, site):
    told(blocked())
    assert controller_of(site, TASK) is None
    lease = held(site)
    seen = controller_of(site, TASK)
    assert seen is not None
    assert seen.pid == this_process(OPENED_AT).pid
    lease.release()
    assert controller_of(site, TASK) is None


def test_a_subtask_is_skipped_by_its_id_and_one_that_nobody_works_on_is_refused(told, site, flyball):
    told(two_lanes_asking(PROTECTED))
    refused = flyball("skip", "7", "--subtask", "2.4")
    assert refused.code == 2
    assert "does not work on subtask '2.4' now. It works on: 2.1, 2.2." in refused.err
    assert site.journal.pending(TASK) == []
    assert flyball("skip", "7", "--subtask", "2.2").code == 0
    assert [(word.word, word.text) for word in site.journal.pending(TASK)] == [("skip", "2.2")]


def test_a_subtask_whose_work_is_being_reviewed_can_no_longer_be_left_out(told, site, flyball):
    told(Story().start().open_lanes("2.1", "2.2").add(BatchBegun(1, ("2.1", "2.2")), BatchEnded(1, ("2.2",))))
    refused = flyball("skip", "7", "--subtask", "2.2")
    assert refused.code == 2
    assert "is finished, and its work is being integrated and reviewed: it cannot be left out any more" in refused.err
    assert site.journal.pending(TASK) == []
    assert flyball("skip", "7", "--subtask", "2.1").code == 0


def test_modify_without_words_is_refused(told, site, flyball):
    told(blocked())
    assert flyball("modify", "7", " ").code == 2
    assert flyball("modify", "7").code == 2
    assert site.journal.pending(TASK) == []


@pytest.mark.parametrize(
    ("words", "text"), [(["abort"], "abort"), (["Reset"], "reset"), (["modify", "use", "a", "set"], "modify use a set")]
)
def test_an_option_of_the_only_open_question_answers_it_without_its_name(told, site, flyball, words, text):
    told(blocked())
    assert flyball("answer", "7", *words).code == 0
    assert [(word.word, word.text, word.question) for word in site.journal.pending(TASK)] == [("answer", text, "ask/1")]


def test_a_word_that_may_be_a_mistyped_name_is_no_answer_and_the_command_that_works_is_named(told, site, flyball):
    told(blocked())
    for words in (["braker"], ["a"], ["ask/9", "reset"]):
        refused = flyball("answer", "7", *words)
        assert refused.code == 2
        assert f"flyball answer {TASK} ask/1 TEXT" in refused.err
    assert site.journal.pending(TASK) == []


def test_an_option_that_two_lanes_offer_needs_the_name_of_its_question(told, site, flyball):
    told(two_lanes_asking(PROTECTED))
    refused = flyball("answer", "7", "allow")
    assert refused.code == 2
    assert "2.1/ask/1, 2.2/ask/1" in refused.err
    assert site.journal.pending(TASK) == []


def test_after_a_word_every_command_names_the_same_next_one(told, flyball):
    told(blocked())
    assert f"flyball reset {TASK}" in flyball("report").out
    flyball("modify", "7", "use a set")
    assert json.loads(flyball("status", "--json").out)["next_command"] == f"flyball resume {TASK}"
    assert json.loads(flyball("report", "--json").out)["next_command"] == f"flyball resume {TASK}"
    assert f"`flyball resume {TASK}`" in flyball("report").out
    assert f"Next: flyball resume {TASK}" in flyball("merge", "7").err


def test_merge_without_a_task_means_the_one_that_status_means(told, flyball):
    assert flyball("merge").err == flyball("status").err
    assert "There is no task" in flyball("merge").err
    told(blocked())
    assert f"{TASK} is BLOCKED, not DONE" in flyball("merge").err


def test_resuming_a_task_that_waits_for_an_answer_elsewhere_names_the_answer_as_the_next_command(told, flyball, site):
    told(Story().start().ask(Question("breaker", "GREEN makes no progress", FOUR_CHOICES)))
    with held(site):
        refused = flyball("resume", "7")
        assert refused.code == 75
        assert f"flyball answer {TASK} ask/1 TEXT" in refused.err
        assert f"flyball watch {TASK}" in refused.err
        assert "stop it" not in refused.err
        assert flyball("answer", "7", "reset").code == 0
        assert "Wait for it to end" in flyball("resume", "7").err
