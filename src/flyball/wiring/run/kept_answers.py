"""Answers that hold for a repository: a question is put to a person once, and every later task takes the answer."""

import hashlib
from pathlib import Path

import msgspec

from flyball.core.model.effects import Ask
from flyball.core.model.task import Task
from flyball.ports import People, Stop


class KeptAnswers(msgspec.Struct, frozen=True):
    """Behind the port `People`: asks others only what nobody has answered in this repository; `folder` keeps the answers."""

    people: People
    folder: Path

    def ask(self, task: Task, asked: Ask, stop: Stop) -> str | None:
        key = asked.question.kept
        if not key:
            return self.people.ask(task, asked, stop)
        place = self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]
        if place.is_file():
            return place.read_text(encoding="utf-8")
        answer = self.people.ask(task, asked, stop)
        if answer in {option.key for option in asked.question.options} - {"abort"}:
            self.folder.mkdir(parents=True, exist_ok=True)
            place.write_text(answer or "", encoding="utf-8")
        return answer
