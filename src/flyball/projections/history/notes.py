"""What stands among the notes of a report: one sentence for each thing that people should know and no table shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flyball.core.model import events as ev, outcomes as out
from flyball.core.text.quantities import listed, plural
from flyball.core.workflows.backlog.facts import Evaluated, ItemSettled
from flyball.core.workflows.plan.facts import FinalReviewed
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.prp_session import PHASES, told
from flyball.core.workflows.track.facts import TrackEvaluated
from flyball.projections.wording import plain

FILES_NAMED = 20


def notes_of(fact: ev.Fact) -> Iterable[str]:
    """What a fact adds to the notes."""
    make = _FACTS.get(type(fact))
    return make(fact) if make else ()


def preparation_notes(outcome: out.Prepared) -> Iterable[str]:
    yield from outcome.notes
    if outcome.left:
        left = listed([plain(name) for name in outcome.left], FILES_NAMED)
        yield f"Set-up created or changed these files. They are not part of the work and not on the branch: {left}"


def warning_notes(role: str, outcome: out.Outcome) -> Iterable[str]:
    """An approval with a warning is one, and its words are kept for people."""
    claim = outcome.claim if isinstance(outcome, out.TurnEnded) else None
    if claim is not None and claim.verdict == "warn":
        said = "; ".join([claim.summary, *(f.message for f in claim.findings)]).strip("; ")
        yield f"{role} approves with a warning: {said or 'it gave no reason'}"


def _import_notes(fact: SessionImported) -> Iterable[str]:
    before = PHASES[: PHASES.index(fact.session.phase)]
    unseen = f"; not verified here: {', '.join(before)}" if before else ""
    yield f"Begun at {fact.session.phase}, from {told(fact.session)}{unseen}"


def _final_review_notes(fact: FinalReviewed) -> Iterable[str]:
    """What the review of the whole goal found stands in the report, whether or not it approved."""
    yield from (f"Final review: {f.severity}: {f.message} {f.file}".rstrip() for f in fact.findings)
    yield from (f"Final review: {each.id} was done again: {each.reason}" for each in fact.reopened)
    if fact.approved and not fact.findings:
        yield "Final review: approved, nothing was found."


def _evaluation_notes(fact: TrackEvaluated) -> Iterable[str]:
    said = fact.evaluation
    yield f"Evaluation {fact.number}: {said.verdict}, {plural(len(said.fix_actions), 'point')} to mend"


def _undeclared_notes(fact: ev.UndeclaredEditsFound) -> Iterable[str]:
    beside = (*fact.also_changed, *fact.deleted, *fact.protected)
    if beside:
        yield f"{fact.item} also changed files it had not named: {listed(beside, FILES_NAMED)}"


_FACTS: dict[type, Callable[[Any], Iterable[str]]] = {
    SessionImported: _import_notes,
    ItemSettled: lambda fact: (f"{fact.id}: {note}" for note in fact.notes),
    Evaluated: lambda fact: (*fact.warnings, *fact.deviations),
    FinalReviewed: _final_review_notes,
    TrackEvaluated: _evaluation_notes,
    ev.UndeclaredEditsFound: _undeclared_notes,
    ev.DocumentSeen: lambda fact: fact.notes,
}
