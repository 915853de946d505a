"""The questions of a task: what was asked, who answered, and what nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from flyball.core.fold.people import lanes_meant
from flyball.core.loop.answers import HOURLY_LIMIT
from flyball.core.model.effects import Ask, Effect
from flyball.core.model.events import PersonSpoke
from flyball.core.model.task import EffectId
from flyball.projections.history.records import QuestionRecord
from flyball.projections.wording import plain


class QuestionLedger:
    """`under_way` are the effects under way, which the task's history keeps: an open question is one of them."""

    def __init__(self, under_way: dict[EffectId, Effect]) -> None:
        self.records: dict[EffectId, QuestionRecord] = {}
        self._under_way = under_way

    def put(self, at: datetime, asked: Ask) -> None:
        record = QuestionRecord(asked.id, asked.question.name, plain(asked.question.text, 1000), at)
        self.records.setdefault(asked.id, record)

    def answer(self, at: datetime, key: EffectId, text: str, by: str = "person") -> None:
        """The first answer counts."""
        put = self.records.get(key)
        if put is not None and put.answer is None:
            self.records[key] = replace(put, answer=plain(text, 1000), answered_at=at, by=by)

    def answer_by_word(self, at: datetime, fact: PersonSpoke) -> frozenset[str]:
        """A word that steers answers every question of the lanes it is meant for; these lanes."""
        asking = frozenset(effect.lane for effect in self._under_way.values() if isinstance(effect, Ask))
        meant = frozenset(lanes_meant(fact, asking, asking))
        for key in self._withdraw(lambda ask: ask.lane in meant):
            self.answer(at, key, fact.word)
        return meant

    def withdraw_of(self, lane: str) -> None:
        """The lane has gone on, or is no more."""
        self._withdraw(lambda ask: ask.lane == lane)

    def withdraw_hourly(self) -> None:
        """A new hour has begun."""
        self._withdraw(lambda ask: ask.question.name == HOURLY_LIMIT)

    def _withdraw(self, is_meant: Callable[[Ask], bool]) -> list[EffectId]:
        gone = [key for key, effect in self._under_way.items() if isinstance(effect, Ask) and is_meant(effect)]
        for key in gone:
            del self._under_way[key]
        return gone
