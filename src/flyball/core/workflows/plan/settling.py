"""CHECKPOINT: the approved work becomes the branch's, boxes are ticked, and what was sent back is made ready to begin again.

The pieces are commits already, each on the one before; the last of them is saved as the batch's one checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.loop.step import Step, perform, record
from flyball.core.model.effects import CloseLane, Integrate, Save
from flyball.core.model.events import Fact, ItemChanged, LaneClosed, LearningRecorded, Moved
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate, Saved, WorkspaceClosed
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Item
from flyball.core.text.quantities import listed
from flyball.core.workflows.plan import batches, integrating, planning
from flyball.core.workflows.plan.facts import BatchSettled, SubtaskReturned
from flyball.core.workflows.plan.record import Batch, record_of


def checkpoint(state: State, lane: Lane) -> Step:
    """Save, bring rejected work onto the new tip, close the lanes, and tell what became of each."""
    batch = record_of(state).batch
    assert batch is not None
    name = EffectId(f"accept/batch-{batch.number}")
    if any(each.result == "integrated" for each in batch.taken) and not isinstance(lane.outcomes.get(name), Saved):
        return perform(_save(state, batch, name))
    for item in _sent_back(batch):
        key = _carried(batch, item)
        if not isinstance(lane.outcomes.get(key), Integrated | Conflicted | NothingToIntegrate):
            return perform(_carry(state, batch, item, key))
    return _closed(state, batch) or record(*_settled(state, lane, batch))


def _save(state: State, batch: Batch, name: EffectId) -> Save:
    pieces = [each for each in batch.taken if each.result == "integrated"]
    item = batches.find(state.items, pieces[-1].item)
    return Save(
        name,
        label=integrating.label(state, batch),
        message=integrating.commit_text(state, batch, item),
        parent=pieces[-2].commit if len(pieces) > 1 else state.main.head,
        accepted=True,
        tree=pieces[-1].tree,
    )


def _sent_back(batch: Batch) -> list[str]:
    """What the review rejected: its author goes on from it."""
    return [item for item, (why, _, _) in batch.returned.items() if why == "review" and item in batch.attempted]


def _carried(batch: Batch, item: str) -> EffectId:
    return EffectId(f"carry/{batch.number}-{item}")


def _carry(state: State, batch: Batch, item: str, key: EffectId) -> Integrate:
    """Rejected work, brought onto what is accepted now."""
    work = state.lanes[item]
    text = integrating.commit_text(state, batch, batches.find(state.items, item))
    return Integrate(key, commit=work.head, base=work.base, onto=state.main.head, message=text)


def _closed(state: State, batch: Batch) -> Step | None:
    """Remove the workspaces of the batch, all at once."""
    lanes = [state.lanes[item] for item in batch.attempted]
    closing = {lane.name: lane.effect_id("close") for lane in lanes}
    left = [lane.name for lane in lanes if not isinstance(lane.outcomes.get(closing[lane.name]), WorkspaceClosed)]
    return perform(*(CloseLane(closing[name], lane=name) for name in left)) if left else None


def _settled(state: State, lane: Lane, batch: Batch) -> Iterator[Fact]:
    accepted = tuple(each.item for each in batch.taken)
    name = integrating.label(state, batch)
    yield from (ItemChanged(item, "completed") for item in accepted)
    yield from _returned(state, lane, batch)
    yield from (LaneClosed(item, "accepted" if item in accepted else "sent back") for item in batch.attempted)
    yield BatchSettled(batch.number, name if accepted else "", accepted, state.main.head if accepted else Commit(""))
    undone = batch.reviewed.reopened if batch.reviewed else ()
    following = planning.following(replace(state, items=_after(state, accepted, undone)))
    told = f"{name}: {listed(accepted, 5)} accepted" if accepted else "nothing was accepted"
    yield Moved(following, lane.stage, told, completed=bool(accepted))


def _after(state: State, accepted: tuple[str, ...], undone: tuple[str, ...]) -> tuple[Item, ...]:
    return tuple(
        replace(item, status="completed")
        if item.id in accepted
        else replace(item, status="in-progress")
        if item.id in undone
        else item
        for item in state.items
    )


def _returned(state: State, lane: Lane, batch: Batch) -> Iterator[Fact]:
    """Why each goes back, for whoever takes it up, and what it teaches."""
    number = state.learned
    for item, (why, reasons, detail) in batch.returned.items():
        number += 1
        if item not in batch.attempted:
            yield ItemChanged(item, "in-progress")
        told, start, found = detail, Commit(""), lane.outcomes.get(_carried(batch, item))
        if isinstance(found, Integrated):
            start = found.commit
        elif isinstance(found, Conflicted):
            told = f"conflict in {', '.join(found.paths)}\n{found.detail}"
        yield SubtaskReturned(item, why, reasons, told, start)
        titles = {"review": "the review rejected", "conflict": "a conflict sent back", "gates": "red gates sent back"}
        yield LearningRecorded(number, "anti-pattern", f"{titles.get(why, why)} {item}", "; ".join(reasons))
    for item, told in record_of(state).failures.items():
        yield SubtaskReturned(item, "failed", (told,))
