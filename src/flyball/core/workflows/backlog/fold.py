"""What the facts of a backlog add to what is known: the cycle, its reviews, what was written, what was decided."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.health.observation import observe
from flyball.core.model.effects import Effect
from flyball.core.model.events import Judged, Moved, PersonSpoke, SessionStarted, TaskReopened
from flyball.core.model.outcomes import Edited, Stale
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit
from flyball.core.workflows.backlog import facts
from flyball.core.workflows.backlog.edits import Reopen
from flyball.core.workflows.backlog.effects import BacklogRead, EditBacklog, ReadBacklog
from flyball.core.workflows.backlog.record import record_of


def _on_backlog_read(state: State, _lane: Lane, _effect: Effect, outcome: BacklogRead) -> None:
    state.record = replace(record_of(state), seen=outcome)


def _on_edited(state: State, _lane: Lane, effect: Effect, outcome: Edited | Stale) -> None:
    """Written or found changed: what was read before is no longer what there is."""
    made = effect.edits if isinstance(effect, EditBacklog) and isinstance(outcome, Edited) else ()
    done = {edit.issue for edit in made if isinstance(edit, Reopen)}
    reopened = tuple(id for id in record_of(state).reopened if id not in done)
    work = replace(record_of(state), seen=None, reopened=reopened)
    if not isinstance(effect, EditBacklog) or isinstance(outcome, Edited):
        state.record = replace(work, stale=0, stale_files={})
        return
    again = work.stale + 1 if effect.seen == work.stale_files else 1
    state.record = replace(work, stale=again, stale_files=effect.seen)


def _on_reading_begun(state: State, _lane: Lane, effect: ReadBacklog) -> None:
    record = record_of(state)
    state.record = replace(record, reads=record.reads + (effect.attempt == 1))


def _on_session_started(state: State, _fact: SessionStarted) -> None:
    """A new session reads and decides anew: people may have edited their files meanwhile."""
    state.record = replace(record_of(state), seen=None, evaluated=None, stale=0, stale_files={})


def _on_person_spoke(state: State, fact: PersonSpoke) -> None:
    """A person's word has what was refused tried once more."""
    if fact.word in {"reset", "modify"}:
        state.record = replace(record_of(state), stale=0, stale_files={})


def _on_item_selected(state: State, fact: facts.ItemSelected) -> None:
    state.record = replace(record_of(state), cycle=fact.cycle, reviews={}, passed=False, settled=None, evaluated=None)
    known = [item.id for item in state.items]
    if fact.item.id in known:
        state.items = tuple(fact.item if item.id == fact.item.id else item for item in state.items)
    else:
        state.items = (*state.items, fact.item)
    state.main.item = fact.item.id
    state.main.authors = ()
    if fact.fresh:
        state.main.best = next((c for c in reversed(state.checkpoints) if c.accepted), state.main.best)


def _on_reviewed(state: State, fact: facts.Reviewed) -> None:
    record = record_of(state)
    state.record = replace(record, reviews={**record.reviews, fact.role: fact})


def _on_judged(state: State, fact: Judged) -> None:
    if not fact.batch:
        return
    record, item = record_of(state), state.main.item
    others = {key: said for key, said in record.rejections.items() if key != item}
    state.record = replace(
        record,
        seen=None,  # whether it is still wanted is seen before it is accepted
        passed=fact.can_exit,
        rejections=others if fact.can_exit else {**others, item: fact.gate_1.missing},
        batches=observe(record.batches, fact.observation),
    )


def _on_moved(state: State, fact: Moved) -> None:
    """A decision is for the stay it was made in, and written by its end; a completed item's measurement is the branch's."""
    record, lane = record_of(state), state.main
    proven = lane.loop.last or lane.loop.entry if fact.completed else record.proven
    if fact.stage == "SELECT":
        record = replace(record, previous=lane.item or record.previous, settled=None)
        lane.item = ""
    state.record = replace(record, evaluated=None, forgiven=(), proven=proven)


def _on_item_settled(state: State, fact: facts.ItemSettled) -> None:
    work, done = record_of(state), fact.status == "completed"
    status = "completed" if done else "in-progress" if fact.status == "failed" else "blocked"
    idle = work.idle_cycles if fact.status == "withdrawn" else work.idle_cycles + 1
    state.record = replace(
        work,
        settled=fact,
        idle_cycles=0 if done else idle,
        completed=(*work.completed, fact.id) if done else work.completed,
        created=(*work.created, *(new.issue.id for new in fact.created)),
        answered=tuple(id for id in work.answered if id != fact.id or fact.status != "blocked"),
    )
    state.items = tuple(replace(i, status=status) if i.id == fact.id else i for i in state.items)


def _on_item_reopened(state: State, fact: facts.ItemReopened) -> None:
    """Rolled back: what was accepted with it no longer stands, so nothing is known of the branch but the baseline."""
    state.record = replace(
        record_of(state),
        completed=tuple(id for id in record_of(state).completed if id != fact.id),
        reopened=(*record_of(state).reopened, fact.id),
        previous="",
        settled=None,
        seen=None,
        reviews={},
        proven=None,
    )
    state.items = tuple(replace(i, status="not-started") if i.id == fact.id else i for i in state.items)
    state.main.item = ""
    state.main.tests_accepted = Commit("")
    state.main.tests_ref = state.baseline.tests_ref if state.baseline else ""


def _on_evaluated(state: State, fact: facts.Evaluated) -> None:
    """The cycle is over; its reviews stay, for the next evaluation looks at them too."""
    state.record = replace(
        record_of(state),
        evaluated=fact,
        evaluations=fact.number,
        previous=state.main.item or record_of(state).previous,
    )
    state.main.item = ""


def _on_block_cleared(state: State, fact: facts.BlockCleared) -> None:
    work = replace(record_of(state), evaluated=None, settled=None, seen=None)
    match fact.trigger:
        case "failed_3x":
            work = replace(work, forgiven=(*work.forgiven, *fact.items), idle_cycles=0)
        case "no_completion":
            work = replace(work, idle_cycles=0)
        case "critical_security" | "unrecoverable_error":
            work = replace(work, reviews={})
        case "build_failing" | "gates_unmet" | "unverified":
            state.baseline = state.baseline if work.completed else None
        case _:
            work = replace(work, answered=tuple(dict.fromkeys((*work.answered, *fact.items))))
    state.record = work
    state.main.loop.reset = False


def _on_task_reopened(state: State, _fact: TaskReopened) -> None:
    state.record = replace(record_of(state), proven=None)


FOLDS: dict[type, Callable[[State, Any], None]] = {
    SessionStarted: _on_session_started,
    PersonSpoke: _on_person_spoke,
    Judged: _on_judged,
    Moved: _on_moved,
    facts.ItemSelected: _on_item_selected,
    facts.Reviewed: _on_reviewed,
    facts.ItemSettled: _on_item_settled,
    facts.ItemReopened: _on_item_reopened,
    facts.Evaluated: _on_evaluated,
    facts.BlockCleared: _on_block_cleared,
    TaskReopened: _on_task_reopened,
}
BEGUN: dict[type, Callable[[State, Lane, Any], None]] = {ReadBacklog: _on_reading_begun}
ENDED: dict[type, Callable[[State, Lane, Effect, Any], None]] = {
    BacklogRead: _on_backlog_read,
    Edited: _on_edited,
    Stale: _on_edited,
}
