"""What batches add to what is known: pieces of work on the candidate tip, reviews, what goes back, what was accepted."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.health.observation import begin_loop, observe
from flyball.core.health.verdict import Remedy
from flyball.core.model import batch_events as be
from flyball.core.model.batches import AcceptedBatch, Batch, Returning, Rework
from flyball.core.model.events import Judged, Moved
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Commit, EffectId

REASONS_KEPT = 6


def _keep(state: State, **changes: Any) -> None:
    state.batches = replace(state.batches, **changes)


def _on_begun(state: State, fact: be.BatchBegun) -> None:
    _keep(state, number=fact.number)


def _on_ended(state: State, fact: be.BatchEnded) -> None:
    _keep(state, current=Batch(fact.number, fact.items, fact.items))
    written = (author for item in fact.items for author in state.lanes[item].authors)
    state.main.authors = tuple(dict.fromkeys(written)) or state.main.authors


def _current(state: State) -> Batch:
    assert state.batches.current is not None
    return state.batches.current


def _on_integrated(state: State, fact: be.SubtaskIntegrated) -> None:
    batch, returning = _current(state), _current(state).returning
    if fact.result in {"conflicted", "red"}:
        why: be.Why = "conflict" if fact.result == "conflicted" else "gates"
        reasons = tuple(line for line in fact.detail.splitlines() if line.strip())[:REASONS_KEPT]
        returning = {**returning, fact.item: Returning(why, reasons, fact.detail)}
    proofs = batch.proofs
    if fact.result == "integrated":
        made = state.main.outcomes.get(EffectId(fact.measured))
        proof = made.measurement if isinstance(made, Measured) else state.lanes[fact.item].loop.entry
        proofs = {**proofs, fact.item: proof} if proof is not None else proofs
    results = {**batch.results, fact.item: fact}
    _keep(state, current=replace(batch, results=results, proofs=proofs, returning=returning))


def _on_reviewed(state: State, fact: be.BatchReviewed) -> None:
    """What was rejected goes back; what was integrated on top of it is integrated anew without it."""
    batch = _current(state)
    turned_down = {each.id: each.reason for each in (*fact.rejected, *fact.reopened)}
    standing: dict[str, be.SubtaskIntegrated] = {}
    for item in batch.items:
        if item in turned_down:
            break
        if item in batch.results:
            standing[item] = batch.results[item]
    # What was measured together with something that goes back was not measured without it.
    lost = {each.measured for item, each in batch.results.items() if item not in standing} - {""}
    standing = {item: each for item, each in standing.items() if each.measured not in lost}
    approved = tuple(item for item in batch.items if item in fact.approved)
    batch = replace(
        batch,
        reviewed=fact,
        items=approved,
        results={item: standing[item] for item in approved if item in standing},
        returning={**batch.returning, **{id_: Returning("review", (why,)) for id_, why in turned_down.items()}},
        round=2 if any(item not in standing for item in approved) else batch.round,
    )
    _keep(state, current=batch, unread=0, unclear="")


def _on_unread(state: State, fact: be.ReviewUnread) -> None:
    """The seat is free again; of the answer only what was unclear is kept."""
    _keep(state, unread=state.batches.unread + 1, unclear=fact.unclear)
    state.main.panel = None


def _on_failed(state: State, fact: be.SubtaskFailed) -> None:
    _keep(state, failures={**state.batches.failures, fact.item: fact})


def _on_deferred(state: State, fact: be.SubtaskDeferred) -> None:
    state.items = tuple(
        replace(item, depends_on=tuple(dict.fromkeys((*item.depends_on, *fact.until))), status="not-started")
        if item.id == fact.item
        else item
        for item in state.items
    )


def _on_returned(state: State, fact: be.SubtaskReturned) -> None:
    before = state.batches.rework.get(fact.item, Rework(fact.why))
    rounds = before.rounds + (fact.why in {"conflict", "gates"})
    rungs = (*before.rungs, fact.rung) if fact.rung else before.rungs
    lane = state.lanes.get(fact.item)
    consented, authors = (lane.consented, lane.authors) if lane is not None else ({}, ())
    work = Rework(fact.why, fact.reasons, fact.detail, fact.commit, fact.base, rounds, rungs, consented, authors)
    parked = (*state.batches.parked, fact.item) if fact.parked else state.batches.parked
    _keep(state, rework={**state.batches.rework, fact.item: work}, parked=tuple(dict.fromkeys(parked)))


def _on_settled(state: State, fact: be.BatchSettled) -> None:
    known = state.batches
    tree = next((c.tree for c in reversed(state.checkpoints) if c.commit == fact.commit), state.main.tree)
    new = AcceptedBatch(fact.label, fact.accepted, fact.commit, tree, known.proven)
    rework = {key: work for key, work in known.rework.items() if key not in fact.accepted}
    # A word that came too late for its subtask: what is accepted was neither left out nor waits for a person.
    left_out = tuple(item for item in known.left_out if item not in fact.accepted)
    parked = tuple(item for item in known.parked if item not in fact.accepted)
    _keep(state, current=None, failures={}, rework=rework, left_out=left_out, parked=parked)
    if fact.accepted:
        # An accepted batch shows that a regression is over. Work that flip-flops is accepted each time, so that shows nothing.
        left = tuple(rung for rung in known.recoveries if rung == "rollback-two")
        _keep(state, accepted=(*known.accepted, new), recoveries=left)
    # What was dropped with the batch was measured, too; the next one begins with the branch.
    state.main.loop.entry = state.batches.proven or state.baseline


def _on_undone(state: State, fact: be.BatchesUndone) -> None:
    """The tests that were accepted with what is undone are no longer protected."""
    left = tuple(each for each in state.batches.accepted if each.label not in fact.labels)
    _keep(state, accepted=left, restored=True)
    state.main.tests_accepted = Commit("")
    proof = left[-1].proof if left else state.baseline
    state.main.tests_ref = proof.tests_ref if proof else ""


def on_judged(state: State, fact: Judged) -> None:
    """A verdict on a whole batch, on top of what every verdict adds."""
    known = state.batches
    if known.current is None or not fact.batch:
        return
    recoveries = (*known.recoveries, fact.rung) if fact.rung.startswith("rollback") else known.recoveries
    _keep(
        state,
        history=observe(known.history, fact.observation),
        recoveries=recoveries,
        restored=fact.rung.startswith("rollback"),
        rung=fact.rung,
        evidence=fact.verdict.evidence,
        spent=fact.verdict.remedy in {Remedy.STOP, Remedy.ASK},
    )


def proven(state: State, fact: Judged) -> Measurement | None:
    """What a verdict on a whole batch is about: the newest integrated tree."""
    known = state.batches
    return known.proven if fact.batch and known.current is not None else None


def on_skipped(state: State, fact: Moved) -> None:
    """What a person skips: a subtask is left out, a batch is taken without its review."""
    if fact.lane != MAIN:
        _keep(state, left_out=(*state.batches.left_out, state.lanes[fact.lane].item))
        return
    batch = state.batches.current
    if batch is None:
        _keep(state, left_out=(*state.batches.left_out, *state.batches.parked), parked=())
    elif batch.reviewed is None:
        taken = tuple(each.item for each in batch.taken)
        _keep(state, current=replace(batch, items=taken, reviewed=be.BatchReviewed(0, taken, by="person")))


def begin_anew(state: State) -> None:
    """A person's word to the task clears what was counted against the batches."""
    _keep(state, unread=0, unclear="", recoveries=(), history=begin_loop(state.batches.history), spent=False, parked=())


TABLE: dict[type, Callable[[State, Any], None]] = {
    be.BatchBegun: _on_begun,
    be.BatchEnded: _on_ended,
    be.SubtaskIntegrated: _on_integrated,
    be.BatchReviewed: _on_reviewed,
    be.ReviewUnread: _on_unread,
    be.SubtaskFailed: _on_failed,
    be.SubtaskDeferred: _on_deferred,
    be.SubtaskReturned: _on_returned,
    be.BatchSettled: _on_settled,
    be.BatchesUndone: _on_undone,
}
