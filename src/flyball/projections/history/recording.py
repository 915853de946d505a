"""Makes the records of a task's history from facts."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import astuple, replace

from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Judged
from flyball.core.model.measurement import Counts, Coverage, Measurement
from flyball.core.model.outcomes import Failed, Interrupted, Outcome, TurnEnded, Usage
from flyball.projections.history import records as rec
from flyball.projections.wording import plain


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


def turn_ended(turn: rec.TurnRecord, at: datetime, outcome: Outcome) -> rec.TurnRecord:
    if not isinstance(outcome, TurnEnded):
        kind = "interrupted" if isinstance(outcome, Interrupted) else "failed"
        detail = outcome.detail if isinstance(outcome, Interrupted | Failed) else ""
        seconds = (at - turn.begun_at).total_seconds()
        untold = Usage(estimated=True)
        return replace(turn, ended_at=at, outcome=kind, detail=plain(detail), seconds=seconds, usage=untold)
    claim = outcome.claim
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
    )


def verification(at: datetime, stage: str, measurement: Measurement) -> rec.Verification:
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


def judgement(number: int, at: datetime, fact: Judged, measured: rec.Verification | None) -> rec.Judgement:
    verdict = fact.verdict
    return rec.Judgement(
        number=number,
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
    )
