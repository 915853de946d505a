"""A backlog in words: a line on screens for each of its facts, the notes of its report, and the story of the demo."""

from collections.abc import Iterable, Iterator

from flyball.core.loop.workflow import Lines, Notes
from flyball.core.model.events import Fact, Judged
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.backlog.facts import (
    BlockCleared,
    Evaluated,
    ItemReopened,
    ItemSelected,
    ItemSettled,
    Reviewed,
)


def _review_line(fact: Reviewed) -> str:
    said = fact.summary or "; ".join(f.message for f in fact.findings[:1])
    proposes = f"; proposes {plural(len(fact.issues), 'issue')}" if fact.issues else ""
    return f"{fact.role}: {fact.validation.result}{f': {said}' if said else ''}{proposes}"


def _settlement_line(fact: ItemSettled) -> str:
    count = f" ({plural(fact.failures, 'time')})" if fact.failures else ""
    created = f"; new: {first_few([new.issue.id for new in fact.created])}" if fact.created else ""
    notes = f"; {first_few(fact.notes, 2)}" if fact.notes else ""
    return f"{fact.id} {fact.status}{count}{created}{notes}"


def _evaluation_line(fact: Evaluated) -> str:
    causes = f": {first_few(fact.blocked_on)}" if fact.decision == "BLOCKED" and fact.blocked_on else ""
    following = f"; next: {fact.next_issue}" if fact.next_issue else ""
    deviations = f"; {first_few(fact.deviations, 1)}" if fact.deviations else ""
    rest = f"{causes}{following}{deviations}"
    return f"{fact.decision} ({fact.trigger}): {fact.reason.rstrip('.') if rest else fact.reason}{rest}"


def story(facts: Iterable[Fact]) -> Iterator[str]:
    objection = ""
    for fact in facts:
        if isinstance(fact, Judged) and fact.batch:
            objection = "" if fact.can_exit else f"; {fact.gate_1.missing[0]}"
        elif isinstance(fact, ItemSettled):
            yield f"{fact.id} {fact.status}{objection}" + "".join(f"; {note}" for note in fact.notes)
        elif isinstance(fact, Evaluated):
            yield f"  {fact.decision}: {fact.reason} {'; '.join(fact.blocked_on)}".rstrip()


LINES: Lines = {
    ItemSelected: lambda f: f"cycle {f.cycle}: {f.item.id}: {f.item.text}",
    Reviewed: _review_line,
    ItemSettled: _settlement_line,
    ItemReopened: lambda f: f"{f.id} was rolled back and is proposed again",
    Evaluated: _evaluation_line,
    BlockCleared: lambda f: f"a person cleared {f.trigger}" + (f" for {first_few(f.items)}" if f.items else ""),
}
NOTES: Notes = {
    ItemSettled: lambda f: (f"{f.id}: {note}" for note in f.notes),
    Evaluated: lambda f: (*f.warnings, *f.deviations),
}
