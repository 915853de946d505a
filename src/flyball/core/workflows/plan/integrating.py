"""REVIEW: the finished work of a batch is brought onto a candidate tip piece by piece, gated, and judged subtask by subtask.

The branch does not move here. What is approved after something that was rejected is integrated and gated anew without it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from flyball.core.claims.claims import Claim
from flyball.core.claims.findings import BLOCKING, Finding
from flyball.core.claims.values import Rejection
from flyball.core.loop import gates, kernel
from flyball.core.loop.commit_messages import message, subject
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, perform, record
from flyball.core.model.effects import Integrate
from flyball.core.model.events import Moved
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Conflicted, Integrated, Measured, NothingToIntegrate
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Item
from flyball.core.workflows.plan import batches
from flyball.core.workflows.plan.facts import BatchReviewed, SubtaskIntegrated
from flyball.core.workflows.plan.grammar import SCAFFOLD
from flyball.core.workflows.plan.prompts import REVIEWER, brief
from flyball.core.workflows.plan.record import Batch, record_of
from flyball.core.workflows.plan.reviewing import review_by

GATES = Stage("REVIEW", REVIEWER, "gates", gates.green, brief)
OUTPUT_SHOWN = 3_000


def review(state: State, lane: Lane) -> Step:
    """Integrate and gate each, let the panel judge, integrate anew what that asks for, and hand on to the monitor."""
    batch = record_of(state).batch
    assert batch is not None
    missing = next((item for item in batch.items if item not in batch.results), None)
    if missing is not None:
        return _integrate(state, lane, batch, batches.find(state.items, missing))
    if batch.reviewed is None:
        return _judge(state, lane, batch)
    told = f"approved: {', '.join(batch.reviewed.approved) or 'none'}"
    return record(Moved("MONITOR", lane.stage, told))


def tip(state: State, batch: Batch) -> Commit:
    """The candidate tip so far: the last piece that was integrated, or the head of the branch."""
    taken = [each for each in batch.taken if each.result == "integrated"]
    return taken[-1].commit if taken else state.main.head


def label(state: State, batch: Batch) -> str:
    """The name of the batch's checkpoint."""
    scaffold = any(batches.find(state.items, item).kind == SCAFFOLD for item in batch.attempted)
    known = sum(name.startswith("scaffold") for name, _ in record_of(state).accepted)
    if scaffold:
        return f"scaffold-{known + 1}" if known else "scaffold"
    return f"batch-{batch.number}"


def commit_text(state: State, batch: Batch, item: Item) -> str:
    return message(subject("", item.text), label(state, batch), (item,))


def _integrate(state: State, lane: Lane, batch: Batch, item: Item) -> Step:
    work = state.lanes[item.id]
    name = f"{batch.number}-{batch.round}-{item.id}"
    key = EffectId(f"integrate/{name}")
    match lane.outcomes.get(key):
        case Integrated() as merged:
            return _gate(state, lane, work, merged, item, EffectId(f"measure/{name}"))
        case Conflicted(paths, detail):
            told = "\n".join((f"conflict in {', '.join(paths)}", detail)).strip()
            return record(SubtaskIntegrated(item.id, "conflicted", detail=told))
        case NothingToIntegrate():
            return record(SubtaskIntegrated(item.id, "empty", tip(state, batch)))
    text = commit_text(state, batch, item)
    return perform(Integrate(key, commit=work.head, base=work.base, onto=tip(state, batch), message=text))


def _gate(state: State, lane: Lane, work: Lane, merged: Integrated, item: Item, name: EffectId) -> Step:
    """The gates on the integrated tree; one that the lane measured already needs no second run."""
    proven = work.loop.entry
    done = SubtaskIntegrated(item.id, "integrated", merged.commit, merged.tree)
    if proven is not None and proven.tree == merged.tree:
        return record(done)
    measured = lane.outcomes.get(name)
    if not isinstance(measured, Measured):
        wanted = kernel.measure(state, lane, GATES, name, merged.commit)
        return perform(replace(wanted, items=(item,), tests_may_grow=True))
    missing = gates.doubts(measured.measurement) + gates.not_all_passing(measured.measurement)
    if not missing:
        return record(replace(done, measured=name))
    told = "\n".join((*missing[: gates.SHOWN], *_output(measured.measurement)))
    return record(SubtaskIntegrated(item.id, "red", merged.commit, merged.tree, told, name))


def _output(measured: Measurement) -> Iterable[str]:
    failed = next((gate for gate in measured.gates if not gate.passed and gate.output), None)
    return (f"end of the output of `{failed.command}`:", failed.output[-OUTPUT_SHOWN:].strip()) if failed else ()


def _judge(state: State, lane: Lane, batch: Batch) -> Step:
    """One reviewer on a disposable copy of the candidate tip; where nothing could be integrated there is nothing to look at."""
    if not batch.taken:
        return record(BatchReviewed(0, by="nobody"))
    said = review_by(state, lane, REVIEWER, commit=tip(state, batch), purpose="batch")
    if isinstance(said, Step):
        return said
    return record(weigh(state, batch, said[0].turn, said[1]))


def weigh(state: State, batch: Batch, number: int, claim: Claim) -> BatchReviewed:
    """A reviewer's word on each subtask. What it names counts; a verdict alone is on all; a blocking finding is on whose file it is."""
    reviewed = [each.item for each in batch.taken]
    why = {each.id: each.reason or claim.summary or "the review rejected it" for each in claim.rejected}
    for finding in (f for f in claim.findings if f.severity in BLOCKING):
        for item in _meant(state, reviewed, finding, set(why)):
            why[item] = f"{why[item]}; {finding.message}" if item in why else finding.message
    if claim.verdict == "fail" and not any(item in why for item in reviewed):
        unnamed = [item for item in reviewed if item not in claim.approved] or reviewed
        why |= dict.fromkeys(unnamed, claim.summary or "the review rejected it")
    if not claim.verdict and claim.approved:
        unnamed = [item for item in reviewed if item not in claim.approved]
        why = dict.fromkeys(unnamed, "the review did not approve it") | why
    done = {item.id for item in state.items if item.status == "completed"}
    return BatchReviewed(
        number,
        tuple(item for item in reviewed if item not in why),
        tuple(Rejection(item, why[item]) for item in reviewed if item in why),
        claim.findings,
        batches.in_order(state, (item for item in why if item in done)),
    )


def _meant(state: State, reviewed: list[str], finding: Finding, rejected: set[str]) -> list[str]:
    """The subtasks a blocking finding is on: those whose files it names, else those that are rejected anyway, else all."""
    owners = [
        item
        for item in reviewed
        if finding.file and (files := batches.find(state.items, item).files) and batches.names(files, finding.file)
    ]
    return owners or [item for item in reviewed if item in rejected] or reviewed
