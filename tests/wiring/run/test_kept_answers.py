"""C14: an answer about failing tests holds for the repository and that set of tests; other questions are put every time."""

from pathlib import Path

import pytest
from tests.support.simulator import a_task

from flyball.core.model.effects import Ask, Option, Question
from flyball.core.model.task import EffectId, Task
from flyball.ports import Stop
from flyball.process import StopFlag
from flyball.wiring.run.kept_answers import KeptAnswers

pytestmark = pytest.mark.req("C14")
OPTIONS = (Option("work", ""), Option("known", ""), Option("abort", ""))


class Person:
    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)

    def ask(self, _task: Task, _asked: Ask, _stop: Stop) -> str | None:
        return self.answers.pop(0)


def put(people: Person, folder: Path, kept: str) -> str | None:
    asked = Ask(EffectId("ask/1"), question=Question("failing-tests", "Work?", OPTIONS, kept=kept))
    return KeptAnswers(people, folder).ask(a_task(), asked, StopFlag())


def test_the_same_set_is_asked_about_once(tmp_path: Path) -> None:
    person = Person("work", "known")
    assert [put(person, tmp_path, "failing-a") for _ in range(3)] == ["work"] * 3
    assert put(person, tmp_path, "failing-b") == "known"


def test_no_answer_an_end_and_questions_without_a_key_are_not_kept(tmp_path: Path) -> None:
    person = Person(None, "abort", "work", "known")
    assert [put(person, tmp_path, "failing-a") for _ in range(2)] == [None, "abort"]
    assert [put(person, tmp_path, "") for _ in range(2)] == ["work", "known"]
