"""What a rollback opens again: items that were accepted since, and their marks in a plan of the user's."""

from __future__ import annotations

from flyball.config.home import environment
from flyball.core.model.batch_events import BatchesUndone
from flyball.core.model.events import Fact, ItemChanged
from flyball.core.model.state import State
from flyball.core.workflows.plan.importing import marking
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


def take_marks_back(site: Site, hand: ManualSession) -> None:
    """Let the user's plan say at once what is open again; what it does not let us mark now, the next session does."""
    effect = marking(hand.state)
    if effect is not None:
        sources = PlanSources(site.repository.root, environment())
        hand.perform(effect, lambda _at: sources.mark(effect))
