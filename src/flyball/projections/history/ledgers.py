"""Histories of one thing each: every checkpoint, and, bounded, what the breaker did and the errors with their streaks."""

import hashlib
from collections import deque
from collections.abc import Collection
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from flyball.core.health.breaker import CLOSED, Breaker
from flyball.core.model.events import Judged
from flyball.core.model.measurement import Trick
from flyball.core.model.task import MAIN
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.wording import plain

ERRORS_KEPT = 50
BREAKER_EVENTS_KEPT = 50
LONGEST_ERROR = 500


class BreakerEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the breaker's history, with the stored names of `circuit-breaker.json`."""

    timestamp: datetime
    event: Literal["state_change", "progress", "error"]
    from_state: str
    to_state: str
    reason: str
    lane: str = MAIN


class ErrorSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the error history, with the stored names of `loop-state.json`; `hash` is the failure's signature."""

    timestamp: datetime
    phase: str
    iteration: int
    error: str
    hash: str
    lane: str = MAIN


class Streak(msgspec.Struct, frozen=True):
    """How many iterations of a lane failed running, and how often with the same error, which is `last`."""

    failures: int = 0
    same: int = 0
    last: ErrorSeen | None = None


class BreakerLedger:
    """How the breaker of each lane came to stand where it stands."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.opened_at: dict[str, datetime] = {}
        self.events: deque[BreakerEvent] = deque(maxlen=BREAKER_EVENTS_KEPT)

    def enter(self, at: datetime, breaker: Breaker, reason: str, *, lane: str = MAIN, progress: bool = False) -> None:
        before, now = self.states.get(lane, CLOSED.state), breaker.state
        self.states[lane] = now
        kind: Literal["state_change", "progress", "error"] = "progress" if progress else "error"
        if before != now:
            kind = "state_change"
            self.opened_at.pop(lane, None)
            if now == "OPEN":
                self.opened_at[lane] = at
        elif not progress and not breaker.no_progress:
            return
        self.events.append(BreakerEvent(at, kind, before, now, plain(reason), lane))

    def close(self, at: datetime, reason: str, lanes: Collection[str] = ()) -> None:
        """The breakers of these lanes begin anew; without any, those of all."""
        for lane in lanes or tuple(self.states):
            self.enter(at, CLOSED, reason, lane=lane)


class ErrorLedger:
    """The last errors, and the streak of each lane."""

    def __init__(self) -> None:
        self.recent: deque[ErrorSeen] = deque(maxlen=ERRORS_KEPT)
        self._streaks: dict[str, Streak] = {}

    def streak(self, lane: str = MAIN) -> Streak:
        return self._streaks.get(lane, Streak())

    def forget(self, lane: str) -> None:
        """The lane is gone; another of its name has no streak yet."""
        self._streaks.pop(lane, None)

    def enter(
        self, at: datetime, stage: str, iteration: int, error: str, signature: str = "", *, lane: str = MAIN
    ) -> ErrorSeen:
        text = plain(error, LONGEST_ERROR)
        known = signature or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        self.recent.append(ErrorSeen(at, stage, iteration, text, known, lane))
        return self.recent[-1]

    def on_judged(self, at: datetime, fact: Judged) -> None:
        if fact.gate_1.held:
            self.forget(fact.lane)
            return
        seen = fact.observation
        error = seen.summary or next((named.summary for named in seen.failed.values() if named.summary), "")
        error = error or next(iter(fact.gate_1.missing), fact.verdict.evidence)
        now = self.enter(at, fact.stage, fact.iteration, error, seen.fine or fact.breaker.error, lane=fact.lane)
        before = self.streak(fact.lane)
        same = before.last is not None and before.last.hash == now.hash
        self._streaks[fact.lane] = Streak(before.failures + 1, before.same + 1 if same else 1, now)


class CheckpointLedger:
    """Every checkpoint; one that was caught with a trick is marked with it, until a person allows what it changed.

    `standing` is the commit whose tree each lane has now.
    """

    def __init__(self) -> None:
        self.records: list[CheckpointRecord] = []
        self.standing: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._caught: dict[str, tuple[Trick, ...]] = {}

    def keep(self, record: CheckpointRecord) -> None:
        self._places[record.commit] = len(self.records)
        self.records.append(replace(record, before=self.standing.get(record.lane, "")))
        self.standing[record.lane] = record.commit

    def find(self, commit: str) -> CheckpointRecord | None:
        where = self._places.get(commit)
        return None if where is None else self.records[where]

    def doubt(self, commit: str, tricks: tuple[Trick, ...]) -> None:
        """Mark a checkpoint with the first trick that is held against it; without any it is as good as others."""
        self._caught[commit] = tricks
        where = self._places.get(commit)
        if where is not None:
            told = "".join(f"{trick.path}: {trick.detail}" for trick in tricks[:1])
            self.records[where] = replace(self.records[where], tricked=plain(told))

    def allow(self, commit: str, paths: tuple[str, ...]) -> None:
        known = self._caught.get(commit, ())
        if known:
            self.doubt(commit, tuple(trick for trick in known if trick.path not in paths))
