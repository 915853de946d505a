"""The end every workflow shares: flyball's own files on the branch, the branch where the user finds it, the task done."""

from __future__ import annotations

from flyball.core import kernel
from flyball.core.effects import Integrate, Save
from flyball.core.events import TaskStopped
from flyball.core.next import Next, perform, record
from flyball.core.outcomes import Conflicted, Integrated, Saved
from flyball.core.state import State
from flyball.core.task import EffectId


def ship(state: State, passed: str) -> Next:
    """Deliver the branch; `passed` says what was verified, and what a person skipped is named beside it."""
    visit = len(state.visits)
    integrate = EffectId(f"integrate/final-{visit}")
    done = state.outcomes.get(integrate)
    if isinstance(done, Integrated):
        return record(TaskStopped("done", _reason(state, passed, done.branch)))
    if isinstance(done, Conflicted):
        return kernel.stop("blocked", f"the branch could not be delivered: {done.detail}", *done.paths)
    name = EffectId(f"save/report-{visit}")
    if not isinstance(state.outcomes.get(name), Saved):
        return perform(_report(state, name, passed))
    return perform(Integrate(integrate, commit=state.head, final=True, push=state.task.settings.push))


def _report(state: State, name: EffectId, passed: str) -> Save:
    branch = state.prepared.branch if state.prepared else ""
    return Save(
        name,
        label="report",
        message=f"report: {state.task.id}",
        parent=state.head,
        accepted=True,
        closing=_reason(state, passed, branch),
    )


def _reason(state: State, passed: str, branch: str) -> str:
    forced = list(dict.fromkeys(v.stage for v in state.visits if v.forced))
    if forced:
        return f"finished with stages skipped by a person, not verified: {', '.join(forced)}; branch {branch}"
    return f"{passed}; the work is on branch {branch}"
