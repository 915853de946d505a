"""The `backlog` workflow: SELECT -> IMPLEMENT -> VALIDATE -> EVALUATE, and round again until nothing is left or a person is needed.

SELECT and EVALUATE are code. The issue files are the user's: what is decided here is read from them each time, and
written to them by effects that name what they want to be true, so that a crash in between is only a repetition.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core import cycles, kernel, opening, questions, reviewing, shipping, stages
from flyball.core.claims import Claim
from flyball.core.commit_messages import message, subject
from flyball.core.effects import EditBacklog, Effect, Measure, ReadBacklog, Restore, Save
from flyball.core.evaluator import evaluate
from flyball.core.events import BlockCleared, Evaluated, ItemSelected, Moved, TaskReopened, TaskStopped
from flyball.core.feedback import as_issues, wishes
from flyball.core.kernel import Stage
from flyball.core.measurement import Measurement
from flyball.core.next import NOTHING, Next, perform, record
from flyball.core.outcomes import BacklogRead, Edited, Interrupted, Saved, TurnEnded
from flyball.core.quantities import plural
from flyball.core.stages import Weighed
from flyball.core.state import State
from flyball.core.task import EffectId
from flyball.core.work_edits import AddIssue, Reopen, SetStatus, WorkEdit
from flyball.core.workflows.table import BOTH_GATES, Workflow

VALIDATORS = tuple(reviewing.KINDS)
CONSENTING = "code-reviewer"
STAGES = ("SELECT", "IMPLEMENT", "VALIDATE", "EVALUATE")
STALE_THAT_BLOCK = 3
_COMMIT_TYPES = {
    "feature": "feat",
    "enhancement": "feat",
    "doc": "docs",
    "docs": "docs",
    "perf": "perf",
    "performance": "perf",
    "refactor": "refactor",
    "test": "test",
    "chore": "chore",
}


def _weigh(state: State, measured: Measurement, claim: Claim) -> Weighed:
    """As for every green tree; but an issue is work, and what is accepted already is the work of nobody."""
    weighed = stages.green(state, measured, claim)
    if not measured.unchanged:
        return weighed
    unchanged = f"nothing that counts was changed for {state.work.selected}; if it is done already, its status is to say so in its file"
    gate = replace(weighed.gate, held=False, missing=(*weighed.gate.missing[: stages.SHOWN - 1], unchanged))
    return replace(weighed, gate=gate)


IMPLEMENT = Stage("IMPLEMENT", "implementer", "green", _weigh)


def next_effects(state: State) -> Next:
    """What comes next for a backlog task."""
    first = opening.opened(state)
    if first is not None:
        return first
    if state.to_ask:
        return questions.put(state, state.to_ask[0])
    if state.consent_wanted:
        return opening.consent(state, CONSENTING, "the code reviewer")
    return _TABLE[state.stage](state)


def _seen(state: State, issue: str = "") -> Next | BacklogRead:
    """The backlog as it was read since the last edit, with the whole text of `issue`."""
    seen = state.work.seen
    if seen is not None and (not issue or seen.issue == issue):
        return seen
    # An edit that a new session makes again must have ended: what is read beside it may be neither old nor new.
    if any(isinstance(o.effect, ReadBacklog | EditBacklog) for o in state.open.values()):
        return NOTHING
    ignore = state.task.settings.evaluate.ignore
    return perform(ReadBacklog(EffectId(f"read/{state.work.reads + 1}"), cycles.folder(state), issue, ignore))


def _written(state: State, name: str, *edits: WorkEdit) -> Next | None:
    """Have edits made, once; what somebody else changed meanwhile is read again first."""
    key = EffectId(f"edit/{name}")
    if isinstance(state.outcomes.get(key), Edited):
        return None
    if key in state.open:
        return NOTHING
    seen = _seen(state)
    if isinstance(seen, Next):
        return seen
    if state.work.stale >= STALE_THAT_BLOCK:
        return questions.put(state, cycles.unwritable(edits, state.work.stale))
    return perform(EditBacklog(key, cycles.folder(state), seen.files, edits, state.task.settings.evaluate.ignore))


def _select(state: State) -> Next:
    """The next issue by the evaluator's order, in progress from now on, in a tree that holds nothing of another one."""
    seen = _seen(state)
    if isinstance(seen, Next):
        return seen
    if state.work.reopened:
        return NOTHING if state.open else perform(reopening(state, seen))
    said = evaluate(cycles.situation(state, seen))
    issue = cycles.find(seen.backlog, said.next_issue or "")
    if said.decision != "CONTINUE" or issue is None:
        return record(Moved("EVALUATE", "SELECT", said.reason))
    other = issue.id != state.work.previous
    if other and state.tree != _head_tree(state):
        reason = f"{issue.id} starts from what is accepted"
        return perform(Restore(EffectId(f"restore/{state.restores + 1}"), to=state.head, reason=reason))
    if issue.status != "in-progress":
        taken = SetStatus(issue.file, issue.id, issue.status, "in-progress")
        return _written(state, f"select-{state.work.reads}", taken) or NOTHING
    whole = _seen(state, issue.id)
    if isinstance(whole, Next):
        return whole
    fresh = state.tree == _head_tree(state)
    return record(
        ItemSelected(cycles.as_item(cycles.find(whole.backlog, issue.id) or issue), state.work.cycle + 1, fresh),
        Moved("IMPLEMENT", "SELECT", f"{issue.id}: {issue.title}"),
    )


def reopening(state: State, seen: BacklogRead) -> EditBacklog:
    """What a rollback has to write: the issues it undid are proposed again."""
    edits = tuple(Reopen(issue, state.now.date().isoformat()) for issue in state.work.reopened)
    return EditBacklog(EffectId(f"edit/reopen-{state.seq}"), path=cycles.folder(state), seen=seen.files, edits=edits)


def _head_tree(state: State) -> str:
    accepted = next((c.tree for c in reversed(state.checkpoints) if c.accepted), "")
    return accepted or (state.prepared.tree if state.prepared else "")


def _implement(state: State) -> Next:
    """Turns until the gates hold and the agent says it is done; then the validators look."""
    if state.exiting:
        return record(Moved("VALIDATE", "IMPLEMENT", BOTH_GATES))
    known = _seen(state, state.work.selected)
    if not state.pass_turn and isinstance(known, Next):
        return known
    measured = kernel.work(state, IMPLEMENT)
    if isinstance(measured, Next):
        return Next(tuple(_narrowed(state, effect) for effect in measured.effects), measured.facts)
    return record(*kernel.evaluate(state, IMPLEMENT, measured))


def _narrowed(state: State, effect: Effect) -> Effect:
    """What is measured is this issue's work: no other issue exempts a path, nor one that a validator wrote.

    The backlog itself is not the agent's.
    """
    if not isinstance(effect, Measure):
        return effect
    items = tuple(item for item in state.items if item.id == state.work.selected)
    own = items if state.work.selected not in state.work.created else ()
    return replace(effect, items=items, kept=(cycles.folder(state),), extendable=True, asked=own)


def _validate(state: State) -> Next:
    """Validators side by side, each on a copy of its own of what was measured; a turn that does not count is made again."""
    if state.exiting:
        return _accept(state)
    if state.judged is not None and state.judged.batch:
        return record(Moved("EVALUATE", "VALIDATE", "; ".join(state.judged.gate_1.missing[:3]) or "rejected"))
    for key, effect in state.passing.items():
        outcome = state.outcomes.get(key)
        if isinstance(outcome, TurnEnded | Interrupted):
            turn = kernel.counted(state, effect, outcome)
            return turn if isinstance(turn, Next) else record(reviewing.review(effect, turn))
    asked = {effect.role for effect in state.passing.values()}
    missing = [role for role in VALIDATORS if role not in state.work.reviews and role not in asked]
    room = (state.task.settings.parallel or len(VALIDATORS)) - len(state.passing)
    if missing and room > 0:
        known = _seen(state, state.work.selected)
        return known if isinstance(known, Next) else _spawned(state, missing[:room])
    return NOTHING if state.passing else record(*reviewing.weigh(state))


def _spawned(state: State, roles: list[str]) -> Next:
    assert state.entry is not None
    effects: list[Effect] = []
    for role in roles:
        found = kernel.spawn(state, role=role, copy=role, commit=state.entry.tree, beside=len(effects))
        if not found.effects or found.facts or not found.effects[0].id.startswith("turn/"):
            # A guard holds: those that may run do, and it is asked again when they have ended.
            return Next(tuple(effects)) if effects else NOTHING if state.passing else found
        effects += found.effects
    return Next(tuple(effects))


def _accept(state: State) -> Next:
    """The measured tree becomes one commit that names its issue."""
    assert state.entry is not None
    name, issue = EffectId(f"accept/{state.work.cycle}"), state.work.selected
    if isinstance(state.outcomes.get(name), Saved):
        return record(Moved("EVALUATE", "VALIDATE", f"{issue}: gates and validators pass", completed=True))
    seen = _seen(state, issue)
    if isinstance(seen, Next):
        return seen
    withdrawn = cycles.withdrawn(state, seen)
    if withdrawn is not None:
        return record(withdrawn, Moved("EVALUATE", "VALIDATE", f"{issue}: {withdrawn.notes[0]}"))
    item = next(item for item in state.items if item.id == issue)
    return perform(
        Save(
            name,
            label=issue,
            message=message(subject(_COMMIT_TYPES.get(item.kind, "fix"), item.text), issue, (item,), f"Fixes: {issue}"),
            parent=state.head,
            accepted=True,
            tree=state.entry.tree,
        )
    )


def _evaluate(state: State) -> Next:
    """Write what became of the cycle, read again, decide, write that down, and act upon it."""
    work = state.work
    if work.evaluated is not None:
        return _decided(state, work.evaluated)
    if work.selected:
        unwritten = _settle(state)
        if unwritten is not None:
            return unwritten
    seen = _seen(state)
    if isinstance(seen, Next):
        return seen
    freed = [i for i in seen.backlog.issues if i.status == "blocked" and i.id in work.answered]
    if freed:
        edits = (SetStatus(i.file, i.id, "blocked", "in-progress") for i in freed)
        return _written(state, f"unblock-{work.reads}", *edits) or NOTHING
    said = evaluate(cycles.situation(state, seen))
    return record(cycles.evaluated(state, said, seen))


def _settle(state: State) -> Next | None:
    """Complete the issue, or count its failure; add what the validators found. None once all of it is written."""
    work = state.work
    seen = _seen(state)
    if work.settled is None:
        return seen if isinstance(seen, Next) else record(cycles.settled(state, seen))
    name = f"settle-{work.cycle}"
    if isinstance(state.outcomes.get(EffectId(f"edit/{name}")), Edited):
        return None
    if isinstance(seen, Next):
        return seen
    edits = cycles.settling(state, work.settled, seen)
    return _written(state, name, *edits) if edits else None


def _decided(state: State, said: Evaluated) -> Next:
    name = f"decision-{said.number}"
    if not isinstance(state.outcomes.get(EffectId(f"edit/{name}")), Edited):
        seen = _seen(state)
        if isinstance(seen, Next):
            return seen
        return _written(state, name, *cycles.kept(state, seen, said)) or NOTHING
    if said.decision == "CONTINUE":
        return record(Moved("SELECT", "EVALUATE", said.reason))
    if said.decision == "DONE":
        return _finished(state, said)
    if said.trigger == "cycle_limit":
        return record(TaskStopped("limit", f"limit reached: {said.reason}"))
    if state.reset:
        return record(BlockCleared(said.trigger, said.items))
    return questions.put(state, cycles.question(said))


def _finished(state: State, said: Evaluated) -> Next:
    done = len(state.work.completed)
    if not done:
        return kernel.stop("done", said.reason)
    return shipping.ship(state, f"{plural(done, 'issue')} completed; gates and validators passed")


def _skipped(state: State) -> Moved:
    """An issue that is skipped is left to a person; between issues there is nothing to skip."""
    working = state.stage in {"IMPLEMENT", "VALIDATE"}
    return Moved("EVALUATE" if working else "SELECT", state.stage, "skipped by a person", forced=working)


def _reopened(state: State) -> Next:
    """Feedback is new issues, written where all issues stand, and they are selected like all others."""
    seen = _seen(state)
    if isinstance(seen, Next):
        return seen
    name, wanted = f"feedback-{state.rounds + 1}", wishes(state.feedback)
    if not isinstance(state.outcomes.get(EffectId(f"edit/{name}")), Edited):
        new = as_issues(wanted, seen.backlog, state.now)
        if new:
            return _written(state, name, *(AddIssue(each.issue, each.source) for each in new)) or NOTHING
    ids = tuple(issue.id for issue in seen.backlog.issues if " ".join(issue.problem.split()) in wanted)
    return record(TaskReopened(state.feedback, ids), Moved("SELECT", state.stage, "reopened by a person"))


_TABLE = {"SELECT": _select, "IMPLEMENT": _implement, "VALIDATE": _validate, "EVALUATE": _evaluate}

WORKFLOW = Workflow(
    name="backlog",
    stages=STAGES,
    roles=("implementer", *VALIDATORS),
    next=next_effects,
    skipped=_skipped,
    reopened=_reopened,
    rolled_back_to="SELECT",
)
