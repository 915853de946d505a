"""The finished work of a batch is brought onto a candidate tip piece by piece, gated, and judged subtask by subtask.

The branch does not move here. What is approved after something that was rejected is integrated and gated anew without it.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.loop import gates, kernel, questions
from flyball.core.loop.answers import first_word
from flyball.core.loop.batches import choosing
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.commit_messages import message, subject
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import Step, perform, record
from flyball.core.loop.undeclared import undeclared_edits
from flyball.core.memory.recording import panel_revisions
from flyball.core.model.batch_events import BatchReviewed, SubtaskIntegrated
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Integrate, Option, Question
from flyball.core.model.events import Fact, Moved
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import Conflicted, Integrated, Measured, NothingToIntegrate
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Item
from flyball.core.text.quantities import first_few, plural

OUTPUT_SHOWN = 3_000


def integrate(rules: BatchRules, state: State, lane: Lane) -> Step:
    """Integrate and gate each, have them judged, integrate anew what that asks for, and hand on to the monitor."""
    batch = state.batches.current
    assert batch is not None
    missing = next((item for item in batch.items if item not in batch.results), None)
    if missing is not None:
        return _integrate(rules, state, lane, batch, choosing.find(state.items, missing))
    if batch.reviewed is not None:
        told = f"approved: {', '.join(batch.reviewed.approved) or 'none'}"
        return record(Moved(rules.monitoring, lane.stage, told))
    if not batch.taken:
        return record(BatchReviewed(0, by="nobody"))
    said = rules.judge(state, lane, batch)
    return said if isinstance(said, Step) else record(said, *panel_revisions(state, lane))


def tip(state: State, batch: Batch) -> Commit:
    """The candidate tip so far: the last piece that was integrated, or the head of the branch."""
    taken = [each for each in batch.taken if each.result == "integrated"]
    return taken[-1].commit if taken else state.main.head


def label(state: State, batch: Batch) -> str:
    """The name of the batch's checkpoint."""
    first = any(choosing.find(state.items, item).kind == choosing.SCAFFOLD for item in batch.attempted)
    if first and not any(each.label == choosing.SCAFFOLD for each in state.batches.accepted):
        return choosing.SCAFFOLD
    return f"{choosing.SCAFFOLD if first else 'batch'}-{batch.number}"


def commit_text(state: State, batch: Batch, item: Item) -> str:
    return message(subject("", item.text), label(state, batch), (item,))


def _integrate(rules: BatchRules, state: State, lane: Lane, batch: Batch, item: Item) -> Step:
    work = state.lanes[item.id]
    name = f"{batch.number}-{batch.round}-{item.id}"
    key = EffectId(f"integrate/{name}")
    match lane.outcomes.get(key):
        case Integrated() as merged:
            return _gate(rules, state, lane, work, merged, item, EffectId(f"measure/{name}"))
        case Conflicted() as met:
            return record(SubtaskIntegrated(item.id, "conflicted", detail=conflict(met)))
        case NothingToIntegrate():
            return record(SubtaskIntegrated(item.id, "empty", tip(state, batch)))
    return perform(
        Integrate(
            key,
            commit=work.head,
            base=work.base,
            onto=tip(state, batch),
            message=commit_text(state, batch, item),
            without=(LOOP, *rules.kept(state)),
            work=item.id,
        )
    )


def conflict(met: Conflicted) -> str:
    """A conflict with both sides, as its owner is told it."""
    sides = (
        ("What this subtask changed there:", met.own_diff),
        ("What was changed there meanwhile:", met.other_diff),
        ("Both at once, as git would have left them:", met.markers),
    )
    told = [f"conflict in {', '.join(met.paths)}" if met.paths else "conflict", met.detail]
    told += [part for title, text in sides if text for part in (title, text)]
    return "\n".join(part for part in told if part)


def _gate(
    rules: BatchRules, state: State, lane: Lane, work: Lane, merged: Integrated, item: Item, name: EffectId
) -> Step:
    """The gates on the integrated tree; one that the lane measured already needs no second run."""
    proven = work.loop.entry
    if proven is not None and proven.tree == merged.tree:
        return _take(rules, state, lane, work, merged, item, "")
    measured = lane.outcomes.get(name)
    if not isinstance(measured, Measured):
        stage = Stage(lane.stage, "", "gates", gates.green, rules.brief)
        wanted = kernel.measure(state, lane, stage, name, merged.commit)
        consented = {**lane.consented, **_consents(state, item)}
        kept = rules.kept(state)
        return perform(replace(wanted, items=(item,), consented=consented, tests_may_grow=True, kept=kept))
    missing = gates.doubts(measured.measurement) + gates.not_all_passing(measured.measurement)
    if not missing:
        return _take(rules, state, lane, work, merged, item, name)
    lines = missing[: gates.SHOWN]
    failed = measured.measurement.failed_gate
    if failed is not None:
        lines += [f"end of the output of `{failed.command}`:", failed.output[-OUTPUT_SHOWN:].strip()]
    return record(SubtaskIntegrated(item.id, "red", merged.commit, merged.tree, "\n".join(lines), name))


def _consents(state: State, item: Item) -> dict[str, Commit]:
    """What the lanes whose work is on the candidate tip with this piece may change: the tree holds the changes of all of them."""
    batch = state.batches.current
    assert batch is not None
    on_tip = {item.id, *(each.item for each in batch.taken)}
    lanes = (each for each in choosing.subtask_lanes(state) if each.item in on_tip)
    return {path: commit for each in lanes for path, commit in each.consented.items()}


def _take(
    rules: BatchRules, state: State, lane: Lane, work: Lane, merged: Integrated, item: Item, measured: str
) -> Step:
    """A piece on the candidate tip, with what it changed beside its files; the next batch knows that. What goes for good is asked about."""
    others = {each.item: choosing.find(state.items, each.item).files for each in choosing.subtask_lanes(state)}
    others.pop(item.id, None)
    sources = rules.kept(state)
    found = undeclared_edits(
        item.files, merged.changed, item=item.id, protected=work.consented, sources=sources, others=others
    )
    found = replace(found, dropped=tuple(dict.fromkeys((*found.dropped, *merged.dropped))))
    outside = (*found.also_changed, *found.deleted, *found.protected)
    piece = SubtaskIntegrated(item.id, "integrated", merged.commit, merged.tree, measured=measured, outside=outside)
    taken: tuple[Fact, ...] = (found, piece) if outside or found.dropped else (piece,)
    if not found.deleted:
        return record(*taken)

    def follow(_lane: Lane, _key: EffectId, answer: str) -> tuple[Fact, ...]:
        if first_word(answer) == "delete":
            return taken
        told = f"it deletes {first_few(found.deleted, 5)}, which is to stay"
        return (SubtaskIntegrated(item.id, "red", merged.commit, merged.tree, told, measured),)

    return questions.put(state, lane, _deletion(item, found.deleted), follow)


def _deletion(item: Item, paths: tuple[str, ...]) -> Question:
    """Where nobody is there, the reviewer judges it."""
    options = (Option("delete", "the files go"), Option("keep", "the files stay; the subtask goes back"))
    text = f"{item.id} deletes {plural(len(paths), 'file')} that it had not declared: {first_few(paths, 3)}"
    return Question(f"deletes-{item.id}", text, options, default="delete", detail="\n".join(paths[:60]))
