"""Settles how a program's turn ended: what its dialect read, overruled by what only its process can tell."""

from datetime import datetime

import msgspec

from flyball.agents.dialect import ProgramOutput, TurnReading
from flyball.agents.run import outcome
from flyball.agents.run.frame import ProgramRun
from flyball.core.claims.values import Claim, OpenQuestion
from flyball.core.model.outcomes import ABSENT, FAILED, LIMITED, TurnEnded, TurnKind, Usage
from flyball.core.providers.limits import recognise
from flyball.core.text.scrubbing import scrub

UNFINISHED = "it ended without its final event"
OWN_WORDS = frozenset({"denied", "question", "max_turns", "budget", "context_full", *ABSENT, *LIMITED})
"""Kinds only the program can know; its exit status says nothing against them."""
WENT_ON = ("complete", "in_progress")


def settle_turn(
    reading: TurnReading,
    heard: ProgramOutput,
    ran: ProgramRun,
    *,
    slept: str,
    before: Usage,
    planted: tuple[str, ...] = (),
) -> TurnEnded:
    """The turn's outcome; `slept` says why it was ended for sleeping, `before` is what its conversation had used already."""
    end, asked = ran.end, heard.asked
    reading = _overrule(reading, heard, ran.said_at, slept=slept)
    message = reading.final_message[-outcome.MESSAGE_BYTES :]
    claim = outcome.claim_of(ran, message)
    reading = _asking(reading, claim)
    if reading.question and not claim.questions:
        # A question the program asked by its own means, unless its report asks one.
        question = OpenQuestion(scrub(reading.question)[: outcome.DETAIL], tuple(map(scrub, reading.options)))
        claim = msgspec.structs.replace(claim, questions=(question,))
    session = reading.session or (asked.session if end.ended_by != "missing" else "")
    usage = reading.usage
    if reading.cumulative and session == asked.session:
        usage = usage.minus(before)
    if usage.tokens and not usage.usd:
        # Programs say 0 of a model whose price they do not know.
        usage = msgspec.structs.replace(usage, usd=None)
    return TurnEnded(
        reading.kind,
        "; ".join(filter(None, (outcome.with_sandbox(reading.detail[: outcome.DETAIL], reading.kind, ran), *planted))),
        claim,
        outcome.cost(
            reading.kind,
            outcome.reported_usage(claim) if usage == Usage(estimated=True) else usage,
            reading.model or asked.model,
        ),
        round(end.seconds, 3),
        end.code if end.ended_by == "exit" else None,
        reading.reset_at,
        session=session,
        session_usage=_total(reading, before if session == asked.session else Usage()),
        transcript=str(ran.transcript.folder),
        final_message=scrub(message),
        stray_processes=end.strays,
        model=scrub(reading.model)[: outcome.NAME] or asked.model,
    )


def _total(reading: TurnReading, before: Usage) -> Usage:
    """What the conversation has used, also where a turn that was broken off could not tell its total."""
    if reading.cumulative:
        return reading.usage
    known = (before.usd or 0.0) + (reading.usage.usd or 0.0)
    return msgspec.structs.replace(before.plus(reading.usage), usd=known or None, estimated=before.estimated)


def _overrule(reading: TurnReading, heard: ProgramOutput, said_at: datetime, *, slept: str) -> TurnReading:
    end = heard.exit
    kind, detail = outcome.ending(end)
    if end.ended_by == "missing" or (end.ended_by == "stop" and not slept):
        return _with(reading, kind, detail)
    if end.ended_by == "exit" and reading.kind in OWN_WORDS:
        return reading
    if reading.kind in LIMITED and reading.reset_at is not None:
        return reading
    if end.ended_by == "exit" and reading.kind == "ok" and kind == "ok":
        return reading
    # A program whose dialect heard no good end did not end well, whatever its status.
    code = (end.code or 1) if end.ended_by == "exit" and end.code is not None else None
    limit = None if kind == "killed" else recognise(heard.stderr_text, code, said_at, outcome.zones)
    if limit is not None:
        return msgspec.structs.replace(_with(reading, limit.kind, limit.detail), reset_at=limit.reset_at)
    if reading.kind in OWN_WORDS:
        return reading
    if slept:
        return _with(reading, "overloaded", slept)
    if kind == "ok":
        return _with(reading, "crashed" if reading.kind == "ok" else reading.kind, reading.detail or UNFINISHED)
    if kind == "crashed" and reading.kind in FAILED:
        return _with(reading, reading.kind, f"{reading.detail} ({detail})" if reading.detail else detail)
    return _with(reading, kind, detail)


def _with(reading: TurnReading, kind: TurnKind, detail: str) -> TurnReading:
    return msgspec.structs.replace(reading, kind=kind, detail=detail, reset_at=None)


def _asking(reading: TurnReading, claim: Claim) -> TurnReading:
    """A program without anybody to ask may put its question into its last words; one that then went on has answered it."""
    if reading.kind == "question" and claim.status in WENT_ON:
        return msgspec.structs.replace(reading, kind="ok", detail="", question="")
    last = reading.final_message.rstrip().rpartition("\n\n")[2].strip()
    if reading.kind == "ok" and claim.source == "none" and last.endswith("?"):
        return msgspec.structs.replace(reading, kind="question", detail="it ended with a question", question=last)
    return reading
