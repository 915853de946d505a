"""A backlog's cycle seen from outside: what the evaluator is told of it, and what is kept of it in the user's files."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.backlog import Backlog, Build, Gates, Issue, Session, Situation, Validation
from flyball.core.events import Evaluated
from flyball.core.measurement import Measurement
from flyball.core.outcomes import BacklogRead
from flyball.core.state import State
from flyball.core.task import Item
from flyball.core.work_edits import KeepDecision, KeepSession, Stored

FOLDER = ".work"


def folder(state: State) -> str:
    """Where the backlog of a task is, from the repository's root."""
    return state.task.source.path if state.task.source else FOLDER


def situation(state: State, seen: BacklogRead) -> Situation:
    """All the evaluator looks at, as it stands now."""
    proven = state.work.proven or state.baseline
    return Situation(
        backlog=seen.backlog,
        validations=tuple(_validations(state)),
        session=session(state, seen),
        warnings=seen.warnings,
        build=_build(proven),
        gates=_gates(proven),
        environment=seen.environment,
        untouched=not state.work.cycle,
    )


def session(state: State, seen: BacklogRead) -> Session:
    """What happened since the task began; how often an issue failed is what its folder remembers."""
    work, limit = state.work, state.task.settings.limits.max_cycles
    failures = {key: count for key, count in seen.session.failures.items() if key not in work.forgiven}
    if work.settled is not None and work.settled.failures:
        failures[work.settled.id] = work.settled.failures
    return replace(
        seen.session,
        cycles=work.cycle,
        max_cycles=seen.session.max_cycles if limit is None else limit,
        completed=work.completed,
        created=work.created,
        completed_count=len(work.completed),
        created_count=len(work.created),
        consecutive_failures=work.idle_cycles,
        failures=failures,
        cycles_without_completion=work.idle_cycles,
        focus=work.selected or work.previous or seen.session.focus,
        answered=tuple(dict.fromkeys((*seen.session.answered, *work.answered))),
        started_at=state.task.opened_at.isoformat(),
    )


def _validations(state: State) -> list[Validation]:
    return [review.validation for review in state.work.reviews.values()]


def _build(proven: Measurement | None) -> Build:
    if proven is None or not proven.gates:
        return "unknown"
    return "fail" if proven.broken else "pass"


def _gates(proven: Measurement | None) -> Gates:
    """Whether the accepted tree passes its gates; tests that failed before the task began are not required."""
    if proven is None or not proven.gates:
        return "unknown"
    known = proven.counts.known_failing > 0 and not proven.counts.failing
    return "met" if all(gate.passed or (known and gate.counts is not None) for gate in proven.gates) else "unmet"


def find(backlog: Backlog, issue: str) -> Issue | None:
    return next((each for each in backlog.issues if each.id == issue), None)


def as_item(issue: Issue) -> Item:
    """An issue as the kernel knows what is worked on."""
    return Item(
        issue.id,
        issue.title or issue.id,
        status="in-progress",
        files=issue.affected_files,
        acceptance=issue.acceptance,
        kind=issue.type,
    )


def kept(state: State, seen: BacklogRead, said: Evaluated) -> tuple[KeepDecision, KeepSession]:
    """A decision, and the session as other loops know it, for the user's files."""
    now = session(state, seen)
    at = state.now.isoformat(timespec="seconds")
    values: dict[str, Stored] = {
        "issues_completed_session": list(now.completed),
        "issues_created_session": list(now.created),
        "consecutive_failures": now.consecutive_failures,
        "current_issue": said.next_issue,
        "start_time": now.started_at,
    }
    decision = KeepDecision(said.decision, said.reason, said.trigger, at, now, said.next_issue)
    return decision, KeepSession(values)
