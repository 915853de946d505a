"""The finished work of a batch is brought onto a candidate tip piece by piece, gated, and judged subtask by subtask.

The gates run once, on the tip with all pieces. Where they fail, each piece is integrated and gated by itself, so that only what is at
fault goes back. The branch does not move here. What is approved after something that was rejected is integrated and
gated anew without it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from flyball.core.loop import gates, kernel, questions
from flyball.core.loop.answers import first_word
from flyball.core.loop.batches import choosing
from flyball.core.loop.batches.rules import BatchRules
from flyball.core.loop.commit_messages import message, subject
from flyball.core.loop.kernel import Stage
from flyball.core.loop.step import ComesFirst, Step, first, perform, record
from flyball.core.loop.undeclared import undeclared_edits
from flyball.core.memory.recording import panel_revisions
from flyball.core.model.batch_events import BatchReviewed, SubtaskIntegrated
from flyball.core.model.batches import Batch
from flyball.core.model.effects import Integrate, Option, Question
from flyball.core.model.events import Fact, Moved, UndeclaredEditsFound
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import Conflicted, Integrated, Measured, NothingToIntegrate, Outcome
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, EffectId, Item
from flyball.core.text.quantities import first_few, plural

OUTPUT_SHOWN = 3_000
MERGED = (Integrated, Conflicted, NothingToIntegrate)


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
    return record(said, *panel_revisions(state, lane))


def tip(state: State, batch: Batch) -> Commit:
    """The candidate tip so far: the last piece that was integrated, or the head of the branch."""
    taken = [each for each in batch.taken if each.result == "integrated"]
    return taken[-1].commit if taken else state.main.head


def label(state: State, batch: Batch) -> str:
    first = any(choosing.find(state.items, item).kind == choosing.SCAFFOLD for item in batch.attempted)
    if first and not any(each.label == choosing.SCAFFOLD for each in state.batches.accepted):
        return choosing.SCAFFOLD
    return f"{choosing.SCAFFOLD if first else 'batch'}-{batch.number}"


def commit_text(state: State, batch: Batch, item: Item) -> str:
    return message(subject("", item.text), label(state, batch), (item,))


def _integrate(rules: BatchRules, state: State, lane: Lane, batch: Batch, item: Item) -> Step:
    place = f"{batch.number}-{batch.round}"
    ended = {each: lane.outcomes.get(EffectId(f"integrate/{place}-{each}")) for each in batch.items}
    merges = {each: merged for each, merged in ended.items() if isinstance(merged, MERGED)}
    merged = ended[item.id]
    gated = _integrate_together(rules, state, lane, batch, merges)
    if gated is None:
        key = EffectId(f"integrate/{place}-{item.id}-alone")
        merged = lane.outcomes.get(key)
        if not isinstance(merged, MERGED):
            return _merge(rules, state, batch, item.id, key, tip(state, batch))
        alone = {item.id: merged} if isinstance(merged, Integrated) else {}
        gated = _gate(rules, state, lane, alone, EffectId(f"measure/{place}-{item.id}"))
    measured, why = gated
    match merged:
        case Integrated() if why:
            return record(SubtaskIntegrated(item.id, "red", merged.commit, merged.tree, why, measured))
        case Integrated():
            return _take(rules, state, lane, merged, item, measured)
        case Conflicted():
            return record(SubtaskIntegrated(item.id, "conflicted", detail=conflict(merged)))
    return record(SubtaskIntegrated(item.id, "empty", tip(state, batch)))


def _integrate_together(
    rules: BatchRules, state: State, lane: Lane, batch: Batch, merges: Mapping[str, Outcome]
) -> tuple[str, str] | None:
    """All pieces one upon the other, then the gates on the last; None if these fail or a person is asked about one: then each goes alone."""
    pieces = {item: merged for item, merged in merges.items() if isinstance(merged, Integrated)}
    if len(pieces) > 1 and any(_outside(rules, state, piece, item).deleted for item, piece in pieces.items()):
        return None
    onto = list(pieces.values())[-1].commit if pieces else tip(state, batch)
    place = f"{batch.number}-{batch.round}"
    for item in batch.items:
        if item not in batch.results and item not in merges:
            first(_merge(rules, state, batch, item, EffectId(f"integrate/{place}-{item}"), onto))
    gated = _gate(rules, state, lane, pieces, EffectId(f"measure/{place}"))
    return None if len(pieces) > 1 and gated[1] else gated


def _merge(rules: BatchRules, state: State, batch: Batch, item: str, key: EffectId, onto: Commit) -> Step:
    work = state.lanes[item]
    return perform(
        Integrate(
            key,
            commit=work.head,
            base=work.base,
            onto=onto,
            message=commit_text(state, batch, choosing.find(state.items, item)),
            without=(LOOP, *rules.kept(state)),
            work=item,
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
    rules: BatchRules, state: State, lane: Lane, pieces: Mapping[str, Integrated], name: EffectId
) -> tuple[str, str]:
    """The measurement of the tip with these pieces, and why it does not hold; the tree that the only piece's lane measured needs none."""
    if not pieces:
        return "", ""
    last = list(pieces)[-1]
    proven = state.lanes[last].loop.entry
    if len(pieces) == 1 and proven is not None and proven.tree == pieces[last].tree:
        return "", ""
    measured = lane.outcomes.get(name)
    if not isinstance(measured, Measured):
        stage = Stage(lane.stage, "", "gates", gates.green, rules.brief)
        wanted = kernel.measure(state, lane, stage, name, pieces[last].commit)
        items = tuple(choosing.find(state.items, each) for each in pieces)
        consented = {**lane.consented, **_consents(state, pieces)}
        kept = rules.kept(state)
        raise ComesFirst(perform(replace(wanted, items=items, consented=consented, tests_may_grow=True, kept=kept)))
    missing = gates.doubts(measured.measurement) + gates.not_all_passing(measured.measurement)
    lines = missing[: gates.SHOWN]
    failed = measured.measurement.failed_gate
    if missing and failed is not None:
        lines += [f"end of the output of `{failed.command}`:", failed.output[-OUTPUT_SHOWN:].strip()]
    return name, "\n".join(lines)


def _consents(state: State, items: Collection[str]) -> dict[str, Commit]:
    """What the lanes whose work is on the candidate tip with these pieces may change: the tree holds the changes of all of them."""
    batch = state.batches.current
    assert batch is not None
    on_tip = {*items, *(each.item for each in batch.taken)}
    lanes = (each for each in choosing.subtask_lanes(state) if each.item in on_tip)
    return {path: commit for each in lanes for path, commit in each.consented.items()}


def _take(rules: BatchRules, state: State, lane: Lane, merged: Integrated, item: Item, measured: str) -> Step:
    """A piece on the candidate tip, with what it changed beside its files; the next batch knows that. What goes for good is asked about."""
    found = _outside(rules, state, merged, item.id)
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


def _outside(rules: BatchRules, state: State, merged: Integrated, item: str) -> UndeclaredEditsFound:
    """What a piece changed beside its files."""
    others = {each.item: choosing.find(state.items, each.item).files for each in choosing.subtask_lanes(state)}
    files = others.pop(item)
    protected, sources = state.lanes[item].consented, rules.kept(state)
    return undeclared_edits(files, merged.changed, item=item, protected=protected, sources=sources, others=others)


def _deletion(item: Item, paths: tuple[str, ...]) -> Question:
    """Where nobody is there, the reviewer judges it."""
    options = (Option("delete", "the files go"), Option("keep", "the files stay; the subtask goes back"))
    text = f"{item.id} deletes {plural(len(paths), 'file')} that it had not declared: {first_few(paths, 3)}"
    return Question(f"deletes-{item.id}", text, options, default="delete", detail="\n".join(paths[:60]))
