"""Makes the records of a task's history and the notes of its report from facts."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import astuple, replace

from flyball.core.claims import looks
from flyball.core.claims.findings import Finding
from flyball.core.loop.workflow import Notes
from flyball.core.model import events as ev, outcomes as out
from flyball.core.model.effects import Ask, RunAgent, Save
from flyball.core.model.measurement import Counts, Coverage, Measurement, Remark, Trick
from flyball.core.text.quantities import first_few
from flyball.projections.history import records as rec
from flyball.projections.wording import plain

FILES_NAMED = 20


def turn_begun(at: datetime, effect: RunAgent) -> rec.TurnRecord:
    return rec.TurnRecord(
        effect.turn,
        effect.stage,
        effect.iteration,
        effect.role,
        effect.agent,
        effect.model,
        effect.item,
        at,
        effect.attempt,
        authors=effect.authors,
    )


def turn_ended(
    turn: rec.TurnRecord, at: datetime, outcome: out.Outcome, earlier: Sequence[Finding] = ()
) -> rec.TurnRecord:
    """The record of a turn that is over; `earlier` are the findings of the same reviewer's earlier looks, the last first."""
    if not isinstance(outcome, out.TurnEnded):
        kind = "interrupted" if isinstance(outcome, out.Interrupted) else "failed"
        detail = outcome.detail if isinstance(outcome, out.Interrupted | out.Failed) else ""
        seconds = (at - turn.begun_at).total_seconds()
        untold = out.Usage(estimated=True)
        return replace(turn, ended_at=at, outcome=kind, detail=plain(detail), seconds=seconds, usage=untold)
    claim = looks.number(outcome.claim, earlier, turn.number)
    return replace(
        turn,
        ended_at=at,
        model=plain(outcome.model) or turn.model,
        outcome=outcome.kind,
        detail=plain(outcome.detail),
        seconds=outcome.seconds,
        usage=outcome.usage,
        status=claim.status,
        exit_signal=claim.exit_signal,
        verdict=claim.verdict,
        summary=plain(claim.summary),
        session=plain(outcome.session),
        source=claim.source,
        findings=tuple(replace(f, message=plain(f.message, 500), file=plain(f.file)) for f in claim.findings),
        gone=tuple(each.id for each in claim.earlier if each.gone),
    )


KNOWN_NAMED = 200


def verification(at: datetime, stage: str, measurement: Measurement, lane: str) -> rec.Verification:
    gates = tuple(
        rec.GateRecord(
            g.name, g.command, g.passed, g.exit_code, g.seconds, plain(g.broken), _tally(g.counts) if g.counts else None
        )
        for g in measurement.gates
    )
    return rec.Verification(
        at,
        stage,
        measurement.candidate,
        gates,
        _tally(measurement.counts),
        measurement.green_runs,
        tuple(rec.CheckMade(c.name, c.status, c.blocking, plain(c.detail)) for c in measurement.checks),
        rec.FileChanges(measurement.files.created, measurement.files.modified, measurement.files.deleted),
        coverage=coverage_seen(measurement.coverage),
        lane=lane,
        known=tuple(plain(test) for test in measurement.known[:KNOWN_NAMED]),
        reused=plain(measurement.reused),
    )


def coverage_seen(coverage: Coverage | None) -> rec.CoverageSeen | None:
    if coverage is None:
        return None
    return rec.CoverageSeen(
        coverage.lines,
        coverage.covered,
        coverage.percent,
        coverage.changed,
        coverage.changed_covered,
        coverage.changed_percent,
    )


def _tally(counts: Counts) -> rec.Tally:
    return rec.Tally(*astuple(counts))


def judgement(at: datetime, fact: ev.Judged, measured: rec.Verification | None) -> rec.Judgement:
    verdict = fact.verdict
    return rec.Judgement(
        at=at,
        stage=fact.stage,
        iteration=fact.iteration,
        turn=fact.turn,
        counts=measured.counts if measured else rec.Tally(),
        can_exit=fact.can_exit,
        false_claim=fact.false_claim,
        health=str(verdict.health),
        recommendation=plain(verdict.recommendation),
        confidence=str(verdict.confidence),
        trend=str(verdict.trend),
        evidence=plain(verdict.evidence),
        missing=tuple(plain(m) for m in fact.gate_1.missing[:3]),
        rung=fact.rung,
        rejected=fact.rejected,
        disagreements=tuple(plain(d) for d in fact.disagreements[:12]),
        lane=fact.lane,
        batch=bool(fact.batch),
    )


_UNSHOWN = out.Edited | out.Stale | out.Recalled | out.DayCounted


def shows(event: ev.Event) -> bool:
    """Whether an event can change what is rendered; most halves of effects change nothing to look at.

    What an effect of a workflow's own brings is shown by the fact that the workflow makes of it.
    """
    fact = event.fact
    if isinstance(fact, ev.Begun):
        return isinstance(fact.effect, RunAgent | Ask) or (isinstance(fact.effect, Save) and bool(fact.effect.closing))
    if isinstance(fact, ev.Ended):
        unaccepted = isinstance(fact.outcome, out.Saved) and not fact.outcome.accepted
        own = type(fact.outcome).__module__ != out.__name__
        return not unaccepted and not own and not isinstance(fact.outcome, _UNSHOWN)
    return bool(fact.notes) if isinstance(fact, ev.DocumentSeen) else not isinstance(fact, ev.WorkspaceRemoved)


def notes_of(fact: ev.Fact, workflow: Notes) -> Iterable[str]:
    """What a fact adds to the notes: a sentence for each thing that people should know and no table shows."""
    make = _FACTS.get(type(fact)) or workflow.get(type(fact))
    return make(fact) if make else ()


def preparation_notes(outcome: out.Prepared) -> Iterable[str]:
    yield from outcome.notes
    if outcome.left:
        left = first_few([plain(name) for name in outcome.left], FILES_NAMED)
        yield f"Set-up created or changed these files. They are not part of the work and not on the branch: {left}"


def review_notes(role: str, outcome: out.Outcome) -> Iterable[str]:
    """An approval with a warning is one, and its words are kept for people; so are findings that cannot count."""
    if not isinstance(outcome, out.TurnEnded):
        return
    claim = outcome.claim
    if claim.verdict == "warn":
        said = "; ".join([claim.summary, *(f.message for f in claim.standing)]).strip("; ")
        yield f"{role} approves with a warning: {said or 'it gave no reason'}"
    for found in (each for each in claim.findings if each.stands == "nowhere"):
        yield f"{role} found {found.severity}: {found.message} ({found.place or 'no place'}): {found.aside}"


def _undeclared_notes(fact: ev.UndeclaredEditsFound) -> Iterable[str]:
    beside = (*fact.also_changed, *fact.deleted, *fact.protected)
    if beside:
        yield f"{fact.item} also changed files it had not named: {first_few(beside, FILES_NAMED)}"


_FACTS: Notes = {
    ev.UndeclaredEditsFound: _undeclared_notes,
    ev.DocumentSeen: lambda fact: fact.notes,
}


def trick_seen(at: datetime, stage: str, trick: Trick) -> rec.TrickSeen:
    return rec.TrickSeen(trick.kind, plain(trick.path), plain(trick.detail), trick.harmless, at, stage, times=0)


def remarks_seen(measurement: Measurement) -> rec.RemarksSeen:
    """The remarks of a measurement; paths and texts of sources in them are foreign."""
    shown = (Remark(plain(each.file), each.line, plain(each.text, 500)) for each in measurement.remarks)
    return rec.RemarksSeen(tuple(shown), measurement.remarks_left)


def row(
    rows: Sequence[rec.Row],
    attempted: tuple[str, ...],
    passed: tuple[str, ...],
    failed: tuple[str, ...],
    notes: str,
) -> rec.Row:
    """The next row of the table of iterations, with what passed and failed so far; one that attempts nothing is no iteration."""
    iteration = (rows[-1].iteration if rows else 0) + bool(attempted)
    so_far = (rows[-1].passed_so_far, rows[-1].failed_so_far) if rows else (0, 0)
    passed_so_far, failed_so_far = so_far[0] + len(passed), so_far[1] + len(failed)
    return rec.Row(iteration, attempted, passed, failed, plain(notes, 160), passed_so_far, failed_so_far)
