"""A backlog's cycle: what the evaluator is told of it, what became of its issue, and what is written because of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from flyball.core.model.effects import Option, Question
from flyball.core.model.measurement import Measurement
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId, Item
from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog import proposals
from flyball.core.workflows.backlog.edits import (
    AddIssue,
    Archive,
    KeepDecision,
    KeepSession,
    Reopen,
    SetStatus,
    Stored,
    WorkEdit,
)
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog
from flyball.core.workflows.backlog.facts import Evaluated, ItemSettled
from flyball.core.workflows.backlog.record import record_of
from flyball.core.workflows.backlog.values import Backlog, Build, Evaluation, Gates, Issue, Session, Situation

FOLDER = ".work"
DEVIATIONS_KEPT = 20


def folder(state: State) -> str:
    return state.task.source.path if state.task.source else FOLDER


def situation(state: State, seen: BacklogRead) -> Situation:
    proven = record_of(state).proven or state.baseline
    return Situation(
        backlog=seen.backlog,
        validations=tuple(review.validation for review in record_of(state).reviews.values()),
        session=session(state, seen),
        warnings=seen.warnings,
        build=_build(proven),
        gates=_gates(proven),
        environment=seen.environment,
        validators=state.task.settings.evaluate.validators,
        untouched=not record_of(state).cycle,
    )


def session(state: State, seen: BacklogRead) -> Session:
    """What happened since the task began; how often an issue failed is what its folder remembers."""
    work, limit = record_of(state), state.task.settings.limits.max_cycles
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
        focus=state.main.item or work.previous or seen.session.focus,
        answered=tuple(dict.fromkeys((*seen.session.answered, *work.answered))),
        started_at=state.task.opened_at.isoformat(),
    )


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
    return Item(
        issue.id,
        issue.title or issue.id,
        status="in-progress",
        files=issue.affected_files,
        acceptance=issue.acceptance,
        kind=issue.type,
    )


def settlement(state: State, lane: Lane, seen: BacklogRead) -> ItemSettled:
    """What became of the issue at hand, and which issues its validators want beside it."""
    work = record_of(state)
    drawn = proposals.draw(work.reviews.values(), seen.backlog, state.now)
    notes = (*(note for review in work.reviews.values() for note in review.notes), *drawn.notes)
    if work.passed:
        return ItemSettled(lane.item, "completed", 0, drawn.issues, notes)
    if lane.visits[-2].forced:
        return ItemSettled(lane.item, "blocked", 0, drawn.issues, notes)
    failures = session(state, seen).failures.get(lane.item, 0) + 1
    return ItemSettled(lane.item, "failed", failures, drawn.issues, notes)


def withdrawal(lane: Lane, seen: BacklogRead) -> ItemSettled | None:
    """A person's word in the file against the issue at hand, given while it was worked on; it outweighs what validators say."""
    issue = find(seen.backlog, lane.item)
    if issue is None or issue.status not in {"blocked", "won't-fix"}:
        return None
    note = f"a person set it to {issue.status} while it was worked on, so its work is not taken"
    return ItemSettled(issue.id, "withdrawn", notes=(note,))


def settling_edits(state: State, settled: ItemSettled, seen: BacklogRead) -> list[WorkEdit]:
    issue = find(seen.backlog, settled.id)
    edits: list[WorkEdit] = []
    if issue is not None and settled.status == "completed" and issue.status != "won't-fix":
        # Somebody may have changed the status meanwhile, and only what is in progress can be completed.
        taken = SetStatus(issue.file, issue.id, issue.status, "in-progress")
        edits += [] if issue.status in {"in-progress", "completed"} else [taken]
        edits.append(Archive(issue.file, issue.id, state.now.date().isoformat()))
    elif issue is not None and settled.status == "blocked" and issue.status == "in-progress":
        edits.append(SetStatus(issue.file, issue.id, "in-progress", "blocked"))
    there = {each.id for each in seen.backlog.issues}
    edits += [AddIssue(new.issue, new.source) for new in settled.created if new.issue.id not in there]
    return edits


def reopening(state: State, seen: BacklogRead) -> EditBacklog:
    edits = tuple(Reopen(issue, state.now.date().isoformat()) for issue in record_of(state).reopened)
    return EditBacklog(EffectId(f"edit/reopen-{state.seq}"), path=folder(state), seen=seen.files, edits=edits)


def evaluation_fact(state: State, said: Evaluation, seen: BacklogRead) -> Evaluated:
    """A decision as a fact; `items` are the issues a person's word could set free."""
    ids = (issue.id for issue in seen.backlog.issues)
    waiting = (id for id in ids if any(cause == id or cause.startswith(f"{id}: ") for cause in said.blocked_on))
    return Evaluated(
        said.decision,
        said.reason,
        said.trigger,
        record_of(state).evaluations + 1,
        said.next_issue or "",
        said.blocked_on,
        tuple(waiting),
        said.warnings,
        tuple(f"{d.file}:{d.line}: {d.message}" for d in said.deviations[:DEVIATIONS_KEPT]),
    )


def question(said: Evaluated) -> Question:
    """What a person is asked when nothing can go on without them."""
    options = (
        Option("reset", "clear what blocks, and continue"),
        Option("TEXT", "what the issues need to know; then go on"),
        Option("abort", "end the task"),
    )
    return Question("backlog-blocked", said.reason, options, detail="\n".join(said.blocked_on), again=True)


def unwritable_question(edits: Sequence[WorkEdit], times: int) -> Question:
    """What a person is asked when an edit is refused again and again although nobody changes the file."""
    wanted = [_describe_edit(edit) for edit in edits if isinstance(edit, SetStatus | Archive | AddIssue)]
    text = (
        f"The backlog could not be edited: {'; '.join(wanted) or 'the decision'} was refused {plural(times, 'time')} although nobody "
        "changed the files. What was read is no longer in its place. Edit the file by hand, or write its header again; then continue."
    )
    options = (Option("reset", "try again"), Option("abort", "end the task"))
    return Question("backlog-stale", text, options, detail="\n".join(wanted), again=True)


def _describe_edit(edit: SetStatus | Archive | AddIssue) -> str:
    match edit:
        case SetStatus():
            return f"{edit.issue} in {edit.file} from {edit.old} to {edit.new}"
        case Archive():
            return f"{edit.issue} from {edit.file} to the history"
        case AddIssue():
            return f"{edit.issue.id} into {edit.issue.file}"


def decision_edits(state: State, seen: BacklogRead, said: Evaluated) -> tuple[KeepDecision, KeepSession]:
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
