"""The questions of a task: what was asked, who answered, and what nobody waits for any more."""

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
    """`under_way` are the effects under way, which the task's history keeps.

    A question may wait for its answer longer than it is under way: where nobody is there to ask, the task stops with it.
    """

    def __init__(self, under_way: dict[EffectId, Effect]) -> None:
        self.records: dict[EffectId, QuestionRecord] = {}
        self._waiting: dict[EffectId, Ask] = {}
        self._under_way = under_way

    def put(self, at: datetime, asked: Ask) -> None:
        record = QuestionRecord(asked.id, asked.question.name, plain(asked.question.text, 1000), at)
        self.records.setdefault(asked.id, record)
        self._waiting[asked.id] = asked

    def answer(self, at: datetime, key: EffectId, text: str, by: str = "person") -> None:
        """The first answer counts."""
        self._waiting.pop(key, None)
        put = self.records.get(key)
        if put is not None and put.answer is None:
            self.records[key] = replace(put, answer=plain(text, 1000), answered_at=at, by=by)

    def answer_by_word(self, at: datetime, fact: PersonSpoke) -> frozenset[str]:
        """A word that steers answers every question of the lanes it is meant for; these lanes."""
        asking = frozenset(ask.lane for ask in self._waiting.values())
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

    def withdraw_put_again(self) -> None:
        """The task is resumed: what may have been settled elsewhere is asked anew if it still stands."""
        self._withdraw(lambda ask: ask.question.again)

    def _withdraw(self, is_meant: Callable[[Ask], bool]) -> list[EffectId]:
        gone = [key for key, ask in self._waiting.items() if is_meant(ask)]
        for key in gone:
            del self._waiting[key]
            self._under_way.pop(key, None)
        return gone
