"""What the effects on a plan's source and the facts about it add to what is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.model.effects import Effect
from flyball.core.model.events import SessionStarted
from flyball.core.model.outcomes import Interrupted, Stale
from flyball.core.model.state import Lane, State
from flyball.core.workflows.plan.facts import MatterSettled, SourceSeen
from flyball.core.workflows.plan.record import record_of
from flyball.core.workflows.plan.sources.effects import EntriesMarked, MarkEntries, PlanRead
from flyball.core.workflows.plan.sources.following import (
    perhaps_written,
    remembered,
    renewed,
    still_written,
    with_changes,
)

UNREAD = -1


def _keep(state: State, **changes: Any) -> None:
    known = record_of(state)
    state.record = replace(known, imported=replace(known.imported, **changes))


def _read(state: State, _lane: Lane, _effect: Effect, outcome: PlanRead) -> None:
    known = record_of(state).imported
    _keep(
        state,
        unread=outcome.plan,
        unread_sha256=outcome.sha256,
        looked=len(state.main.visits),
        reads=known.reads + 1,
    )


def _marked(state: State, _lane: Lane, effect: Effect, outcome: EntriesMarked) -> None:
    known = record_of(state).imported
    assert isinstance(effect, MarkEntries)
    assert known.plan is not None
    _keep(
        state,
        plan=with_changes(known.plan, effect.changes),
        written=remembered(known.written, effect.changes),
        sha256=outcome.sha256,
        marks=known.marks + 1,
        stale=0,
    )


def _stale(state: State, _lane: Lane, effect: Effect, _outcome: Stale) -> None:
    """What was read before is no longer what there is: it is read again before anything is marked."""
    known = record_of(state).imported
    if isinstance(effect, MarkEntries):
        tried = perhaps_written(known.written, effect.changes)
        _keep(state, written=tried, looked=UNREAD, marks=known.marks + 1, stale=known.stale + 1)


def _interrupted(state: State, _lane: Lane, effect: Effect, _outcome: Interrupted) -> None:
    """The file may bear marks of ours that nobody has seen."""
    known = record_of(state).imported
    if isinstance(effect, MarkEntries):
        _keep(state, written=perhaps_written(known.written, effect.changes))


def _seen(state: State, fact: SourceSeen) -> None:
    known = record_of(state).imported
    now = renewed(known)
    _keep(
        state,
        plan=now,
        written=still_written(known.written, now),
        sha256=fact.sha256,
        unread=None,
        matters=(*known.matters, *fact.matters),
        ticked=(*known.ticked, *fact.ticked),
        unverified=(*known.unverified, *fact.unverified),
    )


def _settled(state: State, fact: MatterSettled) -> None:
    known = record_of(state).imported
    if fact.matter is None:
        _keep(state, looked=UNREAD, unread=None, stale=0)
    else:
        done, dropped = (fact.matter.ids if fact.taken == taken else () for taken in ("done", "dropped"))
        _keep(
            state,
            matters=tuple(matter for matter in known.matters if matter != fact.matter),
            unverified=(*known.unverified, *done),
            dropped=(*known.dropped, *dropped),
        )


def _session_started(state: State, _fact: SessionStarted) -> None:
    """A new session reads the source anew: people may have edited it meanwhile."""
    if record_of(state).imported.reads:
        _keep(state, looked=UNREAD, unread=None, stale=0)


FOLDS: dict[type, Callable[[State, Any], None]] = {
    SourceSeen: _seen,
    MatterSettled: _settled,
    SessionStarted: _session_started,
}
ENDED: dict[type, Callable[[State, Lane, Any, Any], None]] = {
    PlanRead: _read,
    EntriesMarked: _marked,
    Stale: _stale,
    Interrupted: _interrupted,
}
