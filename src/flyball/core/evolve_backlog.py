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
from flyball.core.state import Checkpoint, Draft, Work
from flyball.core.task import Commit, EffectId, Item
from flyball.core.work_edits import Reopen


def read(draft: Draft, _effect: Effect, outcome: BacklogRead) -> None:
    draft.work = replace(draft.work, seen=outcome)


def edited(draft: Draft, effect: Effect, outcome: Edited | Stale) -> None:
    """Written or found changed: what was read before is no longer what there is."""
    made = effect.edits if isinstance(effect, EditBacklog) and isinstance(outcome, Edited) else ()
    done = {edit.issue for edit in made if isinstance(edit, Reopen)}
    reopened = tuple(id for id in draft.work.reopened if id not in done)
    work = replace(draft.work, seen=None, reopened=reopened)
    if not isinstance(effect, EditBacklog) or isinstance(outcome, Edited):
        draft.work = replace(work, stale=0, stale_files={})
        return
    again = work.stale + 1 if effect.seen == work.stale_files else 1
    draft.work = replace(work, stale=again, stale_files=effect.seen)


def taken_up(work: Work) -> Work:
    """A new session reads and decides anew: people may have edited their files meanwhile."""
    return replace(tried_again(work), seen=None, evaluated=None)


def tried_again(work: Work) -> Work:
    """A person's word, or a new session, has what was refused tried once more."""
    return replace(work, stale=0, stale_files={})


def item_selected(draft: Draft, fact: ItemSelected) -> None:
    draft.authors = ()
    draft.work = replace(
        draft.work,
        selected=fact.item.id,
        cycle=fact.cycle,
        reviews={},
        passed=False,
        settled=None,
        evaluated=None,
    )
    draft.items = _with(draft.items, fact.item)
    if fact.fresh:
        draft.best = _accepted(draft)


def _with(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    if any(known.id == item.id for known in items):
        return tuple(item if known.id == item.id else known for known in items)
    return (*items, item)


def _accepted(draft: Draft) -> Checkpoint | None:
    return next((c for c in reversed(draft.checkpoints) if c.accepted), draft.best)


def reviewed(draft: Draft, fact: Reviewed) -> None:
    key = EffectId(f"turn/{fact.turn}")
    draft.work = replace(draft.work, reviews={**draft.work.reviews, fact.role: fact})
    draft.outcomes = {k: o for k, o in draft.outcomes.items() if k != key}
    draft.passing = {k: e for k, e in draft.passing.items() if k != key}
    draft.crashes = 0
    draft.overloads = 0


def judged(work: Work, fact: Judged) -> Work:
    if not fact.batch:
        return work
    item = work.selected
    others = {key: said for key, said in work.rejections.items() if key != item}
    return replace(
        work,
        seen=None,  # whether it is still wanted is seen before it is accepted
        passed=fact.can_exit,
        rejections=others if fact.can_exit else {**others, item: fact.gate_1.missing},
        batches=observe(work.batches, fact.observation),
    )


def moved(draft: Draft, fact: Moved) -> Work:
    """A decision is for the stay it was made in, and written by its end; a completed item's measurement is the branch's."""
    work = draft.work
    proven = draft.last or draft.entry if fact.completed else work.proven
    if fact.stage == "SELECT":
        work = replace(work, previous=work.selected or work.previous, selected="", settled=None)
    return replace(work, evaluated=None, forgiven=(), proven=proven)


def item_settled(draft: Draft, fact: ItemSettled) -> None:
    work, done = draft.work, fact.status == "completed"
    status = "completed" if done else "in-progress" if fact.status == "failed" else "blocked"
    idle = work.idle_cycles if fact.status == "withdrawn" else work.idle_cycles + 1
    draft.work = replace(
        work,
        settled=fact,
        idle_cycles=0 if done else idle,
        completed=(*work.completed, fact.id) if done else work.completed,
        created=(*work.created, *(new.issue.id for new in fact.created)),
        answered=tuple(id for id in work.answered if id != fact.id or fact.status != "blocked"),
    )
    draft.items = tuple(replace(i, status=status) if i.id == fact.id else i for i in draft.items)


def item_reopened(draft: Draft, fact: ItemReopened) -> None:
    """Rolled back: what was accepted with it no longer stands, so nothing is known of the branch but the baseline."""
    draft.work = replace(
        draft.work,
        completed=tuple(id for id in draft.work.completed if id != fact.id),
        reopened=(*draft.work.reopened, fact.id),
        selected="",
        previous="",
        settled=None,
        seen=None,
        reviews={},
        proven=None,
    )
    draft.items = tuple(replace(i, status="not-started") if i.id == fact.id else i for i in draft.items)
    draft.tests_accepted = Commit("")
    draft.tests_ref = draft.baseline.tests_ref if draft.baseline else ""


def evaluated(draft: Draft, fact: Evaluated) -> None:
    """The cycle is over; its reviews stay, for the next evaluation looks at them too."""
    draft.work = replace(
        draft.work,
        evaluated=fact,
        evaluations=fact.number,
        previous=draft.work.selected or draft.work.previous,
        selected="",
    )


def block_cleared(draft: Draft, fact: BlockCleared) -> None:
    work = replace(draft.work, evaluated=None, settled=None, seen=None)
    match fact.trigger:
        case "failed_3x":
            work = replace(work, forgiven=(*work.forgiven, *fact.items), idle_cycles=0)
        case "no_completion":
            work = replace(work, idle_cycles=0)
        case "critical_security" | "unrecoverable_error":
            work = replace(work, reviews={})
        case "build_failing" | "gates_unmet" | "unverified":
            draft.baseline = draft.baseline if work.completed else None
        case _:
            work = replace(work, answered=tuple(dict.fromkeys((*work.answered, *fact.items))))
    draft.work = work
    draft.reset = False
