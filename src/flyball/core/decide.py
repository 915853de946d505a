"""What next? One pure function from what is known to facts and effects."""

from __future__ import annotations

from flyball.core.effects import Ask, PutBack, Restore, Save, Wait
from flyball.core.events import TaskStopped
from flyball.core.measurement import Measurement
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.outcomes import Failed
from flyball.core.state import State
from flyball.core.task import Commit, EffectId
from flyball.core.workflows import backlog, tdd
from flyball.core.workflows.table import Workflow

WORKFLOWS: dict[str, Workflow] = {"tdd": tdd.WORKFLOW, "backlog": backlog.WORKFLOW}


def decide(state: State) -> Next:
    """The facts to record and the effects to have under way now; nothing when the loop has stopped or must wait."""
    if state.stopped is not None:
        return NOTHING
    if state.aborting:
        return record(TaskStopped("aborted", "aborted by a person"))
    failed = next(((k, o) for k, o in state.outcomes.items() if isinstance(o, Failed)), None)
    if failed is not None:
        return record(_given_up(*failed))
    if state.pausing and state.pass_effect is None and not _working(state):
        return record(TaskStopped("paused", "paused by a person"))
    if _rewriting(state):
        return NOTHING
    workflow = WORKFLOWS[state.task.workflow]
    if state.feedback:
        return workflow.reopened(state)
    if state.skipping and not state.open:
        return record(workflow.skipped(state))
    if state.restore_to:
        reason = state.judged.verdict.evidence if state.judged else "a person asked"
        restore = Restore(EffectId(f"restore/{state.restores + 1}"), to=state.restore_to, reason=reason)
        return NOTHING if state.open else perform(restore)
    if state.mend is not None and not state.consent_wanted:
        return NOTHING if state.open else perform(_put_back(state, state.mend))
    return workflow.next(state)


def _given_up(key: EffectId, failed: Failed) -> TaskStopped:
    """What a person has to see to: a workspace that cannot be made, files of theirs that cannot be used. The rest is an error."""
    theirs = key.startswith(("prepare", "read/", "edit/"))
    return TaskStopped("blocked" if theirs else "error", failed.detail)


def _rewriting(state: State) -> bool:
    """Whether the task's own tree is being saved, restored or mended: nobody may work in it meanwhile.

    A rollback whose process was killed leaves such an effect open, and no workflow expects it.
    """
    effects = [o.effect for o in state.open.values()]
    return any(isinstance(e, Restore | PutBack) or (isinstance(e, Save) and not e.copy) for e in effects)


def _put_back(state: State, measured: Measurement) -> PutBack:
    """Protected files as accepted, but for those whose change was consented to since they were measured."""
    allowed = tuple(path for path, commit in state.consented.items() if commit == measured.candidate)
    number = state.mends + 1
    return PutBack(
        EffectId(f"put-back/{number}"),
        candidate=Commit(measured.candidate),
        tree=measured.mended,
        label=f"put-back-{number}",
        message=f"put-back-{number}: {state.task.id}",
        paths=tuple(path for path in measured.put_back if path not in allowed),
        allowed=allowed,
        doubtful=any(trick.path not in measured.put_back for trick in measured.caught),
    )


def _working(state: State) -> bool:
    """Whether something is under way that is more than waiting."""
    return any(not isinstance(o.effect, Wait | Ask) for o in state.open.values())
