"""What a rollback opens again: items that were accepted since, and their marks in a plan of the user's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from flyball.config.home import environment
from flyball.core.model.batch_events import BatchesUndone
from flyball.core.model.events import Fact, ItemChanged
from flyball.core.model.outcomes import Interrupted, Outcome
from flyball.core.model.state import State
from flyball.core.model.task import Source
from flyball.core.workflows.plan.effects import EntriesMarked
from flyball.core.workflows.plan.importing import marking, reading, source_of, take_in
from flyball.core.workflows.plan.record import record_of
from flyball.ports import Refusal
from flyball.projections.history.records import CheckpointRecord
from flyball.wiring.run.manual_session import ManualSession
from flyball.wiring.run.trackers import PlanSources
from flyball.wiring.site import Site


def undone_batches(state: State, found: list[CheckpointRecord], base: CheckpointRecord) -> tuple[Fact, ...]:
    """What is to be done again: the items of every batch that was accepted after the checkpoint the branch goes back to."""
    labels = {kept.label for kept in found[found.index(base) + 1 :] if kept.accepted}
    gone = [each for each in state.batches.accepted if each.label in labels]
    items = tuple(item for each in gone for item in each.items)
    undone = BatchesUndone(tuple(each.label for each in gone), items, base.label, "a person asked")
    return (*(ItemChanged(item, "not-started") for item in items), undone) if gone else ()


def take_marks_back(site: Site, hand: ManualSession) -> str:
    """Let the user's plan say at once what is open again, whatever else was edited in it; the reason where it cannot be marked now.

    Then the next session marks it: what we wrote is remembered, and never taken for a person's word.
    """
    source = source_of(hand.state)
    if source is None or marking(hand.state) is None:
        return ""
    sources = PlanSources(site.repository.root, environment())
    look = reading(hand.state, source)
    seen = hand.perform(look, _or_broken_off(lambda: sources.read(look)))
    known = record_of(hand.state).imported
    fatal = [defect for defect in known.unread.defects if defect.fatal] if known.unread is not None else []
    if known.unread is not None and not fatal:
        hand.append(*take_in(hand.state, known, source))
    effect = marking(hand.state)
    if effect is None or isinstance(seen, Interrupted) or fatal:
        problem = f"line {fatal[0].line}: {fatal[0].message}" if fatal else getattr(seen, "detail", "")
        return _unmarked(source, problem) if effect is not None else ""
    marked = hand.perform(effect, _or_broken_off(lambda: sources.mark(effect)))
    if isinstance(marked, EntriesMarked):
        return ""
    return _unmarked(source, marked.detail if isinstance(marked, Interrupted) else "it changed in the same instant")


def _or_broken_off(do: Callable[[], Outcome]) -> Callable[[datetime], Outcome]:
    """A refusal is no end of a rollback: what could not be done is done by the next session."""

    def attempt(_at: datetime) -> Outcome:
        try:
            return do()
        except (Refusal, OSError) as error:
            return Interrupted(str(error))

    return attempt


def _unmarked(source: Source, why: str) -> str:
    return f"{source.path} still marks as done what is open again, and could not be marked: {why.rstrip('.')}"
