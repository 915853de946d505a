"""A plan in words: a line on screens for each of its facts, the notes of its report, and the story of the demo."""

from collections.abc import Iterable, Iterator

from flyball.core.loop.workflow import Lines, Notes
from flyball.core.model.batch_events import BatchBegun, BatchReviewed, BatchSettled, SubtaskIntegrated
from flyball.core.model.events import Fact, ItemsSet, Judged
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.plan.effects import MarkEntries
from flyball.core.workflows.plan.facts import (
    FinalReviewed,
    MatterSettled,
    PlanDrafted,
    PlanQuestioned,
    PlanReviewed,
    SourceSeen,
)


def _draft_line(fact: PlanDrafted) -> str:
    if not fact.problems:
        return f"a plan by the {fact.by}"
    return f"the plan has {plural(len(fact.problems), 'problem')}: {first_few(fact.problems, 1)}"


def _review_line(fact: PlanReviewed) -> str:
    if fact.by in {"document", "nobody"}:
        return "plan taken from the file"
    why = f": {fact.findings[0].message}" if fact.findings and not fact.approved else ""
    return f"plan {'approved' if fact.approved else 'sent back'} by the {fact.by}{why}"


def _final_line(fact: FinalReviewed) -> str:
    changes = [each.id for each in fact.reopened] + [f.message for f in fact.findings]
    return "final review: approved" if fact.approved else f"final review asks for changes: {first_few(changes, 3)}"


def _source_line(fact: SourceSeen) -> str | None:
    parts = [f"ticked by a person: {first_few(fact.ticked, 5)}"] if fact.ticked else []
    parts += [f"the gates did not hold for {first_few(fact.unverified, 5)}"] if fact.unverified else []
    return "; ".join(parts) or None


def _matter_line(fact: MatterSettled) -> str:
    matter = fact.matter
    if matter is None:
        return "a person said how to take the file; it is read again"
    said = {"done": "counts as done", "dropped": "is left out", "": "is settled"}[fact.taken]
    return f"{first_few(matter.ids, 5)} {said}, as a person said"


def _marking_line(effect: MarkEntries) -> str:
    """`tasks.md: T001 and T002 as [x]`, or what else the marks become."""
    after = {
        change.after: first_few([str(c.key) for c in effect.changes if c.after == change.after], 5)
        for change in effect.changes
    }
    marks = (f"{keys} as {f'[{mark}]' if len(mark) == 1 else mark}" for mark, keys in after.items())
    return f"marks in {effect.source.path}: {'; '.join(marks)}"


def _final_notes(fact: FinalReviewed) -> Iterator[str]:
    """What the review of the whole goal found stands in the report, whether or not it approved."""
    yield from (f"Final review: {f.severity}: {f.message} {f.file}".rstrip() for f in fact.findings)
    yield from (f"Final review: {each.id} was done again: {each.reason}" for each in fact.reopened)
    if fact.approved and not fact.findings:
        yield "Final review: approved, nothing was found."


def story(facts: Iterable[Fact]) -> Iterator[str]:
    """One sentence for the plan, and some for each batch."""
    for fact in facts:
        match fact:
            case ItemsSet():
                yield f"Planned: {plural(len(fact.items), 'subtask')}."
            case PlanReviewed():
                own = fact.by in {"document", "nobody"}
                yield f"The plan was {'taken from the file' if own else 'approved' if fact.approved else 'sent back'}."
            case BatchBegun():
                beside = " side by side" if len(fact.items) > 1 else ""
                yield f"Batch {fact.number}: {', '.join(fact.items)}{beside}."
            case SubtaskIntegrated(result="conflicted" | "red"):
                yield f"  {fact.item} could not be integrated: {fact.detail.partition(chr(10))[0]}. It went back."
            case BatchReviewed():
                yield from (f"  {each.id} was rejected: {each.reason}." for each in fact.rejected)
            case Judged(batch=True) if fact.rung:
                yield f"  {fact.verdict.health}: {fact.verdict.evidence}. Remedy: {fact.rung}."
            case BatchSettled() if fact.accepted:
                yield f"  Accepted as {fact.label}: {', '.join(fact.accepted)}."
            case FinalReviewed():
                yield f"The final review {'approved the whole' if fact.approved else 'asked for changes'}."


LINES: Lines = {
    PlanDrafted: _draft_line,
    PlanQuestioned: lambda f: f"the planner asks: {first_few([question.text for question in f.questions], 2)}",
    PlanReviewed: _review_line,
    FinalReviewed: _final_line,
    SourceSeen: _source_line,
    MatterSettled: _matter_line,
    MarkEntries: _marking_line,
}
NOTES: Notes = {FinalReviewed: _final_notes}
