"""Whoever can answer: a person at the terminal, or nobody."""

import os
import select
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import nullcontext

from flyball.cli.screen.plain import Screen
from flyball.cli.support.output import tell
from flyball.clock import system_clock
from flyball.core.model.effects import Ask, Question
from flyball.core.model.task import MAIN, Task
from flyball.ports import Clock, Stop
from flyball.projections.wording import plain, stamp
from flyball.wiring.tasks.inbox import NotAnAnswer, parse_answer

POLL_S = 0.2
_LONGEST = 64 * 1024


class NobodyThere:
    """Nobody can be asked: the default is taken, or the task is blocked."""

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None:  # noqa: ARG002 - the port's words
        return None


class TerminalPeople:
    """Asks at the terminal, with the live view out of the way, until answered, withdrawn or too late.

    Lanes ask side by side, but a terminal has one line to type into: a question is shown when the one before it is over.
    """

    def __init__(self, screen: Screen | None = None, *, stdin: int | None = None, clock: Clock = system_clock) -> None:
        self._screen = screen
        self._stdin = stdin
        self._clock = clock
        self._typed = b""
        self._turn = threading.Lock()

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None:
        """The answer; None when nobody gave one, and then its default is taken."""
        while not self._turn.acquire(timeout=POLL_S):
            if self._is_over(asked.question, stop):
                return None
        try:
            return None if self._is_over(asked.question, stop) else self._ask_now(task, asked, stop)
        finally:
            self._turn.release()

    def _ask_now(self, task: Task, asked: Ask, stop: Stop) -> str | None:
        with self._screen.suspend() if self._screen else nullcontext():
            # What was typed before a question was read is no answer to it.
            if os.isatty(self._source):
                self._typed = b""
                termios.tcflush(self._source, termios.TCIFLUSH)
            tell(question_text(task, asked))
            while True:
                tell("> ")
                typed = self._line(asked.question, stop)
                if typed is None:
                    tell("\n")
                    return None
                try:
                    return parse_answer(asked.question, typed)
                except NotAnAnswer as error:
                    tell(f"{error}\n")

    @property
    def _source(self) -> int:
        return sys.stdin.fileno() if self._stdin is None else self._stdin

    def _line(self, question: Question, stop: Stop) -> str | None:
        """A line, waited for in short steps; None at the end of input, at the deadline, or when told to stop."""
        source = self._source
        while b"\n" not in self._typed:
            if self._is_over(question, stop):
                return None
            readable, _, _ = select.select([source], [], [], POLL_S)
            piece = os.read(source, 4096) if readable else b""
            if readable and not piece:
                return None
            self._typed = (self._typed + piece)[-_LONGEST:]
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "backslashreplace")

    def _is_over(self, question: Question, stop: Stop) -> bool:
        return stop.is_set() or _too_late(question, self._clock)


class InboxPeople:
    """Somebody who answers from elsewhere, with `flyball answer`: the question waits for that, or for its deadline."""

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None:  # noqa: ARG002 - the port's words
        while not stop.is_set() and not _too_late(asked.question, system_clock):
            threading.Event().wait(POLL_S)
        return None


class SomebodyThere:
    """A person: at the terminal, or elsewhere once they have left it."""

    def __init__(self, screen: Screen, has_left: Callable[[], bool]) -> None:
        self._has_left = has_left
        self._terminal = TerminalPeople(screen)
        self._inbox = InboxPeople()

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None:
        return (self._inbox if self._has_left() else self._terminal).ask(task, asked, stop)


def _too_late(question: Question, clock: Clock) -> bool:
    return question.deadline_at is not None and clock.now() >= question.deadline_at


def question_text(task: Task, asked: Ask) -> str:
    """The question as a person reads it; one of several lanes names its subtask and its id."""
    question = asked.question
    whose = "" if asked.lane == MAIN else f" for {plain(asked.lane)} ({plain(asked.id)})"
    lines = ["", f"{task.id} asks{whose}: {plain(question.text, 2000)}"]
    lines += [f"    {plain(text, 500)}" for text in question.details[:40]]
    width = max((len(option.key) for option in question.options), default=0)
    lines += [f"  {plain(o.key):<{width}}  {plain(o.meaning)}".rstrip() for o in question.options]
    if question.default is not None:
        lines.append(f"  (Enter alone: {plain(question.default)})")
    if question.deadline_at is not None:
        lines.append(f"  (without an answer by {stamp(question.deadline_at)}: {plain(question.default or 'BLOCKED')})")
    return "\n".join(lines) + "\n"
