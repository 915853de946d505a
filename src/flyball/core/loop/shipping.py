"""The end every workflow shares: flyball's own files on the branch, the branch where the user finds it, the task done."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.loop import gates, kernel
from flyball.core.loop.commit_messages import message, subject
from flyball.core.loop.failures import unfinished_work
from flyball.core.loop.step import Step, halt, perform
from flyball.core.model.effects import Deliver, OpenPullRequest, Save
from flyball.core.model.events import TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Delivered, Measured, PullRequested, Saved, Undelivered
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Commit, EffectId
from flyball.core.text.quantities import first_few, plural


def ship(state: State, lane: Lane, passed: str) -> Step:
    """Deliver the branch; `passed` says what was verified, and what a person skipped is named beside it."""
    visit = len(lane.visits)
    name = EffectId(f"save/report-{visit}")
    if not isinstance(lane.outcomes.get(name), Saved):
        unproven = _prove_work(state, lane, EffectId(f"measure/work-{visit}"))
        return unproven or perform(_report(state, lane, name, passed))
    delivery = EffectId(f"deliver/{visit}")
    done = lane.outcomes.get(delivery)
    if isinstance(done, Undelivered):
        return halt(TaskStopped("blocked", f"the branch could not be delivered: {done.detail}"))
    if not isinstance(done, Delivered):
        return perform(Deliver(delivery, commit=lane.head, push=_is_pushed(state)))
    reason = _reason(state, lane, passed, done.branch)
    if not state.task.settings.pull_request:
        return halt(TaskStopped("done", reason))
    requested = EffectId(f"pull-request/{visit}")
    said = lane.outcomes.get(requested)
    if not isinstance(said, PullRequested):
        into = state.prepared.onto if state.prepared else ""
        return perform(OpenPullRequest(requested, branch=done.branch, into=into))
    # The work is done and measured whether or not somebody else's program could open a page for it.
    told = f"pull request {said.url}" if said.url else "no pull request was opened"
    return halt(TaskStopped("done", f"{reason}; {told}", (said.detail,) if said.detail else ()))


def _prove_work(state: State, lane: Lane, name: EffectId) -> Step | None:
    """Tests that are part of the work must pass in the whole, too, where pieces of it were measured one by one."""
    if not state.work or any(visit.forced for visit in lane.visits):
        return None
    known = last_measured(state, lane)
    if known is not None and known.tree == lane.tree and not known.known:
        return None
    measured = lane.outcomes.get(name)
    if not isinstance(measured, Measured):
        stage = kernel.Stage(lane.stage, "", "gates", gates.green, lambda *_: "")
        return perform(replace(kernel.measure(state, lane, stage, name, lane.head), work=state.work))
    why = unfinished_work(measured.measurement)
    return halt(TaskStopped("blocked", f"{why}; add what is to be done for them, then resume")) if why else None


def last_measured(state: State, lane: Lane) -> Measurement | None:
    return state.batches.proven or lane.loop.last or lane.loop.entry or state.baseline


def gates_told(state: State, lane: Lane, passed: str = "gates passed") -> str:
    """That gates `passed`, or what is true in its place where a test or a gate fails."""
    measured = last_measured(state, lane)
    if measured is None:
        return passed
    if measured.counts.failing or measured.counts.known_failing:
        return measured.counts.summary
    failed = tuple(gate.name for gate in measured.gates if not gate.passed)
    return f"failed gates: {first_few(failed, 5)}" if failed else passed


def _is_pushed(state: State) -> bool:
    return state.task.settings.push or state.task.settings.pull_request


def _report(state: State, lane: Lane, name: EffectId, passed: str) -> Save:
    branch = state.prepared.branch if state.prepared else ""
    squash = state.task.settings.squash
    # What the user has already: the commit the task started from, or the one it was delivered with before.
    known = state.shipped or (state.prepared.base if state.prepared else Commit(""))
    label = f"report-{state.reports + 1}" if state.reports else "report"
    what = subject("", state.task.request) if squash else subject("docs", f"report on {state.task.request}")
    return Save(
        name,
        label=label,
        message=message(what, label, state.items),
        parent=lane.head,
        accepted=True,
        closing=_reason(state, lane, passed, branch),
        undelivered=_is_pushed(state),
        squash_onto=known if squash else Commit(""),
    )


def _reason(state: State, lane: Lane, passed: str, branch: str) -> str:
    forced = list(dict.fromkeys(v.stage for v in lane.visits if v.forced))
    if forced:
        left = gates_told(state, state.main, "")
        return f"finished with stages skipped by a person, not verified: {', '.join(forced)}{f'; {left}' if left else ''}; branch {branch}"
    parts = (passed, missing_review(state), evidence(state), f"the work is on branch {branch}")
    return "; ".join(part for part in parts if part)


def missing_review(state: State) -> str:
    """Why nobody reviewed the work, where its last stage was a review that was left out."""
    left = [visit for visit in state.main.visits if visit.completed_at is not None]
    return left[-1].exit_reason if left and left[-1].unreviewed else ""


ELSEWHERE = (
    "gates ran in another folder with neither set-up nor sandbox: it is not shown that they measured the agent's files"
)


def unnoticed_work(state: State) -> tuple[str, ...]:
    """What is to be said of each piece of accepted work that no test notices."""
    return tuple(
        (f"{name}: " if len(state.noticed) > 1 else "") + (each.evidence or "no measurement noticed this change")
        for name, each in state.noticed.items()
        if each.kind not in {"new-test", "existing-test"}
    )


def evidence(state: State) -> str:
    """In one line, which test notices the work that was accepted, or that none does."""
    unseen = unnoticed_work(state)
    settings = state.task.settings
    # A test that notices the change has read the candidate's files.
    is_elsewhere = settings.sandbox == "none" and not settings.setup and not settings.attended
    if unseen or (is_elsewhere and not state.noticed):
        return "; ".join((*([first_few(unseen, 2)] if unseen else []), *([ELSEWHERE] if is_elsewhere else [])))
    # What was integrated is no piece of its own beside its subtasks.
    pieces = [each for name, each in state.noticed.items() if name != MAIN or len(state.noticed) == 1]
    first_seen, others = next(iter(pieces), None), len(pieces) - 1
    more = f" (and {plural(others, 'other piece')} of work by a test each)" if others > 0 else ""
    return f"{first_seen.evidence}{more}" if first_seen else ""
