"""When what was under way in which lane, and how each iteration ended: what plots are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from flyball.core.model import batch_events as be, events as ev
from flyball.core.model.effects import Effect, Measure, RunAgent, Wait
from flyball.core.model.measurement import Counts
from flyball.core.model.outcomes import Measured, TurnEnded
from flyball.core.model.task import MAIN, EffectId, Item
from flyball.projections.wording import plain

Kind = Literal["accepted", "rejected", "rolled back", "false claim", "asks you", "continue"]
GRAVITY: tuple[Kind, ...] = ("rolled back", "rejected", "false claim", "asks you", "accepted", "continue")
"""The gravest first: a mark that stands for several iterations shows it."""


ENDLESS = datetime.max.replace(tzinfo=UTC)
"""The end of what is under way."""


class Bar(msgspec.Struct, frozen=True):
    """A turn, a review or a measurement of a lane; without an end it is under way."""

    kind: Literal["turn", "review", "gate"]
    lane: str
    begun_at: datetime
    ended_at: datetime | None = None
    turn: int = 0
    item: str = ""
    held: bool = False


class TimelineMark(msgspec.Struct, frozen=True):
    """How one iteration ended, in its lane; `number` counts over the whole task."""

    number: int
    at: datetime
    kind: Kind
    lane: str
    item: str
    stage: str
    counts: Counts
    turn: int
    note: str = ""
    wait_s: float = 0.0
    false_claim: bool = False

    @property
    def failing(self) -> int | None:
        """None where nothing is counted."""
        return self.counts.failing if self.counts.total else None


class Pause(msgspec.Struct, frozen=True):
    lane: str
    reason: str
    begun_at: datetime
    until: datetime
    ended_at: datetime | None = None


class Sitting(msgspec.Struct, frozen=True):
    """A time in which a controller worked on the task."""

    begun_at: datetime
    last_at: datetime


class Amount(msgspec.Struct, frozen=True):
    """What was known to be spent by then."""

    at: datetime
    usd: float


class Progress(msgspec.Struct, frozen=True):
    """How many items were done by then."""

    at: datetime
    done: int
    of: int


class LaneOpening(msgspec.Struct, frozen=True):
    """A lane was opened for an item, from a commit."""

    at: datetime
    lane: str
    item: str
    base: str


class Timeline:
    """Give it every event in order, as the history gets them."""

    def __init__(self) -> None:
        self.bars: list[Bar] = []
        self.marks: list[TimelineMark] = []
        self.pauses: list[Pause] = []
        self.sittings: list[Sitting] = []
        self.money: list[Amount] = []
        self.progress: list[Progress] = []
        self.lanes: dict[str, tuple[datetime, datetime]] = {}
        self.openings: list[LaneOpening] = []
        self._open: dict[EffectId, tuple[Effect, int]] = {}
        self._counts: dict[str, Counts] = {}
        self._gate: dict[str, int] = {}
        self._item: dict[str, str] = {}
        self._waited: dict[str, float] = {}
        self._done: dict[str, bool] = {}

    def add(self, event: ev.Event) -> None:
        fact = event.fact
        apply = self._facts.get(type(fact))
        if apply is not None:
            apply(self, event.at, fact)
        elif self._done:
            # Whatever a workflow calls its fact: one that names an item and its status settles it.
            item, status = getattr(fact, "id", None), getattr(fact, "status", None)
            if isinstance(item, str) and isinstance(status, str) and item in self._done:
                self._done[item] = status == "completed"
                self._count(event.at)
        if self.sittings:
            self.sittings[-1] = replace(self.sittings[-1], last_at=event.at)

    def _on_lane_opened(self, at: datetime, fact: be.LaneOpened) -> None:
        self.openings.append(LaneOpening(at, fact.lane, fact.item, fact.base))
        self._item[fact.lane] = fact.item
        self._counts.pop(fact.lane, None)
        self._waited.pop(fact.lane, None)

    def _on_integrated(self, _at: datetime, fact: be.SubtaskIntegrated) -> None:
        if fact.result == "integrated" and not fact.measured and fact.item in self._counts:
            # The lane measured this very tree, so nothing is measured again.
            self._counts[MAIN] = self._counts[fact.item]

    def _on_begun(self, at: datetime, fact: ev.Begun) -> None:
        effect = fact.effect
        if isinstance(effect, RunAgent):
            kind: Literal["turn", "review"] = "review" if effect.authors or effect.copy else "turn"
            self._item[effect.lane] = effect.item or self._item.get(effect.lane, "")
            self._enter(effect, Bar(kind, effect.lane, at, turn=effect.turn, item=effect.item))
        elif isinstance(effect, Measure):
            self._gate[effect.lane] = len(self.bars)
            self._enter(effect, Bar("gate", effect.lane, at, turn=effect.turn))
        elif isinstance(effect, Wait):
            self._open[effect.id] = effect, len(self.pauses)
            self.pauses.append(Pause(effect.lane, plain(effect.reason), at, effect.until))

    def _enter(self, effect: Effect, bar: Bar) -> None:
        self.lanes[effect.lane] = self.lanes.get(effect.lane, (bar.begun_at, ENDLESS))[0], ENDLESS
        self._open[effect.id] = effect, len(self.bars)
        self.bars.append(bar)

    def _on_ended(self, at: datetime, fact: ev.Ended) -> None:
        effect, where = self._open.pop(fact.id, (None, 0))
        if isinstance(effect, Wait):
            waited = (at - self.pauses[where].begun_at).total_seconds()
            self._waited[effect.lane] = self._waited.get(effect.lane, 0.0) + waited
            self.pauses[where] = replace(self.pauses[where], ended_at=at)
        elif effect is not None:
            self.bars[where] = replace(self.bars[where], ended_at=at)
            self.lanes[effect.lane] = self.lanes[effect.lane][0], at
            outcome = fact.outcome
            if isinstance(outcome, Measured):
                self._counts[effect.lane] = outcome.measurement.counts
            elif isinstance(outcome, TurnEnded) and outcome.usage.usd:
                so_far = self.money[-1].usd if self.money else 0.0
                self.money.append(Amount(at, round(so_far + outcome.usage.usd, 6)))

    def _on_judged(self, at: datetime, fact: ev.Judged) -> None:
        where = self._gate.pop(fact.lane, None)
        if where is not None and fact.gate_1.held:
            self.bars[where] = replace(self.bars[where], held=True)
        note = fact.gate_1.missing[0] if fact.gate_1.missing else fact.verdict.evidence
        self.marks.append(
            TimelineMark(
                len(self.marks) + 1,
                at,
                kind_of(fact),
                fact.lane,
                self._item.get(fact.lane, ""),
                fact.stage,
                self._counts.get(fact.lane, Counts()),
                fact.turn,
                plain(note, 160),
                self._waited.pop(fact.lane, 0.0),
                fact.false_claim,
            )
        )

    def _set_items(self, at: datetime, items: tuple[Item, ...]) -> None:
        self._done = {item.id: item.status == "completed" for item in items}
        self._count(at)

    def _count(self, at: datetime) -> None:
        self.progress.append(Progress(at, sum(self._done.values()), len(self._done)))

    _facts: ClassVar[dict[type, Callable[[Timeline, datetime, Any], None]]] = {
        ev.TaskOpened: lambda self, at, fact: self._set_items(at, fact.task.items),
        ev.SessionStarted: lambda self, at, _fact: self.sittings.append(Sitting(at, at)),
        be.LaneOpened: _on_lane_opened,
        be.SubtaskIntegrated: _on_integrated,
        ev.Begun: _on_begun,
        ev.Ended: _on_ended,
        ev.Judged: _on_judged,
        ev.ItemsSet: lambda self, at, fact: self._set_items(at, fact.items),
    }


def last_counted(marks: Sequence[TimelineMark]) -> list[TimelineMark]:
    """The marks with counts of one lane, which was counted last: counts of two lanes are of two trees."""
    counted = [mark for mark in marks if mark.failing is not None]
    return [mark for mark in counted if mark.lane == counted[-1].lane]


def kind_of(fact: ev.Judged) -> Kind:
    """What came of an iteration, in one word of every page."""
    if fact.restore_to:
        return "rolled back"
    if fact.rejected:
        return "rejected"
    if fact.false_claim:
        return "false claim"
    if fact.questions or fact.breaker.state == "OPEN":
        return "asks you"
    return "accepted" if fact.can_exit else "continue"
