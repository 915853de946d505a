"""One line for how each effect ended, in the words of every screen."""

from collections.abc import Callable
from typing import Any

from flyball.core.claims.values import Claim
from flyball.core.model import outcomes as out
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Ended
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.core.text.quantities import first_few, plural
from flyball.projections.history.recording import coverage_seen
from flyball.projections.wording import duration, money, short


def outcome_line(fact: Ended, state: State) -> str | None:
    if isinstance(fact.outcome, out.TurnEnded):
        effect = _turn_of(state, fact.id)
        by = f" {who(effect, fact.outcome.model)}" if effect else ""
        ended = "" if fact.outcome.kind == "ok" else f", {fact.outcome.kind.replace('_', ' ')}"
        detail = f": {fact.outcome.detail}" if fact.outcome.detail and ended else ""
        took = f"{duration(fact.outcome.seconds)}{_usage(fact.outcome.usage)}"
        return f"turn {fact.id.partition('/')[2]}{by} … {took}{ended}{detail}{_claim(fact.outcome.claim)}"
    tell = _OUTCOMES.get(type(fact.outcome))
    return tell(fact.id, fact.outcome) if tell else None


def who(effect: RunAgent, ran: str = "") -> str:
    """The role of a turn, its agent and the model that ran, or is asked for."""
    model = ran or effect.model
    return f"{effect.role} ({effect.agent}, {model})" if model else f"{effect.role} ({effect.agent})"


def _turn_of(state: State, id_: str) -> RunAgent | None:
    """The turn that ended: its lane has not been told what became of it yet."""
    for lane in state.lanes.values():
        if lane.turn is not None and lane.turn.effect.id == id_:
            return lane.turn.effect
        if lane.panel is not None and id_ in lane.panel.turns:
            return lane.panel.turns[EffectId(id_)]
    return None


def _usage(usage: out.Usage) -> str:
    """Nothing where nothing is known: no turn is free."""
    if not usage.tokens and not usage.usd:
        return ""
    tokens = f", {usage.input_tokens}+{usage.output_tokens} tokens" if usage.tokens else ""
    return f"{tokens}, {money(usage.usd, estimated=usage.estimated, digits=4)}"


def _claim(claim: Claim) -> str:
    words = [claim.status.replace("_", " ")] if claim.status else []
    words += [f"verdict {claim.verdict}"] if claim.verdict else []
    words += ["done"] if claim.exit_signal else []
    said = f"; says {', '.join(words)}" if words else ""
    told = f"; not taken: {claim.problems[0]}" if claim.problems else ""
    return (f"{said}{': ' if said else '; says: '}{claim.summary}" if claim.summary else said) + told


def _tell_recall(_id: str, outcome: out.Recalled) -> str | None:
    if outcome.problem:
        return f"learnings could not be recalled: {outcome.problem}"
    if not outcome.learnings:
        return None
    return f"{plural(len(outcome.learnings), 'learning')} for the next turn: {first_few([each.title for each in outcome.learnings], 3)}"


def _tell_measurement(_id: str, outcome: out.Measured) -> str:
    measured = outcome.measurement
    parts = [_gate(g, measured) for g in measured.gates] or ["measured; no gate is set"]
    failed = [c.name for c in measured.checks if c.status == "fail"]
    if measured.checks:
        passed = sum(c.status == "pass" for c in measured.checks)
        parts.append(
            f"checks: {passed} of {len(measured.checks)} pass" + (f", {first_few(failed)} fail" if failed else "")
        )
    parts += [f"coverage {coverage_seen(measured.coverage)}"] if measured.coverage is not None else []
    parts += [f"flaky: {first_few(measured.flaky)}"] if measured.flaky else []
    parts += [f"caught {t.path}: {t.detail}" for t in measured.tricks if not t.harmless]
    parts += [f"{plural(measured.remark_count, 'remark')} for the reviewer"] if measured.remark_count else []
    parts += [f"not run again: {measured.reused}"] if measured.reused else []
    return "; ".join(parts)


def _gate(gate: GateResult, measured: Measurement) -> str:
    if gate.broken:
        return f"gate {gate.name} cannot run: {gate.broken}"
    if gate.counts is None:
        return f"gate {gate.name}: {'passed' if gate.passed else f'failed, exit {gate.exit_code}'}"
    counts = gate.counts
    names = (
        f" ({first_few([test.rpartition('::')[2] or test for test in measured.failing])})"
        if counts.failing and measured.failing
        else ""
    )
    known = f", {counts.known_failing} known failing" if counts.known_failing else ""
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    return f"gate {gate.name}: {counts.passing} passed, {counts.failing} failed{names}{skipped}{known}"


_OUTCOMES: dict[type, Callable[[str, Any], str | None]] = {
    out.Prepared: lambda _id, o: f"workspace ready on {o.branch} at {short(o.base)}",
    out.Measured: _tell_measurement,
    out.Recalled: _tell_recall,
    out.DayCounted: lambda _id, o: f"no spend is known of {first_few(o.unread)}" if o.unread else None,
    out.Saved: lambda _id, o: f"checkpoint {o.label} {short(o.commit)} accepted" if o.accepted else None,
    out.Mended: lambda _id, o: f"restored: {first_few(o.paths, 5)}; the rest of the work is kept",
    out.Restored: lambda _id, o: f"rolled back to {short(o.commit)}",
    out.Integrated: lambda _id, o: f"integrated as {short(o.commit)}",
    out.NothingToIntegrate: lambda _id, _o: "nothing to integrate",
    out.Delivered: lambda _id, o: f"branch {o.branch} is at {short(o.commit)}",
    out.Undelivered: lambda _id, o: f"could not be delivered: {o.detail}",
    out.PullRequested: lambda _id, o: f"pull request {o.url}" if o.url else o.detail,
    out.Conflicted: lambda _id, o: f"could not be integrated: {o.detail or first_few(o.paths)}",
    out.Stale: lambda id_, _o: f"{id_}: the file has changed since it was read; nothing was written",
    out.Waited: lambda _id, _o: "the wait is over",
    out.Answered: lambda id_, o: f"{id_} answered: {o.text}" + (" (the default)" if o.by == "default" else ""),
    out.Unanswered: lambda id_, _o: f"{id_}: nobody is there to answer",
    out.Interrupted: lambda id_, o: f"{id_} was interrupted" + (f": {o.detail}" if o.detail else ""),
    out.Failed: lambda id_, o: f"{id_} failed: {o.detail}",
}
