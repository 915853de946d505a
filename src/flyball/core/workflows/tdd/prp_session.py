"""A session of the loop that flyball's `tdd` workflow comes from: what its `loop-state.json` says of where it stands."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from flyball.core.text.scrubbing import one_line, storable

PHASES = ("RED", "GREEN", "REFACTOR", "DOCUMENT", "QA")
OPEN = ("running", "paused", "suspended", "halted")
COMPLETED = "completed"
AHEAD = timedelta(minutes=5)


class Odd(Exception):
    """The file is no such session; the sentence says what was found and what was expected."""


class PrpSession(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    document: str
    phase: str
    status: str
    iteration: int = 0
    calls: int = 0
    errors: int = 0
    completed: tuple[str, ...] = ()
    breaker: str = "CLOSED"
    no_progress: int = 0
    same_error: int = 0


def read(state: Any, breaker: Any, now: datetime) -> PrpSession:
    """The session that the two files tell of; a missing breaker file counts as CLOSED."""
    if not isinstance(state, Mapping):
        raise Odd(f"it holds {_quote(state)}; expected an object")
    phase = _one_of(state, "current_phase", PHASES)
    status = _one_of(state, "status", (*OPEN, COMPLETED))
    _past(state, "started_at", now)
    counted = breaker if isinstance(breaker, Mapping) else {}
    behind = state.get("phases_completed")
    errors = state.get("error_history")
    return PrpSession(
        id=_text(state, "session_id"),
        document=_text(state, "prp_file"),
        phase=phase,
        status=status,
        iteration=_count(state, "current_iteration"),
        calls=_count(state, "total_agent_calls"),
        errors=len(errors) if isinstance(errors, list) else 0,
        completed=tuple(dict.fromkeys(p for p in PHASES if isinstance(behind, list) and p in behind)),
        breaker=_one_of(counted, "state", ("CLOSED", "HALF_OPEN", "OPEN")) if "state" in counted else "CLOSED",
        no_progress=_count(counted, "no_progress_count"),
        same_error=_count(counted, "same_error_count"),
    )


def describe_session(session: PrpSession) -> str:
    behind = f"; completed there: {', '.join(session.completed)}" if session.completed else ""
    return (
        f"session {session.id} ({session.status}) on {session.document}: {session.phase}, iteration {session.iteration}, "
        f"{session.calls} agent calls, {session.errors} errors, breaker {session.breaker} ({session.no_progress} without "
        f"progress, {session.same_error} same error){behind}"
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Odd(f"{name} is {_quote(value)}; expected a text")
    return one_line(storable(value))[:500]


def _one_of(fields: Mapping[str, Any], name: str, words: tuple[str, ...]) -> str:
    value = fields.get(name)
    if value not in words:
        raise Odd(f"{name} is {_quote(value)}; expected one of {', '.join(words)}")
    return str(value)


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Odd(f"{name} is {_quote(value)}; expected a number from 0")
    return value


def _past(fields: Mapping[str, Any], name: str, now: datetime) -> None:
    try:
        at = datetime.fromisoformat(_text(fields, name))
    except ValueError as error:
        raise Odd(f"{name} is {_quote(fields.get(name))}; expected a time such as 2026-02-01T12:00:00Z") from error
    if at.tzinfo is None:
        raise Odd(f"{name} is {_quote(fields.get(name))}; expected a time with its zone")
    if at > now + AHEAD:
        raise Odd(f"{name} is {_quote(fields.get(name))} and lies in the future; expected a time in the past")


def _quote(value: object) -> str:
    return "missing" if value is None else one_line(storable(repr(value)))[:80]
