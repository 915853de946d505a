"""What the facts of a backlog add to what is known: the cycle, its reviews, what was written, what was decided."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.effects import EditBacklog, Effect
from flyball.core.events import (
    BlockCleared,
    Evaluated,
    ItemReopened,
    ItemSelected,
    ItemSettled,
    Judged,
    Moved,
    Reviewed,
)
from flyball.core.observation import observe
from flyball.core.outcomes import BacklogRead, Edited, Stale
from flyball.core.state import Checkpoint, State, Work
from flyball.core.task import Commit, EffectId, Item
from flyball.core.work_edits import Reopen


def read(state: State, _effect: Effect, outcome: BacklogRead) -> State:
    return replace(state, work=replace(state.work, seen=outcome))


def edited(state: State, effect: Effect, outcome: Edited | Stale) -> State:
    """Written or found changed: what was read before is no longer what there is."""
    made = effect.edits if isinstance(effect, EditBacklog) and isinstance(outcome, Edited) else ()
    again = {edit.issue for edit in made if isinstance(edit, Reopen)}
    reopened = tuple(id for id in state.work.reopened if id not in again)
    return replace(state, work=replace(state.work, seen=None, reopened=reopened))


def taken_up(work: Work) -> Work:
    """A new session reads and decides anew: people may have edited their files meanwhile."""
    return replace(work, seen=None, evaluated=None)


def item_selected(state: State, fact: ItemSelected) -> State:
    work = replace(
        state.work,
        selected=fact.item.id,
        cycle=fact.cycle,
        reviews={},
        passed=False,
        settled=None,
        evaluated=None,
    )
    best = _accepted(state) if fact.fresh else state.best
    return replace(state, work=work, items=_with(state.items, fact.item), best=best)


def _with(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    if any(known.id == item.id for known in items):
        return tuple(item if known.id == item.id else known for known in items)
    return (*items, item)


def _accepted(state: State) -> Checkpoint | None:
    return next((c for c in reversed(state.checkpoints) if c.accepted), state.best)


def reviewed(state: State, fact: Reviewed) -> State:
    key = EffectId(f"turn/{fact.turn}")
    return replace(
        state,
        work=replace(state.work, reviews={**state.work.reviews, fact.role: fact}),
        outcomes={k: o for k, o in state.outcomes.items() if k != key},
        passing={k: e for k, e in state.passing.items() if k != key},
        crashes=0,
        overloads=0,
    )


def judged(work: Work, fact: Judged) -> Work:
    if not fact.batch:
        return work
    item = work.selected
    others = {key: said for key, said in work.rejections.items() if key != item}
    return replace(
        work,
        passed=fact.can_exit,
        rejections=others if fact.can_exit else {**others, item: fact.gate_1.missing},
        batches=observe(work.batches, fact.observation),
    )


def moved(state: State, fact: Moved) -> Work:
    """A decision is for the stay it was made in, and written by its end; a completed item's measurement is the branch's."""
    work = state.work
    proven = state.last or state.entry if fact.completed else work.proven
    if fact.stage == "SELECT":
        work = replace(work, previous=work.selected or work.previous, selected="", settled=None)
    return replace(work, evaluated=None, forgiven=(), proven=proven)


def item_settled(state: State, fact: ItemSettled) -> State:
    work, done = state.work, fact.status == "completed"
    status = "completed" if done else "blocked" if fact.status == "blocked" else "in-progress"
    settled = replace(
        work,
        settled=fact,
        idle_cycles=0 if done else work.idle_cycles + 1,
        completed=(*work.completed, fact.id) if done else work.completed,
        created=(*work.created, *(new.issue.id for new in fact.created)),
        answered=tuple(id for id in work.answered if id != fact.id or fact.status != "blocked"),
    )
    items = tuple(replace(i, status=status) if i.id == fact.id else i for i in state.items)
    return replace(state, work=settled, items=items)


def item_reopened(state: State, fact: ItemReopened) -> State:
    """Rolled back: what was accepted with it no longer stands, so nothing is known of the branch but the baseline."""
    work = replace(
        state.work,
        completed=tuple(id for id in state.work.completed if id != fact.id),
        reopened=(*state.work.reopened, fact.id),
        selected="",
        previous="",
        settled=None,
        seen=None,
        reviews={},
        proven=None,
    )
    items = tuple(replace(i, status="not-started") if i.id == fact.id else i for i in state.items)
    known = state.baseline.tests_ref if state.baseline else ""
    return replace(state, work=work, items=items, tests_accepted=Commit(""), tests_ref=known)


def evaluated(state: State, fact: Evaluated) -> State:
    """The cycle is over; its reviews stay, for the next evaluation looks at them too."""
    work = replace(
        state.work,
        evaluated=fact,
        evaluations=fact.number,
        previous=state.work.selected or state.work.previous,
        selected="",
    )
    return replace(state, work=work)


def block_cleared(state: State, fact: BlockCleared) -> State:
    work = replace(state.work, evaluated=None, settled=None, seen=None)
    unproven = False
    match fact.trigger:
        case "failed_3x":
            work = replace(work, forgiven=(*work.forgiven, *fact.items), idle_cycles=0)
        case "no_completion":
            work = replace(work, idle_cycles=0)
        case "critical_security" | "unrecoverable_error":
            work = replace(work, reviews={})
        case "build_failing" | "gates_unmet" | "unverified":
            unproven = not work.completed
        case _:
            work = replace(work, answered=tuple(dict.fromkeys((*work.answered, *fact.items))))
    return replace(state, work=work, reset=False, baseline=None if unproven else state.baseline)
