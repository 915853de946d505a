"""An evaluation as text: metrics, validations, decision, reason and, last of all, the promise."""

import re
from collections.abc import Iterator

from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import one_line
from flyball.core.workflows.backlog.evaluator import missing_validators
from flyball.core.workflows.backlog.values import Evaluation, Situation

_MOST_DEVIATIONS = 50
_PROMISE = re.compile(r"<\s*/?\s*promise\s*>", re.IGNORECASE)
_MOST_BLOCKERS = 20


def evaluation_text(situation: Situation, said: Evaluation) -> str:
    parts = (_metrics(situation, said), _validations(situation), _notes(said), _decision(said))
    return "\n\n".join(["## Loop Evaluation", *("\n".join(part) for part in map(list, parts) if part)]) + "\n"


def promise(said: Evaluation) -> str:
    """What a loop waits for."""
    return f"<promise>{said.promise}</promise>"


def _metrics(situation: Situation, said: Evaluation) -> Iterator[str]:
    session, tallies = situation.session, said.counts.values()
    yield "### Metrics"
    yield f"- Cycles completed: {session.cycles}"
    yield f"- Issues completed this session: {max(session.completed_count, len(session.completed))}"
    created = {*session.created, *(id for validation in situation.validations for id in validation.created)}
    yield f"- Issues created this session: {max(session.created_count, len(created))}"
    yield f"- Proposed issues remaining: {sum(tally.proposed for tally in tallies)}"
    yield f"- Issues in progress: {sum(tally.in_progress for tally in tallies)}"
    yield f"- Blocked issues: {sum(tally.blocked for tally in tallies)}"
    yield f"- Actionable issues: {said.actionable}"
    yield f"- Build: {situation.build}"
    yield f"- Quality gates: {situation.gates}"


def _validations(situation: Situation) -> Iterator[str]:
    given = situation.validations
    yield "### Validation Summary"
    missing = missing_validators(situation)
    overall = "fail" if not all(v.passed for v in given) else "unknown" if missing or not given else "pass"
    yield f"- Overall: {overall}"
    for each in given:
        findings = plural(sum(each.findings.values()), "finding")
        yield f"- {_line(each.kind).capitalize()}: {each.result} ({findings})"
    yield from (f"- {_line(kind).capitalize()}: not given" for kind in missing)


def _notes(said: Evaluation) -> Iterator[str]:
    if said.warnings:
        yield "### Warnings"
        yield from (f"- {_line(warning)}" for warning in said.warnings)
    if said.warnings and said.deviations:
        yield ""
    if said.deviations:
        yield "### Deviations"
        for each in said.deviations[:_MOST_DEVIATIONS]:
            yield f"- {each.file}{f', line {each.line}' if each.line else ''}: {_line(each.message)}"
        if len(said.deviations) > _MOST_DEVIATIONS:
            yield f"- and {len(said.deviations) - _MOST_DEVIATIONS} more; --json gives all"


def _decision(said: Evaluation) -> Iterator[str]:
    yield "### Decision"
    yield f"**{said.decision}**"
    yield ""
    yield f"Decision: {said.decision}"
    yield f"Reason: {_line(said.reason)}"
    if said.decision == "CONTINUE":
        yield f"Next priority: {_line(said.next_issue or 'none')}"
    if said.decision == "BLOCKED":
        named = [_line(each) for each in said.blocked_on] or [_line(said.reason)]
        more = [f"and {len(named) - _MOST_BLOCKERS} more"] if len(named) > _MOST_BLOCKERS else []
        yield f"Blocked on: {'; '.join(named[:_MOST_BLOCKERS] + more)}"
    yield ""
    yield promise(said)


def _line(text: str) -> str:
    """A text of others in one line; a promise is only ever our own."""
    return _PROMISE.sub("promise", one_line(text))
