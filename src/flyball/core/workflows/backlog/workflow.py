"""The `backlog` workflow: SELECT -> IMPLEMENT -> VALIDATE -> EVALUATE, and round again until nothing is left or a person is needed.

SELECT and EVALUATE are code. The issue files are the user's: what is decided here is read from them each time, and
written to them by effects that name what they want to be true, so that a crash in between is only a repetition.
"""

from functools import partial

from msgspec.structs import replace

from flyball.core.claims.values import Claim
from flyball.core.loop import gates, kernel, opening, panel, questions, shipping
from flyball.core.loop.commit_messages import message, subject
from flyball.core.loop.feedback import wishes
from flyball.core.loop.gates import Weighed
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import NOTHING, ComesFirst, Step, first, halt, perform, record
from flyball.core.loop.transitions import BY_A_PERSON, HELD, REJECTED, SKIPPED, Transition, move
from flyball.core.loop.workflow import BOTH_GATES, Demo, Workflow
from flyball.core.model.effects import Measure, Restore, Save
from flyball.core.model.events import Fact, Moved, TaskReopened, TaskStopped
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Edited, Saved
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId
from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog import cycles, facts, proposals, reviewing, wording
from flyball.core.workflows.backlog.edits import AddIssue, SetStatus, WorkEdit
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog, ReadBacklog
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.fold import BEGUN, ENDED, FOLDS
from flyball.core.workflows.backlog.prompts import CARDS, brief
from flyball.core.workflows.backlog.record import EMPTY, record_of

VALIDATORS = tuple(reviewing.KINDS)
STAGES = ("SELECT", "IMPLEMENT", "VALIDATE", "EVALUATE")
SELECTED, NOTHING_SELECTED, WITHDRAWN, GOING_ON = "selected", "nothing selected", "withdrawn", "going on"
TRANSITIONS = (
    Transition("SELECT", SELECTED, "IMPLEMENT"),
    Transition("SELECT", NOTHING_SELECTED, "EVALUATE"),
    Transition("IMPLEMENT", HELD, "VALIDATE", BOTH_GATES),
    Transition("VALIDATE", HELD, "EVALUATE", completed=True),
    Transition("VALIDATE", REJECTED, "EVALUATE"),
    Transition("VALIDATE", WITHDRAWN, "EVALUATE"),
    Transition("EVALUATE", GOING_ON, "SELECT"),
    # An issue that is skipped is left to a person; between issues there is nothing to skip.
    Transition("IMPLEMENT", SKIPPED, "EVALUATE", BY_A_PERSON, forced=True),
    Transition("VALIDATE", SKIPPED, "EVALUATE", BY_A_PERSON, forced=True),
    Transition("SELECT", SKIPPED, "SELECT", BY_A_PERSON),
    Transition("EVALUATE", SKIPPED, "SELECT", BY_A_PERSON),
)
STALE_THAT_BLOCK = 3
_COMMIT_TYPES = {name: name for name in ("docs", "perf", "refactor", "test", "chore")}
_COMMIT_TYPES |= {"feature": "feat", "enhancement": "feat", "doc": "docs", "performance": "perf"}


def _weigh(state: State, lane: Lane, measured: Measurement, claim: Claim) -> Weighed:
    """As for every green tree; but an issue is work, and what is accepted already is the work of nobody."""
    unchanged = f"No relevant change for {lane.item}. If it is already fixed, set its status in the file"
    return gates.green_work(state, lane, measured, claim, unchanged)


IMPLEMENT = Stage("IMPLEMENT", "implementer", "green", _weigh, brief, product=True)


def next_step(state: State, lane: Lane) -> Step:
    first(opening.prepare(state))
    opening.ask_first(state, lane, brief, "code-reviewer", "the code reviewer")
    return _TABLE[lane.stage](state, lane)


def _backlog(state: State, issue: str = "") -> BacklogRead:
    """The backlog as it was read since the last edit, with the whole text of `issue`."""
    seen = record_of(state).seen
    if seen is not None and (not issue or seen.issue == issue):
        return seen
    # An edit that a new session makes again must have ended: what is read beside it may be neither old nor new.
    if any(isinstance(effect, ReadBacklog | EditBacklog) for effect in state.open.values()):
        raise ComesFirst(NOTHING)
    ignore = state.task.settings.evaluate.ignore
    read = ReadBacklog(EffectId(f"read/{record_of(state).reads + 1}"), cycles.folder(state), issue, ignore)
    raise ComesFirst(perform(read))


def _write(state: State, lane: Lane, name: str, *edits: WorkEdit) -> None:
    """Have edits made, once; what somebody else changed meanwhile is read again first."""
    key = EffectId(f"edit/{name}")
    if isinstance(lane.outcomes.get(key), Edited):
        return
    if key in state.open:
        raise ComesFirst(NOTHING)
    seen = _backlog(state)
    if record_of(state).stale >= STALE_THAT_BLOCK:
        first(questions.put(state, lane, cycles.unwritable_question(edits, record_of(state).stale)))
    ignore = state.task.settings.evaluate.ignore
    raise ComesFirst(perform(EditBacklog(key, cycles.folder(state), seen.files, edits, ignore)))


def _select(state: State, lane: Lane) -> Step:
    """The next issue by the evaluator's order, in progress from now on, in a tree that holds nothing of another one."""
    seen = _backlog(state)
    if record_of(state).reopened:
        return NOTHING if state.open else perform(cycles.reopening(state, seen))
    said = evaluate(cycles.situation(state, seen))
    issue = cycles.find(seen.backlog, said.next_issue or "")
    if said.decision != "CONTINUE" or issue is None:
        return record(move(TRANSITIONS, lane, NOTHING_SELECTED, said.reason))
    if issue.id != record_of(state).previous and lane.tree != _head_tree(state):
        reason = f"{issue.id} starts from what is accepted"
        return perform(Restore(EffectId(f"restore/{lane.restores + 1}"), to=lane.head, reason=reason))
    if issue.status != "in-progress":
        taken = SetStatus(issue.file, issue.id, issue.status, "in-progress")
        _write(state, lane, f"select-{record_of(state).reads}", taken)
        return NOTHING
    whole = _backlog(state, issue.id)
    fresh = lane.tree == _head_tree(state)
    return record(
        facts.ItemSelected(
            cycles.as_item(cycles.find(whole.backlog, issue.id) or issue), record_of(state).cycle + 1, fresh
        ),
        move(TRANSITIONS, lane, SELECTED, f"{issue.id}: {issue.title}"),
    )


def _head_tree(state: State) -> str:
    accepted = next((c.tree for c in reversed(state.checkpoints) if c.accepted), "")
    return accepted or (state.prepared.tree if state.prepared else "")


def _implement(state: State, lane: Lane) -> Step:
    """Turns until the gates hold and the agent says it is done; then the validators look."""
    if lane.loop.exiting:
        return record(move(TRANSITIONS, lane, HELD))
    if lane.turn is None:
        _backlog(state, lane.item)
    return kernel.iterate(state, lane, IMPLEMENT, partial(_narrow, state, lane))


def _narrow(state: State, lane: Lane, wanted: Measure) -> Measure:
    """What is measured is this issue's work: no other issue exempts a path, nor one that a validator wrote.

    The backlog itself is not the agent's.
    """
    items = tuple(item for item in state.items if item.id == lane.item)
    own = items if lane.item not in record_of(state).created else ()
    kept = (cycles.folder(state),)
    return replace(wanted, items=items, kept=kept, tests_may_grow=True, asked=own, since=lane.head)


def _validate(state: State, lane: Lane) -> Step:
    """Validators side by side, each on a copy of its own of what was measured; a turn that does not count is made again."""
    if lane.loop.exiting:
        return _accept(state, lane)
    if lane.loop.judged is not None and lane.loop.judged.batch:
        return record(move(TRANSITIONS, lane, REJECTED, "; ".join(lane.loop.judged.gate_1.missing[:3]) or "rejected"))
    if lane.panel is None:
        _backlog(state, lane.item)
    assert lane.loop.entry is not None
    panel.convene(
        state, lane, brief, VALIDATORS, commit=lane.loop.entry.tree, read=lambda e, turn: (reviewing.review(e, turn),)
    )
    return record(*reviewing.weigh(state, lane))


def _accept(state: State, lane: Lane) -> Step:
    """The measured tree becomes one commit that names its issue."""
    assert lane.loop.entry is not None
    name, issue = EffectId(f"accept/{record_of(state).cycle}"), lane.item
    if isinstance(lane.outcomes.get(name), Saved):
        return record(move(TRANSITIONS, lane, HELD, f"{issue}: measured and validated"))
    seen = _backlog(state, issue)
    withdrawn = cycles.withdrawal(lane, seen)
    if withdrawn is not None:
        return record(withdrawn, move(TRANSITIONS, lane, WITHDRAWN, f"{issue}: {withdrawn.notes[0]}"))
    item = next(item for item in state.items if item.id == issue)
    return perform(
        Save(
            name,
            label=issue,
            message=message(subject(_COMMIT_TYPES.get(item.kind, "fix"), item.text), issue, (item,), f"Fixes: {issue}"),
            parent=lane.head,
            accepted=True,
            tree=lane.loop.entry.tree,
        )
    )


def _evaluate(state: State, lane: Lane) -> Step:
    """Write what became of the cycle, read again, decide, write that down, and act upon it."""
    work = record_of(state)
    if work.evaluated is not None:
        return _act_on(state, lane, work.evaluated)
    if lane.item:
        _settle(state, lane)
    seen = _backlog(state)
    freed = [i for i in seen.backlog.issues if i.status == "blocked" and i.id in work.answered]
    if freed:
        edits = (SetStatus(i.file, i.id, "blocked", "in-progress") for i in freed)
        _write(state, lane, f"unblock-{work.reads}", *edits)
        return NOTHING
    return record(cycles.evaluation_fact(state, evaluate(cycles.situation(state, seen)), seen))


def _settle(state: State, lane: Lane) -> None:
    """Complete the issue, or count its failure; add what the validators found."""
    work = record_of(state)
    seen = _backlog(state)
    if work.settled is None:
        raise ComesFirst(record(cycles.settlement(state, lane, seen)))
    name = f"settle-{work.cycle}"
    if isinstance(lane.outcomes.get(EffectId(f"edit/{name}")), Edited):
        return
    edits = cycles.settling_edits(state, work.settled, seen)
    if edits:
        _write(state, lane, name, *edits)


def _act_on(state: State, lane: Lane, said: facts.Evaluated) -> Step:
    name = f"decision-{said.number}"
    if not isinstance(lane.outcomes.get(EffectId(f"edit/{name}")), Edited):
        seen = _backlog(state)
        _write(state, lane, name, *cycles.decision_edits(state, seen, said))
    if said.decision == "CONTINUE":
        return record(move(TRANSITIONS, lane, GOING_ON, said.reason))
    completed = len(record_of(state).completed)
    if said.decision == "DONE" and completed:
        text = shipping.gates_told(state, lane, "gates and validators passed")
        return shipping.ship(state, lane, f"{plural(completed, 'issue')} completed; {text}")
    if said.decision == "DONE":
        return halt(TaskStopped("done", said.reason))
    if said.trigger == "cycle_limit":
        return halt(TaskStopped("limit", said.reason))
    if lane.loop.reset:
        return record(facts.BlockCleared(said.trigger, said.items))
    return questions.put(state, lane, cycles.question(said))


def _reopen(state: State, lane: Lane) -> Step:
    """Feedback is new issues, written where all issues stand, and they are selected like all others."""
    seen = _backlog(state)
    name, wanted = f"feedback-{state.rounds + 1}", wishes(state.feedback)
    if not isinstance(lane.outcomes.get(EffectId(f"edit/{name}")), Edited):
        new = proposals.from_feedback(wanted, seen.backlog, state.now)
        if new:
            _write(state, lane, name, *(AddIssue(each.issue, each.source) for each in new))
    ids = tuple(issue.id for issue in seen.backlog.issues if " ".join(issue.problem.split()) in wanted)
    return record(TaskReopened(state.feedback, ids), Moved("SELECT", lane.stage, "reopened by a person"))


def _undo(state: State, labels: frozenset[str], _to: str) -> tuple[Fact, ...]:
    """Issues that were completed after the checkpoint the branch goes back to are open again."""
    return tuple(facts.ItemReopened(issue) for issue in record_of(state).completed if issue in labels)


_TABLE = {"SELECT": _select, "IMPLEMENT": _implement, "VALIDATE": _validate, "EVALUATE": _evaluate}


def _cycle_limit(state: State) -> tuple[str, float]:
    known = record_of(state)
    stopped = known.evaluated is not None and known.evaluated.trigger == "cycle_limit"
    return ("max_cycles", known.cycle) if stopped else ("", 0)


WORKFLOW = Workflow(
    name="backlog",
    stages=STAGES,
    transitions=TRANSITIONS,
    roles=("implementer", *VALIDATORS),
    next=next_step,
    skipped=lambda _state, lane: move(TRANSITIONS, lane, SKIPPED),
    brief=brief,
    reopened=_reopen,
    rolled_back_to="SELECT",
    undo=_undo,
    record=EMPTY,
    folds=FOLDS,
    begun=BEGUN,
    ended=ENDED,
    facts=facts.FACTS,
    effects=(ReadBacklog, EditBacklog),
    outcomes=(BacklogRead,),
    cards=CARDS,
    author="implementer",
    source="issues",
    demo=Demo(__package__, ".work", "Amounts are in euro: write EUR after them."),
    story=wording.story,
    lines=wording.LINES,
    notes=wording.NOTES,
    limit=_cycle_limit,
)
