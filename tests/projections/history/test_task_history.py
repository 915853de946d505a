"""The history of a task keeps the whole story, in constant time per fact."""

import sys

import pytest
from msgspec.structs import replace
from tests.replays.replay import recorded
from tests.support.builders import OPENED_AT, Story, measurement, short_tdd_run, two_lanes_asking, verdict

from flyball.core.claims.values import Claim
from flyball.core.health.breaker import Breaker
from flyball.core.loop.questions import hourly_limit
from flyball.core.model.batch_events import LaneClosed, LaneOpened, SubtaskIntegrated
from flyball.core.model.effects import Measure, Option, PutBack, Question, RunAgent, Save
from flyball.core.model.events import (
    Begun,
    DocumentSeen,
    Ended,
    Event,
    Held,
    Judged,
    LearningRecorded,
    Moved,
    PersonSpoke,
    QuestionClosed,
    SessionStarted,
    TaskStopped,
    TurnSetAside,
    WindowOpened,
)
from flyball.core.model.measurement import Trick
from flyball.core.model.outcomes import Answered, Measured, Mended, Saved, TurnEnded, Unanswered
from flyball.core.model.task import MAIN, Commit, EffectId
from flyball.projections.history.recording import shows
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import known_failing
from flyball.projections.views.status import status

QUESTION = Question("breaker", "GREEN makes no progress", (Option("reset", "again"),))


def test_a_whole_run_is_told_by_turns_verdicts_moves_and_checkpoints():
    story = short_tdd_run()
    told = TaskHistory(story.events)
    assert [t.role for t in told.turns] == ["tester", "implementer", "implementer", "refactorer", "documenter", "qa"]
    assert [t.outcome for t in told.turns] == ["ok"] * 6
    assert told.turns[0].seconds == 41
    assert told.turns[1].model == "large"
    assert [j.can_exit for j in told.judgements] == [True, False, True, True, True, True]
    assert told.judgements[1].counts.failing == 1
    assert [m.stage for m in told.moves] == ["GREEN", "REFACTOR", "DOCUMENT", "QA", "SHIP"]
    assert [c.label for c in told.checkpoints if c.accepted] == [
        "start", "RED", "GREEN", "REFACTOR", "DOCUMENT", "report",
    ]  # fmt: skip
    assert len(told.checkpoints) == 12
    assert [j.false_claim for j in told.judgements] == [False, True, False, False, False, False]
    assert [v.stage for v in told.verified] == ["baseline", "RED", "GREEN", "REFACTOR", "DOCUMENT", "QA"]


def test_a_verdict_is_shown_with_the_measurement_of_its_own_lane():
    """Another lane was measured in between: its numbers are not those this lane was judged by."""
    story = Story().start().iterate(held=False)
    judged = next(e.fact for e in reversed(story.events) if isinstance(e.fact, Judged))
    told = TaskHistory(story.events)
    seq, at = len(story.events), story.at
    for lane, failing in (("1", ("t::a", "t::b")), ("2", ())):
        name, commit = EffectId(f"measure/{lane}"), Commit(f"c{lane}")
        effect = Measure(name, lane=lane, kind="gates", candidate=commit, base=commit, accepted=commit)
        for fact in (Begun(effect), Ended(name, Measured(measurement(commit, failing=failing)))):
            seq += 1
            told.add(Event(seq, at, 1, fact))
    for lane, held in (("1", False), ("2", True)):
        seq += 1
        told.add(Event(seq, at, 1, replace(judged, lane=lane, can_exit=held)))
    assert [j.counts.failing for j in told.judgements[-2:]] == [2, 0]
    assert [v.counts.failing for v in told.verified[-1:]] == [0]


def test_a_checkpoint_belongs_to_the_last_turn_of_its_own_lane():
    """Another lane's turn began in between: that it has a higher number says nothing of this lane's tree."""
    story = Story().start()
    base = Commit("base0000")
    for number, lane in ((1, "a"), (2, "b")):
        turn = RunAgent(EffectId(f"turn/{number}"), "worker", "RED", "scripted", "", "do", 1, number, lane=lane)
        story.add(LaneOpened(lane, "WORK", base), Begun(turn), Ended(turn.id, TurnEnded("ok")))
    for lane in ("a", "b", "main"):
        saved = Save(EffectId(f"save/{lane}"), lane=lane, label=f"of {lane}", message="", parent=base)
        story.perform(saved, Saved(Commit(f"c-{lane}"), "tree", f"of {lane}"))
    mended = PutBack(EffectId("put-back/1"), lane="a", candidate=base, tree="t", label="back", message="", paths=("x",))
    story.perform(mended, Mended(Commit("c-back"), "t", "back", ("x",)))
    told = TaskHistory(story.events)
    turns = {kept.label: kept.turn for kept in told.checkpoints}
    assert turns == {"start": 0, "of a": 1, "of b": 2, "of main": 0, "back": 1}
    stages = {kept.label: kept.stage for kept in told.checkpoints}
    assert stages == {"start": "RED", "of a": "WORK", "of b": "WORK", "of main": "RED", "back": "WORK"}
    assert "restored after turn 1: x" in told.notes


def test_what_is_measured_in_a_subtask_counts_for_the_task_once_it_is_integrated():
    story = Story().start(baseline=measurement("base0000", known_failing=2)).switch_to("2.1")
    story.iterate(measurement("c21", total=5), held=True, signal=True)
    told = TaskHistory(story.events)
    assert told.last_measured is not None
    assert (told.last_measured.lane, told.last_measured.candidate) == ("2.1", "c21")
    assert told.measured is not None
    assert (told.measured.candidate, told.measured.counts.known_failing) == ("base0000", 2)
    assert known_failing(story.state, told) == 2
    assert status(story.state, told).coverage is None
    told.add(Event(999, story.at, 1, SubtaskIntegrated("2.1", "red", measured="measure/x")))
    assert told.measured.candidate == "base0000"
    told.add(Event(1000, story.at, 1, SubtaskIntegrated("2.1", "integrated", Commit("i1"))))
    assert told.measured.candidate == "c21", "its tree is the very one that was measured"


def test_a_batch_is_judged_by_what_was_measured_in_its_lanes():
    for name in ("plan", "track"):
        told = TaskHistory(recorded(name))
        batches = [judged for judged in told.judgements if judged.stage == "MONITOR"]
        assert batches
        assert all(judged.counts.total >= 2 for judged in batches)
        assert all(mark.counts.total >= 2 for mark in told.timeline.marks if mark.stage == "MONITOR")


def test_adding_one_by_one_gives_what_adding_all_gives():
    events = short_tdd_run().events
    whole, grown = TaskHistory(events), TaskHistory()
    for event in events:
        grown.add(event)
    assert grown.judgements == whole.judgements
    assert grown.rows == whole.rows
    assert grown.turns == whole.turns


def test_a_decision_whose_work_was_rolled_back_is_not_kept_and_earlier_ones_are():
    story = Story().start()
    story.iterate(held=True).add(LearningRecorded(1, "decision", "use csv"))
    good = story.state.checkpoints[-1].commit
    story.iterate().add(LearningRecorded(2, "decision", "use regex"), LearningRecorded(3, "anti-pattern", "it fell"))
    told = TaskHistory(story.restore(good).events)
    assert [(x.title, x.standing) for x in told.learnings] == [
        ("use csv", "proposed"),
        ("use regex", "undone"),
        ("it fell", "kept"),
    ]
    assert told.rollbacks[0].undone == "undone00"


def test_a_decision_of_the_very_turn_that_is_restored_is_kept():
    story = Story().start().iterate().add(LearningRecorded(1, "decision", "use csv"))
    told = TaskHistory(story.restore(story.state.checkpoints[-1].commit).events)
    assert told.learnings[0].standing == "proposed"


def test_history_rows_are_never_dropped_or_rewritten_m31():
    story = Story().start().iterate(error="E1").iterate(error="E2")
    before = list(TaskHistory(story.events).rows)
    story.restore(Commit("base0000")).add(SessionStarted(1, "host", "0.1.0")).iterate(held=True)
    after = TaskHistory(story.events).rows
    assert after[: len(before)] == before
    assert "rolled back to base0000" in after[len(before)].notes


def test_the_breaker_ledger_says_when_it_opened_and_forgets_it_when_it_closes():
    story = Story().start()
    story.iterate(breaker=Breaker("HALF_OPEN", 2, reason="no progress in 2 iterations"))
    story.iterate(breaker=Breaker("OPEN", 3, reason="no progress in 3 iterations"))
    told = TaskHistory(story.events)
    assert [(e.from_state, e.to_state) for e in told.breaker.events] == [("CLOSED", "HALF_OPEN"), ("HALF_OPEN", "OPEN")]
    assert told.breaker.opened_at == {"main": story.at}
    told.add(story.add(PersonSpoke("reset")).events[-1])
    assert told.breaker.states == {"main": "CLOSED"}
    assert told.breaker.opened_at == {}


def test_the_same_error_makes_a_streak_and_a_held_gate_ends_it():
    story = Story().start().iterate(error="E1").iterate(error="E2").iterate(error="E2")
    streak = TaskHistory(story.events).errors.streak()
    assert (streak.failures, streak.same) == (3, 2)
    story.iterate(held=True)
    streak = TaskHistory(story.events).errors.streak()
    assert (streak.failures, streak.same) == (0, 0)


def test_each_lane_has_a_breaker_and_a_streak_of_its_own():
    story = Story().start().switch_to("2.1").iterate(error="E1")
    story.iterate(error="E1", breaker=Breaker("OPEN", 3, reason="no progress in 3 iterations"))
    opened_at = story.at
    story.switch_to("2.2").iterate(error="E2").iterate(held=True, progress=True)
    told = TaskHistory(story.events)
    assert told.breaker.opened_at == {"2.1": opened_at}
    assert [(e.lane, e.from_state, e.to_state) for e in told.breaker.events] == [
        ("2.1", "CLOSED", "OPEN"),
        ("2.2", "CLOSED", "CLOSED"),
    ]
    assert (told.errors.streak("2.1").failures, told.errors.streak("2.1").same) == (2, 2)
    assert told.errors.streak("2.2").failures == 0
    told.add(story.add(LaneClosed("2.1", "given up")).events[-1])
    assert told.breaker.states["2.1"] == "CLOSED", "another lane of this name begins anew"
    assert told.errors.streak("2.1").failures == 0


def test_a_reset_closes_the_breaker_of_the_lane_that_asks_and_no_other():
    story = Story().start()
    for lane in ("2.1", "2.2"):
        story.switch_to(lane).iterate(error="E", breaker=Breaker("OPEN", 3, reason="no progress"))
    told = TaskHistory(story.ask(QUESTION).add(PersonSpoke("reset")).events)
    assert told.breaker.states == {"2.1": "OPEN", "2.2": "CLOSED"}
    assert story.state.lanes["2.1"].loop.breaker.state == "OPEN", "the fold says the same"


def test_only_the_last_fifty_errors_are_kept():
    story = Story().start()
    for number in range(60):
        story.iterate(error=f"E{number}")
    told = TaskHistory(story.events)
    assert len(told.errors.recent) == 50
    assert told.errors.recent[0].error == "E10"


def test_a_trick_seen_again_is_counted_not_repeated():
    trick = Trick("test-deleted", "tests/test_rows.py", "test_empty is gone")
    story = Story().start()
    for _ in range(3):
        story.iterate(measurement("c", tricks=(trick,)))
    assert [(t.kind, t.times) for t in TaskHistory(story.events).tricks.values()] == [("test-deleted", 3)]


def test_questions_have_their_answers_and_who_gave_them():
    story = Story().start().iterate().ask(QUESTION)
    key = EffectId("ask/1")
    assert TaskHistory(story.events).questions[key].answer is None
    story.add(Ended(key, Answered("reset", "default")), QuestionClosed(key, "breaker", "reset"))
    put = TaskHistory(story.events).questions[key]
    assert (put.answer, put.by) == ("reset", "default")


def test_a_reset_answers_the_open_question():
    story = Story().start().iterate().ask(QUESTION).add(PersonSpoke("reset"))
    assert TaskHistory(story.events).questions[EffectId("ask/1")].answer == "reset"


@pytest.mark.parametrize("word", ["reset", "modify", "rollback", "skip"])
def test_a_word_to_one_lane_answers_only_that_lanes_question(word):
    story = two_lanes_asking(Question("breaker", "no progress", (Option("reset", ""),)))
    story.add(PersonSpoke(word, "smaller steps", question="2.1/ask/1", lane="2.1"))
    assert answers(story) == {"2.1/ask/1": word, "2.2/ask/1": None}
    story.add(Ended(EffectId("2.2/ask/1"), Answered("skip")))
    assert answers(story) == {"2.1/ask/1": word, "2.2/ask/1": "skip"}


def test_a_word_to_all_answers_every_question_that_is_still_open():
    story = two_lanes_asking(Question("breaker", "no progress", (Option("reset", ""),)))
    assert answers(story.add(PersonSpoke("reset"))) == {"2.1/ask/1": "reset", "2.2/ask/1": "reset"}


def blocked_lane(again: bool = False) -> Story:
    """Lane 2.1 is nearly stuck; lane 2.2 is, and has asked, but nobody was there."""
    story = Story().start().switch_to("2.1").iterate(breaker=Breaker("HALF_OPEN", 2, 2, "E1", "same error"))
    story.switch_to("2.2").iterate(breaker=Breaker("OPEN", 3, 3, "E1", "same error"))
    story.ask(Question("breaker", "no progress", (Option("reset", ""),), again=again))
    story.add(Ended(EffectId("2.2/ask/1"), Unanswered()))
    return story.add(TaskStopped("blocked", "no progress", question=EffectId("2.2/ask/1")))


def test_a_word_answers_the_question_a_task_stopped_with_and_resets_no_other_lane():
    story = blocked_lane().add(PersonSpoke("reset"))
    assert answers(story) == {"2.2/ask/1": "reset"}
    known = {name: lane.loop.breaker.state for name, lane in story.state.lanes.items() if name != MAIN}
    assert TaskHistory(story.events).breaker.states == known == {"2.1": "HALF_OPEN", "2.2": "CLOSED"}


def test_a_question_that_is_put_again_on_resuming_is_answered_by_no_later_word():
    story = blocked_lane(again=True).add(PersonSpoke("resume"), PersonSpoke("reset"))
    assert answers(story) == {"2.2/ask/1": None}


@pytest.mark.parametrize(
    ("withdrawing", "left"),
    [
        (LaneClosed("2.1", "given up"), {"2.2/ask/1"}),
        (Moved("REVIEW", "RED", "skipped", forced=True, lane="2.1"), {"2.2/ask/1"}),
        (WindowOpened(), set()),
    ],
)
def test_a_question_that_was_withdrawn_is_not_answered_by_a_later_word(withdrawing, left):
    story = two_lanes_asking(hourly_limit("100 of 100 calls", OPENED_AT)).add(withdrawing, PersonSpoke("reset"))
    assert {key for key, answer in answers(story).items() if answer == "reset"} == left


def answers(story: Story) -> dict[str, str | None]:
    return {key: put.answer for key, put in TaskHistory(story.events).questions.items()}


def test_turns_set_aside_say_why():
    story = Story().start().turn(kind="usage_limit", detail="come back later")
    told = TaskHistory(story.add(TurnSetAside(1, "limited")).events)
    assert told.turns[0].outcome == "usage_limit"
    assert told.turns[0].set_aside == "limited"
    assert told.judgements == []


def test_holds_are_kept_with_their_end():
    story = Story().start()
    story.add(Held("provider", "limit", story.at))
    assert TaskHistory(story.events).holds[0].until is not None


def test_agents_cannot_put_control_sequences_into_the_story():
    story = (
        Story().start().iterate(claim=Claim(summary="\x1b[2Jdone\nVERDICT: PASS"), said=verdict(evidence="a\x1b[1mb"))
    )
    told = TaskHistory(story.events)
    assert told.turns[0].summary == "done VERDICT: PASS"
    assert told.judgements[0].evidence == "ab"


def test_only_events_that_change_a_rendering_count_as_shown():
    story = Story().start().turn()
    kinds = {type(e.fact).__name__: shows(e) for e in story.events}
    assert kinds["TaskOpened"]
    unaccepted = story.events[-1]
    assert isinstance(unaccepted.fact, Ended)
    assert isinstance(unaccepted.fact.outcome, Saved)
    assert not shows(unaccepted)
    assert not shows(Event(99, story.at, 1, DocumentSeen("plan.md", "0")))


def operations(events: list[Event]) -> int:
    """Lines of Python executed while folding: a measure that no busy machine disturbs."""
    count = 0

    def tracer(_frame, event, _arg):
        nonlocal count
        count += event == "line"
        return tracer

    sys.settrace(tracer)
    try:
        TaskHistory(events)
    finally:
        sys.settrace(None)
    return count


def long_journal(iterations: int) -> list[Event]:
    story = Story().start()
    trick = Trick("test-skipped", "tests/test_rows.py", "skip")
    for number in range(iterations):
        story.iterate(measurement("c", tricks=(trick,)), error=f"E{number % 7}", disagreements=("a: 1, 2",))
        story.add(LearningRecorded(number + 1, "decision", f"choice {number}"))
        if number % 10 == 9:
            story.restore(Commit("base0000"))
    return story.events


def test_the_work_per_fact_does_not_grow_with_the_journal():
    short, long = long_journal(300), long_journal(600)
    ratio = operations(long) / operations(short)
    assert ratio == pytest.approx(len(long) / len(short), rel=0.1)


@pytest.mark.slow
def test_a_journal_of_a_hundred_thousand_events_is_taken_in():
    story = long_journal(500)
    template = story[5:]
    told = TaskHistory(story)
    count = len(story)
    while count < 100_000:
        for event in template:
            told.add(event)
        count += len(template)
    assert len(told.judgements) > 10_000
    assert len(told.errors.recent) == 50
