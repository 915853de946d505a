"""What became of a plan, in sentences for a person who has just watched it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.model.batch_events import BatchBegun, BatchReviewed, BatchSettled, SubtaskIntegrated
from flyball.core.model.events import Fact, ItemsSet, Judged
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan.facts import FinalReviewed, PlanReviewed


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
