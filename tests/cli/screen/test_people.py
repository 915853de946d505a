"""Asking a person at the terminal, and what their words mean."""

import io
import os
import pty
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from tests.cli.stage import until
from tests.support.builders import tdd_task

from flyball.cli.screen.people import POLL_S, NobodyThere, TerminalPeople
from flyball.cli.screen.plain import PlainScreen
from flyball.core.loop.questions import FOUR_CHOICES
from flyball.core.model.effects import Ask, Option, Question
from flyball.core.model.task import MAIN, EffectId
from flyball.process import StopFlag
from flyball.projections.history.task_history import TaskHistory
from flyball.wiring.tasks.inbox import NotAnAnswer, parse_answer

BREAKER = Question(
    "breaker", "GREEN makes no progress: it repeats", FOUR_CHOICES, detail="it repeats\nno progress in 2 iterations"
)
CRITERIA = Question("criteria", "Are these right?", (Option("yes", ""), Option("TEXT", "")), default="yes")


class Watched(PlainScreen):
    """Remembers when it was out of the way, and for how many at once."""

    def __init__(self) -> None:
        super().__init__(TaskHistory())
        self.suspensions = self.now = self.most = 0

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.suspensions += 1
        self.now += 1
        self.most = max(self.most, self.now)
        yield
        self.now -= 1


def of_lane(question: Question, lane: str = MAIN) -> Ask:
    return Ask(EffectId("ask/1" if lane == MAIN else f"{lane}/ask/1"), question, lane=lane)


def asked(
    question: Question, typed: bytes, *, close: bool = True, stop: StopFlag | None = None
) -> tuple[str | None, Watched]:
    reader, writer = os.pipe()
    try:
        os.write(writer, typed)
        if close:
            os.close(writer)
        shown = Watched()
        return TerminalPeople(shown, stdin=reader).ask(tdd_task(), of_lane(question), stop or StopFlag()), shown
    finally:
        os.close(reader)
        if not close:
            os.close(writer)


def test_the_question_is_shown_with_its_detail_and_options_and_the_view_is_out_of_the_way(capsys):
    answer, shown = asked(BREAKER, b"reset\n")
    assert answer == "reset"
    assert shown.suspensions == 1
    said = capsys.readouterr().err
    assert "007-parse-rows asks: GREEN makes no progress" in said
    assert "no progress in 2 iterations" in said
    assert said.count("it repeats") == 1
    assert "modify" in said


def test_a_wrong_answer_is_asked_again():
    assert asked(BREAKER, b"bogus\nskip\n")[0] == "skip"


@pytest.mark.parametrize(
    ("question", "typed", "meant"),
    [
        (BREAKER, "r", "reset"),
        (BREAKER, "SK", "skip"),
        (BREAKER, "modify use a set", "modify use a set"),
        (BREAKER, "m use a set", "modify use a set"),
        (CRITERIA, "", "yes"),
        (CRITERIA, "y", "yes"),
        (CRITERIA, "the second one is wrong", "the second one is wrong"),
        (
            Question("agent-3-1", "Which?", (Option("use SQLite", ""), Option("use files", ""))),
            "use sqlite",
            "use SQLite",
        ),
        (Question("agent-3-1", "Which?", (Option("a", ""), Option("b", ""))), "neither", "neither"),
        (Question("agent-3-2", "Name?"), "rows", "rows"),
    ],
)
def test_answers_are_understood_from_keys_beginnings_defaults_and_free_text(question, typed, meant):
    assert parse_answer(question, typed) == meant


@pytest.mark.parametrize("typed", ["", "modify", "whatever", "resetting", "s k"])
def test_what_answers_nothing_is_refused_with_the_choices(typed):
    with pytest.raises(NotAnAnswer, match=r"reset|modify"):
        parse_answer(BREAKER, typed)


def test_two_options_with_the_same_beginning_are_not_guessed_between():
    question = Question("q", "?", (Option("continue", ""), Option("confirm", "")))
    with pytest.raises(NotAnAnswer):
        parse_answer(question, "con")


def test_a_question_that_is_withdrawn_ends_without_an_answer():
    stop = StopFlag()
    threading.Timer(0.1, stop.set).start()
    assert asked(BREAKER, b"", close=False, stop=stop)[0] is None


def test_at_its_deadline_a_question_ends_without_an_answer_so_that_its_default_is_taken():
    late = Question("q", "?", (Option("yes", ""),), default="yes", deadline_at=datetime.now(UTC) - timedelta(seconds=1))
    assert asked(late, b"", close=False)[0] is None


def test_a_question_with_a_deadline_says_what_happens_without_an_answer(capsys):
    due = datetime(2126, 1, 5, 9, 40, tzinfo=UTC)
    asked(Question("q", "?", (Option("yes", ""),), default="yes", deadline_at=due), b"yes\n")
    assert "(without an answer by 2126-01-05 09:40:00 UTC: yes)" in capsys.readouterr().err


def test_the_end_of_input_is_nobody():
    assert asked(BREAKER, b"")[0] is None
    assert NobodyThere().ask(tdd_task(), of_lane(BREAKER), StopFlag()) is None


class Answering(io.StringIO):
    """Whoever reads the prompt here types an answer."""

    def __init__(self, terminal: int, answer: bytes) -> None:
        super().__init__()
        self.terminal, self.answer = terminal, answer

    def write(self, text: str) -> int:
        if text == "> ":
            os.write(self.terminal, self.answer)
        return super().write(text)


def test_what_was_typed_before_the_question_came_is_no_answer_to_it(monkeypatch):
    terminal, keyboard = pty.openpty()
    try:
        os.write(terminal, b"abort\n")
        monkeypatch.setattr(sys, "stderr", Answering(terminal, b"reset\n"))
        assert TerminalPeople(stdin=keyboard).ask(tdd_task(), of_lane(BREAKER), StopFlag()) == "reset"
    finally:
        os.close(terminal)
        os.close(keyboard)


class TwoAsking:
    """Two lanes that ask at the same terminal, each from a thread of its own; lines are typed one by one."""

    def __init__(self) -> None:
        self.shown = Watched()
        self.reader, self.keyboard = os.pipe()
        self.people = TerminalPeople(self.shown, stdin=self.reader)
        self.stops = {"2.1": StopFlag(), "2.2": StopFlag()}
        self.answers: dict[str, str | None] = {}
        self.threads = {lane: threading.Thread(target=self.ask, args=(lane,)) for lane in self.stops}

    def ask(self, lane: str) -> None:
        self.answers[lane] = self.people.ask(tdd_task(), of_lane(BREAKER, lane), self.stops[lane])

    def type(self, line: str) -> None:
        os.write(self.keyboard, f"{line}\n".encode())


@pytest.fixture
def two_asking() -> Iterator[TwoAsking]:
    two = TwoAsking()
    yield two
    for stop in two.stops.values():
        stop.set()
    for thread in two.threads.values():
        thread.join()
    os.close(two.reader)
    os.close(two.keyboard)


def test_two_lanes_that_ask_at_once_are_asked_one_after_the_other_and_each_has_its_own_answer(two_asking, capsys):
    said = ""

    def is_shown(text: str) -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return text in said

    two_asking.threads["2.1"].start()
    until(lambda: is_shown("007-parse-rows asks for 2.1 (2.1/ask/1): GREEN makes no progress"))
    two_asking.threads["2.2"].start()
    two_asking.threads["2.2"].join(3 * POLL_S)
    assert not is_shown("2.2"), "a question is not shown while another one waits for its line"
    two_asking.type("reset")
    until(lambda: is_shown("asks for 2.2 (2.2/ask/1)"))
    assert two_asking.answers == {"2.1": "reset"}
    two_asking.type("skip")
    two_asking.threads["2.2"].join(10)
    assert two_asking.answers == {"2.1": "reset", "2.2": "skip"}
    assert (two_asking.shown.suspensions, two_asking.shown.most) == (2, 1)


def test_a_question_that_is_withdrawn_before_its_turn_is_never_shown(two_asking, capsys):
    two_asking.threads["2.1"].start()
    until(lambda: two_asking.shown.now == 1)
    two_asking.threads["2.2"].start()
    two_asking.stops["2.2"].set()
    two_asking.threads["2.2"].join(10)
    assert two_asking.answers == {"2.2": None}
    two_asking.type("modify use a set")
    two_asking.threads["2.1"].join(10)
    assert two_asking.answers["2.1"] == "modify use a set"
    assert "2.2" not in capsys.readouterr().err
