"""Histories of one thing each: every checkpoint, and, bounded, what the breaker did and the errors with their streaks."""

from __future__ import annotations

import hashlib
from collections import deque
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from flyball.core.health.breaker import CLOSED, Breaker
from flyball.core.model.events import Judged
from flyball.core.model.measurement import Trick
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.wording import plain

ERRORS_KEPT = 50
BREAKER_EVENTS_KEPT = 50
LONGEST_ERROR = 500


class BreakerEvent(msgspec.Struct, frozen=True):
    """A line of the breaker's history, with the stored names of `circuit-breaker.json`."""

    timestamp: datetime
    event: Literal["state_change", "progress", "error"]
    from_state: str
    to_state: str
    reason: str


class ErrorSeen(msgspec.Struct, frozen=True):
    """A line of the error history, with the stored names of `loop-state.json`; `hash` is the failure's signature."""

    timestamp: datetime
    phase: str
    iteration: int
    error: str
    hash: str


class BreakerLedger:
    """How the breaker of the task's own lane came to stand where it stands."""

    def __init__(self) -> None:
        self.state: str = CLOSED.state
        self.opened_at: datetime | None = None
        self.events: deque[BreakerEvent] = deque(maxlen=BREAKER_EVENTS_KEPT)

    def enter(self, at: datetime, breaker: Breaker, reason: str, *, progress: bool = False) -> None:
        before, self.state = self.state, breaker.state
        if before != self.state:
            self.opened_at = at if self.state == "OPEN" else None
            self._record(at, "state_change", before, reason)
        elif progress:
            self._record(at, "progress", before, reason)
        elif breaker.no_progress:
            self._record(at, "error", before, reason)

    def _record(self, at: datetime, kind: Literal["state_change", "progress", "error"], before: str, why: str) -> None:
        self.events.append(BreakerEvent(at, kind, before, self.state, plain(why)))


class ErrorLedger:
    """The last errors, how many iterations failed running, and how often with the same error."""

    def __init__(self) -> None:
        self.recent: deque[ErrorSeen] = deque(maxlen=ERRORS_KEPT)
        self.failures_running = 0
        self.streak = 0
        self._last = ""

    def enter(self, at: datetime, stage: str, iteration: int, error: str, signature: str = "") -> None:
        text = plain(error, LONGEST_ERROR)
        known = signature or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        self.recent.append(ErrorSeen(at, stage, iteration, text, known))

    def on_judged(self, at: datetime, fact: Judged) -> None:
        if fact.gate_1.held:
            self.failures_running = self.streak = 0
            self._last = ""
            return
        seen = fact.observation
        error = seen.summary or next((named.summary for named in seen.failed.values() if named.summary), "")
        error = error or next(iter(fact.gate_1.missing), fact.verdict.evidence)
        self.enter(at, fact.stage, fact.iteration, error, seen.fine or fact.breaker.error)
        self.failures_running += 1
        signature = self.recent[-1].hash
        self.streak = self.streak + 1 if signature == self._last else 1
        self._last = signature


class CheckpointLedger:
    """Every checkpoint; one that was caught with a trick is marked with it, until a person allows what it changed."""

    def __init__(self) -> None:
        self.records: list[CheckpointRecord] = []
        self._places: dict[str, int] = {}
        self._caught: dict[str, tuple[Trick, ...]] = {}

    def keep(self, record: CheckpointRecord) -> None:
        self._places[record.commit] = len(self.records)
        self.records.append(record)

    def find(self, commit: str) -> CheckpointRecord | None:
        where = self._places.get(commit)
        return None if where is None else self.records[where]

    def doubt(self, commit: str, tricks: tuple[Trick, ...]) -> None:
        """Mark a checkpoint with the first trick that is held against it; without any it is as good as others."""
        self._caught[commit] = tricks
        where = self._places.get(commit)
        if where is not None:
            told = "".join(f"{trick.kind}: {trick.path}: {trick.detail}" for trick in tricks[:1])
            self.records[where] = replace(self.records[where], tricked=plain(told))

    def allow(self, commit: str, paths: tuple[str, ...]) -> None:
        known = self._caught.get(commit, ())
        if known:
            self.doubt(commit, tuple(trick for trick in known if trick.path not in paths))
