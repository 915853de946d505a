"""A plan that lives in a file of the user's: read again before each batch, asked about where people changed it, and marked.

The marks follow from the items alone: what was accepted is marked, and what is open again gets back the mark it had. So a
rollback, a rejection or a kill needs no case of its own.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from flyball.core.loop import gates, questions
from flyball.core.loop.answers import first_word
from flyball.core.loop.batches import choosing
from flyball.core.loop.step import NOTHING, Step, perform, record
from flyball.core.model.effects import Option, Question
from flyball.core.model.events import DocumentSeen, Fact, ItemChanged, ItemsSet
from flyball.core.model.state import Lane, State
from flyball.core.model.task import EffectId, Item, Source
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.plan.effects import MarkEntries, ReadPlan
from flyball.core.workflows.plan.facts import MatterSettled, SourceSeen
from flyball.core.workflows.plan.record import record_of
from flyball.core.workflows.plan.sources.following import Difference, Imported, Matter, difference, renewed_plan
from flyball.core.workflows.plan.sources.marking import MarkChange, finishing, ours, undoing
from flyball.core.workflows.plan.sources.values import ImportedPlan, PlanDefect

BETWEEN_BATCHES = frozenset({"GATHER", "SCAFFOLD", "EXECUTE", "FINAL_REVIEW", "REPORT"})
STALE_THAT_BLOCK = 3
LINES_SHOWN = 12
CHANGED = {"new": "new in", "gone": "no longer in", "reworded": "reworded in", "ticked": "ticked in"}
ANSWERED = {
    "drop": "left out",
    "done": "taken as done, unverified",
    "new": "worked on as it reads now",
    "keep": "worked on as it was",
    "old": "worked on as it was",
    "work": "worked on",
}
"""What becomes of an entry by a person's word."""


def source_of(state: State) -> Source | None:
    source = state.task.source
    return source if source is not None and source.format else None


def follow(state: State, lane: Lane) -> Step | None:
    """What is to be done about the source before anything else is; None where there is nothing."""
    source = source_of(state)
    at_rest = lane.stage in BETWEEN_BATCHES and lane.panel is None and lane.turn is None
    if source is None or not at_rest or choosing.subtask_lanes(state):
        return None
    if any(isinstance(effect, ReadPlan | MarkEntries) for effect in state.open.values()):
        return NOTHING
    known = record_of(state).imported
    if known.looked != len(lane.visits):
        return perform(reading(state, source))
    if known.unread is not None:
        fatal = [defect for defect in known.unread.defects if defect.fatal]
        if fatal:
            return questions.put(state, lane, _defect_question(source, fatal), _read_again)
        return record(*take_in(state, known, source))
    wanted = marking(state)
    if wanted is not None and known.stale >= STALE_THAT_BLOCK:
        return questions.put(state, lane, _stale_question(wanted), _read_again)
    if wanted is not None:
        return perform(wanted)
    if known.matters and known.plan is not None and not choosing.ready(state) and record_of(state).drafts:
        return _ask(state, lane, source, known.matters[0])
    return None


def awaits_agreement(state: State) -> bool:
    """Whether a person wants to see the plan first, has not agreed to it, and nothing was worked."""
    known = record_of(state)
    return state.task.settings.approve_plan and bool(known.drafts) and not known.agreed and not state.batches.accepted


def reading(state: State, source: Source) -> ReadPlan:
    known = record_of(state).imported
    stories = state.task.settings.parallel_stories
    return ReadPlan(EffectId(f"source/{known.reads + 1}"), source, known.sha256, stories)


def _wanted_marks(state: State) -> tuple[MarkChange, ...]:
    """What the source should say and does not: accepted items are done, and what we marked and is open again is not."""
    known = record_of(state).imported
    if known.plan is None:
        return ()
    public = known.plan.format == "github"
    if public and not state.task.settings.close_issues:
        return ()
    done = {item.id for item in state.items if item.status == "completed"}
    accepted = {id for batch in state.batches.accepted for id in batch.items}
    opened = (item.id for item in state.items if item.id not in done)
    back = undoing(known.plan, ours(known.plan, known.written), opened)
    # Other people see a closed issue: it is closed with the whole task, and opened again at once.
    return (*(() if public and state.main.stage != "REPORT" else finishing(known.plan, done & accepted)), *back)


def marking(state: State) -> MarkEntries | None:
    """The marks that do not stand as they should, to be made in one step."""
    known, source = record_of(state).imported, source_of(state)
    changes = _wanted_marks(state)
    if source is None or not changes:
        return None
    return MarkEntries(EffectId(f"mark/{known.marks + 1}"), source, known.sha256, changes)


def take_in(state: State, known: Imported, source: Source) -> Iterator[Fact]:
    """A source that was read, as facts: what people did to it is taken where that is safe, and asked about where it is not."""
    now = renewed_plan(known)
    first = known.plan is None or awaits_agreement(state)
    if first:
        found = Difference(ticked=tuple(item for item in now.items if item.status == "completed"))
    else:
        assert known.plan is not None
        found = difference(known.plan, now, state.items, known.written)
    attended, holds = state.task.settings.attended, gates_hold(state)
    asked = attended and source.format != "beads"
    doubtful = found.ticked if not holds else ()
    matters = [Matter("new", found.added)] if found.added and asked else []
    matters += [Matter("gone", (item,)) for item in found.gone]
    matters += [Matter("reworded", (item,)) for item in found.reworded if item not in found.ticked]
    matters += [Matter("ticked", (item,)) for item in doubtful] if attended else []
    notes = tuple(_notes(source, found, first=first, holds=holds, asked=asked, attended=attended))
    fresh = tuple(matter for matter in matters if matter not in known.matters)
    taken = () if doubtful and attended else tuple(_ids(found.ticked))
    yield SourceSeen(known.unread_sha256, fresh, () if first else taken, () if holds else taken)
    yield DocumentSeen(source.path, known.unread_sha256, notes)
    if first:
        return
    if found.added and not asked:
        yield ItemsSet((*state.items, *found.added), "document")
    parked = {id for matter in matters if matter.kind != "new" for id in matter.ids}
    yield from (ItemChanged(id, "blocked") for id in choosing.in_order(state, parked))
    yield from (ItemChanged(item.id, "completed") for item in found.ticked if item.id not in parked)
    yield from (ItemChanged(item.id, "not-started") for item in found.opened)


def _notes(
    source: Source, found: Difference, *, first: bool, holds: bool, asked: bool, attended: bool
) -> Iterator[str]:
    path = source.path
    if found.ticked and not (first and holds) and not (attended and not holds):
        told = "taken: the gates hold" if holds else "taken as done, unverified: the gates do not hold"
        yield f"{first_few(_ids(found.ticked), 8)}: ticked in {path} by a person; {told}"
    if found.added and not asked:
        yield f"{first_few(_ids(found.added), 8)}: new in {path}, and worked on"
    for what, items in ((CHANGED["gone"], found.gone), (CHANGED["reworded"], found.reworded)):
        if items:
            yield f"{first_few(_ids(items), 8)}: {what} {path}; a person is asked what is meant"
    if found.opened:
        yield f"{first_few(_ids(found.opened), 8)}: opened again in {path} by a person, and worked on again"


def _ids(items: tuple[Item, ...]) -> list[str]:
    return [item.id for item in items]


def gates_hold(state: State) -> bool:
    measured = state.batches.proven or state.baseline
    return measured is not None and not gates.doubts(measured) and not gates.not_all_passing(measured)


def taken_items(state: State, plan: ImportedPlan) -> tuple[Item, ...]:
    """The items of a plan as they are worked, optional ones only if asked for; a tick to be explained is not taken yet."""
    wanted = (item for item in plan.items if not item.optional or state.task.settings.optional_items)
    doubted = {id for matter in record_of(state).imported.matters for id in matter.ids if matter.kind == "ticked"}
    return tuple(replace(item, status="blocked") if item.id in doubted else item for item in wanted)


def _ask(state: State, lane: Lane, source: Source, matter: Matter) -> Step:
    """Ask about one thing a person did to the source, once nothing else can be worked on."""
    ids, path = first_few(list(matter.ids), 5), source.path
    drop = Option("drop", "leave it out")
    texts: dict[str, tuple[str, tuple[Option, ...], str | None]] = {
        "new": (
            f"{path} has {plural(len(matter.items), 'new entry', 'new entries')}: {ids}. Work on them, too?",
            (Option("yes", "work on them"), Option("no", "leave them to somebody else")),
            "yes",
        ),
        "gone": (
            f"{ids} is no longer in {path}. Leave it out, or still work on it?",
            (drop, Option("keep", "work on it as it was")),
            None,
        ),
        "reworded": (
            f"{ids} is reworded in {path}. Work on it as it reads now?",
            (Option("new", "work on it as it reads now"), Option("old", "work on it as it was"), drop),
            None,
        ),
        "ticked": (
            f"{ids} was ticked in {path}, and the gates do not hold. Is it done?",
            (Option("done", "take it as done; the report says unverified"), Option("work", "work on it"), drop),
            None,
        ),
    }
    text, options, default = texts[matter.kind]
    detail = "\n".join(f"{item.id}: {item.text}" for item in matter.items)
    question = Question(f"source-{matter.kind}", text, options, default=default, detail=detail)
    return questions.put(state, lane, question, partial(_weigh_answer, state, source, matter))


def _weigh_answer(
    state: State, source: Source, matter: Matter, _lane: Lane, _key: EffectId, answer: str
) -> tuple[Fact, ...]:
    """What becomes of a person's word on a change of theirs."""
    word, ids = first_word(answer), set(matter.ids)
    settled = MatterSettled(matter)
    if matter.kind == "new":
        return (settled, ItemsSet((*state.items, *matter.items), "person")) if word in {"yes", "y"} else (settled,)
    if word not in ANSWERED:
        return ()
    note = f"{first_few(list(matter.ids), 5)}: {CHANGED[matter.kind]} {source.path}; {ANSWERED[word]}, as a person said"
    seen = DocumentSeen(source.path, record_of(state).imported.sha256, (note,))
    if word == "drop":
        return (MatterSettled(matter, "dropped"), seen, ItemsSet(_without(state.items, ids), "person"))
    if word == "done":
        return (MatterSettled(matter, "done"), seen, *(ItemChanged(id, "completed") for id in matter.ids))
    if word == "new":
        new = {item.id: item for item in matter.items}
        items = tuple(
            replace(new[item.id], status="not-started", depends_on=item.depends_on) if item.id in new else item
            for item in state.items
        )
        return (settled, seen, ItemsSet(items, "person"))
    return (settled, seen, *(ItemChanged(id, "not-started") for id in matter.ids))


def _without(items: tuple[Item, ...], ids: set[str]) -> tuple[Item, ...]:
    """Items without those of these ids; what waited for one of them waits for what that waited for."""
    for gone in (item for item in items if item.id in ids):
        items = tuple(
            replace(item, depends_on=tuple(dict.fromkeys(_passed_on(item, gone)))) if item.id != gone.id else item
            for item in items
        )
    return tuple(item for item in items if item.id not in ids)


def _passed_on(item: Item, gone: Item) -> Iterator[str]:
    for other in item.depends_on:
        yield from gone.depends_on if other == gone.id else (other,)


def _read_again(_lane: Lane, _key: EffectId, _answer: str) -> tuple[Fact, ...]:
    return (MatterSettled(None),)


def _defect_question(source: Source, defects: list[PlanDefect]) -> Question:
    """Put again on resuming: the file may have been corrected without a word."""
    lines = [f"{source.path}, line {defect.line}: {defect.message}" for defect in defects]
    options = (Option("reset", "the file is corrected: read it again"), Option("abort", "end the task"))
    return Question("source-defect", lines[0], options, detail="\n".join(lines[:LINES_SHOWN]), again=True)


def _stale_question(wanted: MarkEntries) -> Question:
    """What a person is asked when a source changes faster than it can be marked, or an entry cannot be found."""
    lines = [f"{change.key}: {change.before!r} to {change.after!r}" for change in wanted.changes]
    text = f"{wanted.source.path} could not be marked: it had changed each time since it was read. Mark the entries by hand, or try again."
    options = (Option("reset", "try again"), Option("abort", "end the task"))
    return Question("source-stale", text, options, detail="\n".join(lines[:LINES_SHOWN]), again=True)
