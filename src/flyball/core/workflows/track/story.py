"""What became of a track, in sentences for a person who has just watched it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.model.batch_events import BatchSettled
from flyball.core.model.events import Fact
from flyball.core.text.quantities import plural
from flyball.core.workflows.track.facts import BusinessSynced, TrackEvaluated, TrackFixed, TrackPlanned


def story(facts: Iterable[Fact]) -> Iterator[str]:
    """One sentence for each plan, batch, evaluation, fix and sync."""
    for fact in facts:
        match fact:
            case TrackPlanned(problems=()):
                yield f"plan.md, version {fact.version}, by the {fact.by}"
            case BatchSettled(accepted=accepted) if accepted:
                yield f"tasks {', '.join(accepted)} are on the branch"
            case TrackEvaluated(evaluation=said):
                told = f": {plural(len(said.fix_actions), 'point')} to mend" if said.fix_actions else ""
                yield f"evaluation {fact.number}: {said.verdict}{told}"
            case TrackFixed():
                yield f"fix cycle {fact.cycle}: {fact.summary}"
            case BusinessSynced():
                yield f"business documents: {fact.summary}"
