"""What became of each issue, in sentences for a person who has just watched it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.model.events import Fact, Judged
from flyball.core.workflows.backlog.facts import Evaluated, ItemSettled


def story(facts: Iterable[Fact]) -> Iterator[str]:
    """One sentence for each issue that was settled, and one for what was decided then."""
    objection = ""
    for fact in facts:
        if isinstance(fact, Judged) and fact.batch:
            objection = "" if fact.can_exit else f"; {fact.gate_1.missing[0]}"
        elif isinstance(fact, ItemSettled):
            yield f"{fact.id} {fact.status}{objection}" + "".join(f"; {note}" for note in fact.notes)
        elif isinstance(fact, Evaluated):
            yield f"  {fact.decision}: {fact.reason} {'; '.join(fact.blocked_on)}".rstrip()
