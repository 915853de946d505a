"""The session in `orchestrator-state.json`: read from any of its known shapes, and what an evaluation changes in it.

Loops that are not flyball's own count cycles and completed issues there; evaluating counts no cycle. A value goes back under
the name it was read from, so that what one loop writes never hides what another counts. What flyball has to count itself it
keeps under the key `flyball`, together with what the file said then, so that asking twice in one cycle counts once, and a
count that somebody else keeps is left alone.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from flyball.core.claims.reviews import Validation
from flyball.core.text.scrubbing import clean
from flyball.core.workflows.backlog.evaluator import FAILURES_THAT_BLOCK, idle_cycles
from flyball.core.workflows.backlog.values import Evaluation, Session

OWN = "flyball"
_CYCLES = ("cycles", "iteration")
_LIMIT = ("max_cycles", "max_iterations")
_COMPLETED = ("issues_completed_session", "issues_completed", "completed_issues")
_CREATED = ("issues_created_session", "issues_created")
_FOCUS = ("current_issue", "last_issue")
_STARTED = ("start_time", "started_at")
_LONGEST_ID = 200
_LONGEST_ERROR = 1000


class LastSeen(msgspec.Struct, frozen=True):
    """What the last evaluation found and counted; `done` is the digest of the backlog it said DONE of."""

    cycles: int = 0
    completed: int = 0
    cycles_without_completion: int = 0
    validation_failures: dict[str, int] = {}
    failed_in_cycle: dict[str, int] = {}
    done: str = ""


class StateRead(msgspec.Struct, frozen=True):
    """The session a state file tells of, what was last seen of it, what in it could not be used, and the errors it names."""

    session: Session
    seen: LastSeen | None
    problems: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unrecoverable: bool = False


def read_state(raw: Mapping[str, Any]) -> StateRead:
    """The session in a state file of whatever shape."""
    fields = _StateFields(raw)
    completed, completed_count = fields.ids_and_count(_COMPLETED)
    created, created_count = fields.ids_and_count(_CREATED)
    seen = _last_seen(raw)
    cycles = max(fields.count(name) for name in _CYCLES)
    session = Session(
        cycles=cycles,
        max_cycles=fields.count(*_LIMIT),
        completed=completed,
        created=created,
        completed_count=completed_count,
        created_count=created_count,
        consecutive_failures=fields.count("consecutive_failures"),
        failures=fields.counts("validation_failures"),
        cycles_without_completion=_idle(raw, seen, cycles, completed_count),
        focus=fields.issue(*_FOCUS),
        answered=fields.ids_and_count(("answered",))[0],
        started_at=fields.text(*_STARTED),
    )
    errors, unrecoverable = fields.errors()
    return StateRead(session, seen, tuple(fields.problems), errors, unrecoverable)


def count_failures(read: StateRead, session: Session, validations: Iterable[Validation]) -> Session:
    """The session with a failed validation of its focus counted, once in each cycle, unless somebody else counts."""
    seen = read.seen or LastSeen()
    failed = any(not validation.passed for validation in validations)
    counted_already = seen.failed_in_cycle.get(session.focus) == session.cycles and read.seen is not None
    if not failed or not session.focus or counted_already or session.failures != seen.validation_failures:
        return session
    failures = {**session.failures, session.focus: session.failures.get(session.focus, 0) + 1}
    return msgspec.structs.replace(session, failures=failures)


def reset(session: Session) -> Session:
    kept = {id: count for id, count in session.failures.items() if count < FAILURES_THAT_BLOCK}
    return msgspec.structs.replace(session, failures=kept, cycles_without_completion=0)


def with_evaluation(
    raw: Mapping[str, Any], read: StateRead, session: Session, evaluation: Evaluation, *, at: str, digest: str = ""
) -> dict[str, Any]:
    """The state file with the decision and the counts in it; every other key is kept, in its place.

    `digest` stands for the backlog that was evaluated.
    """
    idle = idle_cycles(session)
    before = read.seen or LastSeen()
    failed = {id: cycle for id, cycle in before.failed_in_cycle.items() if cycle <= session.cycles}
    if session.failures.get(session.focus, 0) > read.session.failures.get(session.focus, 0):
        failed[session.focus] = session.cycles
    # What nobody said this time takes nothing back; the digest tells whether the files are the same.
    done = digest if evaluation.decision == "DONE" else before.done if evaluation.trigger == "unverified" else ""
    # The name the cycles were read from; of two counts the higher one was.
    counter = max((name for name in _CYCLES if name in raw), key=_StateFields(raw).count, default=_CYCLES[0])
    seen = LastSeen(session.cycles, session.completed_count, idle, session.failures, failed, done)
    return {
        **raw,
        "last_decision": evaluation.decision,
        "last_decision_reason": evaluation.reason,
        "last_decision_time": at,
        counter: session.cycles,
        "next_issue_hint": evaluation.next_issue,
        "validation_failures": session.failures,
        "cycles_without_completion": idle,
        OWN: msgspec.to_builtins(seen),
    }


def with_values(raw: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The state file with values under the names, and in the shapes, that it has for them; a count stays a count."""
    new = dict(raw)
    for name, value in values.items():
        names = next((each for each in (_COMPLETED, _CREATED, _FOCUS, _STARTED) if name in each), (name,))
        key = next((each for each in names if raw.get(each) is not None), name)
        new[key] = _in_shape_of(raw.get(key), value)
    return new


def _in_shape_of(old: object, value: Any) -> Any:
    if isinstance(old, int) and isinstance(value, list):
        return len(value)
    if isinstance(old, dict):
        return {**old, "issue_id" if "issue_id" in old and "id" not in old else "id": value}
    return value


def _last_seen(raw: Mapping[str, Any]) -> LastSeen | None:
    try:
        return msgspec.convert(raw[OWN], LastSeen)
    except (KeyError, msgspec.ValidationError):
        return None


def _idle(raw: Mapping[str, Any], seen: LastSeen | None, cycles: int, completed: int) -> int | None:
    """Cycles in a row without a completed issue: as somebody keeps them, or counted on from what was last seen."""
    stated = raw.get("cycles_without_completion")
    known = stated if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0 else None
    if seen is None or known != seen.cycles_without_completion:
        return known
    if cycles < seen.cycles:
        return None
    return 0 if completed > seen.completed else seen.cycles_without_completion + cycles - seen.cycles


class _StateFields:
    """The file's values asked one by one; what is of the wrong kind counts as absent and is named."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw
        self.problems: list[str] = []

    def count(self, *names: str) -> int:
        for name in names:
            value = self._raw.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
                return value
            if value is not None:
                self._note(name, "a number from 0")
        return 0

    def counts(self, name: str) -> dict[str, int]:
        value = self._raw.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._note(name, "numbers by issue")
            return {}
        return {_id(id): n for id, n in value.items() if isinstance(n, int) and not isinstance(n, bool) and n >= 0}

    def ids_and_count(self, names: Iterable[str]) -> tuple[tuple[str, ...], int]:
        """Ids, and how many; some shapes give the number alone."""
        for name in names:
            value = self._raw.get(name)
            if isinstance(value, list):
                ids = tuple(dict.fromkeys(_id(entry) for entry in value if _id(entry)))
                return ids, len(ids)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return (), value
            if value is not None:
                self._note(name, "a list of ids or their number")
        return (), 0

    def issue(self, *names: str) -> str:
        return next((found for name in names if (found := _id(self._raw.get(name)))), "")

    def text(self, *names: str) -> str:
        return next((clean(value, 100) for name in names if isinstance(value := self._raw.get(name), str)), "")

    def errors(self) -> tuple[tuple[str, ...], bool]:
        """What went wrong, and whether only a person can resolve it: a list, or an object with both; an entry may say it of itself."""
        given: Any = self._raw.get("errors")
        inner = given if isinstance(given, dict) else {}
        listed = next((inner[name] for name in ("list", "errors", "messages") if name in inner), [] if inner else given)
        entries = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
        if listed is not None and not isinstance(listed, str | list):
            self._note("errors", "a list of texts")
        messages = [
            entry.get("message") or entry.get("error") if isinstance(entry, dict) else entry for entry in entries
        ]
        flagged = [entry for entry in (self._raw, inner, *entries) if isinstance(entry, dict)]
        unrecoverable = any(
            entry.get(name) is True for entry in flagged for name in ("unrecoverable", "unrecoverable_error")
        )
        return tuple(
            clean(text, _LONGEST_ERROR) for text in messages if isinstance(text, str) and text.strip()
        ), unrecoverable

    def _note(self, name: str, expected: str) -> None:
        self.problems.append(f"orchestrator-state.json: {name} is not {expected} and is not used")


def _id(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("id") or value.get("issue_id")
    return clean(value, _LONGEST_ID) if isinstance(value, str) else ""
