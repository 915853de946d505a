"""One line for each event worth telling, for plain output and `logs`; one JSON object for `--json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from flyball.core.loop.workflow import BOTH_GATES
from flyball.core.model import events as ev, outcomes as out
from flyball.core.model.effects import Ask, Measure, RunAgent
from flyball.core.model.measurement import GateResult, Measurement
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, EffectId, Player
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.backlog.facts import (
    BlockCleared,
    Evaluated,
    ItemReopened,
    ItemSelected,
    ItemSettled,
    Reviewed,
)
from flyball.core.workflows.plan.sources.effects import MarkEntries
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.prp_session import describe_session
from flyball.projections.history.recording import coverage_seen
from flyball.projections.history.reviews import apart
from flyball.projections.views import batch_lines
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import next_command
from flyball.projections.wording import duration, guard_name, money, plain, short, size, stamp

PLACE_WIDTH = 11
LONGEST = 240


def line(event: ev.Event, state: State) -> str | None:
    """What happened, in one line, or None for what nobody needs to read; `state` is the state after the event."""
    tell = _FACTS.get(type(event.fact))
    text = tell(state, event.fact) if tell else None
    if text is None:
        return None
    return f"{_place(state, event):<{PLACE_WIDTH}} {plain(text, LONGEST)}"


def json_line(event: ev.Event) -> bytes:
    """The event as one line of JSON, without its line end."""
    return msgspec.json.encode(event)


def _place(state: State, event: ev.Event) -> str:
    fact = event.fact
    name = lane_name(state, fact)
    if name != MAIN:
        lane = state.lanes.get(name)
        place = f"{name} {lane.stage}" if lane is not None else name
        return place if len(place) <= PLACE_WIDTH else name[:PLACE_WIDTH]
    if isinstance(fact, ev.Judged):
        return f"{fact.stage} {fact.iteration}"
    return f"{state.main.stage} {state.main.loop.iteration + 1}" if state.main.at_work else state.main.stage


def lane_name(state: State, fact: ev.Fact) -> str:
    """The lane a fact is of; how an effect ended stands where its lane keeps that."""
    if isinstance(fact, ev.Begun):
        return str(fact.effect.lane)
    if not isinstance(fact, ev.Ended):
        return str(getattr(fact, "lane", "")) or MAIN
    kind, _, number = fact.id.partition("/")
    for lane in state.lanes.values():
        turn = lane.turn.effect.turn if lane.turn is not None else 0
        failed = lane.failed is not None and lane.failed[0] == fact.id
        if failed or fact.id in lane.outcomes or (kind in {"turn", "save", "measure"} and number == str(turn)):
            return lane.name
    return MAIN


def _begun(state: State, fact: ev.Begun) -> str | None:
    effect = fact.effect
    again = f", attempt {effect.attempt}" if effect.attempt > 1 else ""
    if isinstance(effect, RunAgent):
        return f"turn {effect.turn} {_who(effect)} begins{again}{_apart(state, effect)}"
    if isinstance(effect, Measure):
        return f"measuring {short(effect.candidate)} ({effect.kind}){again}"
    if isinstance(effect, Ask):
        return None if again else _question(effect)
    return _marking(effect) if isinstance(effect, MarkEntries) else None


def _marking(effect: MarkEntries) -> str:
    """`tasks.md: T001 and T002 as [x]`, or what else the marks become."""
    after = {
        change.after: first_few([str(c.key) for c in effect.changes if c.after == change.after], 5)
        for change in effect.changes
    }
    told = (f"{keys} as {f'[{mark}]' if len(mark) == 1 else mark}" for mark, keys in after.items())
    return f"marks in {effect.source.path}: {'; '.join(told)}"


def _question(effect: Ask) -> str:
    question = effect.question
    options = f" [{' | '.join(o.key for o in question.options)}]" if question.options else ""
    default = f" (default: {question.default})" if question.default is not None else ""
    return f"question {effect.id}: {question.text}{options}{default}"


def _apart(state: State, effect: RunAgent) -> str:
    if not effect.authors:
        return ""
    return f": {apart(Player(effect.agent, effect.model), effect.authors, state.task.agents)}"


def _who(effect: RunAgent, ran: str = "") -> str:
    model = ran or effect.model
    return f"{effect.role} ({effect.agent}, {model})" if model else f"{effect.role} ({effect.agent})"


def _ended(state: State, fact: ev.Ended) -> str | None:
    tell = _OUTCOMES.get(type(fact.outcome))
    return tell(state, fact.id, fact.outcome) if tell else None


def _turn_ended(state: State, id_: str, outcome: out.TurnEnded) -> str:
    effect = _turn(state, id_)
    who = f" {_who(effect, outcome.model)}" if effect else ""
    ended = "" if outcome.kind == "ok" else f", {outcome.kind.replace('_', ' ')}"
    detail = f": {outcome.detail}" if outcome.detail and ended else ""
    took = f"{duration(outcome.seconds)}{_spent(outcome.usage)}"
    return f"turn {id_.partition('/')[2]}{who} … {took}{ended}{detail}{_claimed(outcome)}"


def _turn(state: State, id_: str) -> RunAgent | None:
    """The turn that ended: its lane has not been told what became of it yet."""
    for lane in state.lanes.values():
        if lane.turn is not None and lane.turn.effect.id == id_:
            return lane.turn.effect
        if lane.panel is not None and id_ in lane.panel.turns:
            return lane.panel.turns[EffectId(id_)]
    return None


def _spent(usage: out.Usage) -> str:
    """Nothing where nothing is known: no turn is free."""
    if not usage.tokens and not usage.usd:
        return ""
    tokens = f", {usage.input_tokens}+{usage.output_tokens} tokens" if usage.tokens else ""
    return f"{tokens}, {money(usage.usd, estimated=usage.estimated, digits=4)}"


def _claimed(outcome: out.TurnEnded) -> str:
    claim = outcome.claim
    words = [claim.status.replace("_", " ")] if claim.status else []
    words += [f"verdict {claim.verdict}"] if claim.verdict else []
    words += ["done"] if claim.exit_signal else []
    said = f"; says {', '.join(words)}" if words else ""
    told = f"; not taken: {claim.problems[0]}" if claim.problems else ""
    return (f"{said}{': ' if said else '; says: '}{claim.summary}" if claim.summary else said) + told


def _recalled(_state: State, _id: str, outcome: out.Recalled) -> str | None:
    if outcome.problem:
        return f"learnings could not be recalled: {outcome.problem}"
    if not outcome.learnings:
        return None
    return (
        f"recalled of {plural(outcome.searched, 'learning')}: {first_few([each.id for each in outcome.learnings], 6)}"
    )


def _measured(_state: State, _id: str, outcome: out.Measured) -> str:
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
    parts += [f"caught {t.kind}: {t.path}" for t in measured.tricks if not t.harmless]
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


def _judged(_state: State, fact: ev.Judged) -> str:
    verdict = fact.verdict
    if fact.can_exit:
        return f"verdict: {fact.stage} is complete, {verdict.health}: {BOTH_GATES}"
    decision = "BLOCKED" if verdict.cure in {"ask", "stop"} else "CONTINUE"
    parts = [f"verdict: {decision}, {verdict.health}: {verdict.evidence}"]
    parts += ["the work was rejected"] if fact.rejected else []
    if fact.false_claim:
        parts.append(f"the agent says done, but measured: {first_few(list(fact.gate_1.missing), 1)}")
    elif fact.gate_1.held:
        parts.append("the gate passes, but the agent does not say that it is done")
    elif fact.gate_1.missing:
        parts.append(f"missing: {first_few(list(fact.gate_1.missing), 1)}")
    parts += [f"cure: {fact.rung}"] if fact.rung else []
    if fact.breaker.state != "CLOSED":
        why = "" if fact.breaker.reason in verdict.evidence else f": {fact.breaker.reason}"
        parts.append(f"{_BREAKER[fact.breaker.state]}{why}")
    return "; ".join(parts)


def _reviewed(_state: State, fact: Reviewed) -> str:
    said = fact.summary or "; ".join(f.message for f in fact.findings[:1])
    asked = f"; proposes {plural(len(fact.issues), 'issue')}" if fact.issues else ""
    return f"{fact.role}: {fact.validation.result}{f': {said}' if said else ''}{asked}"


def _settled(_state: State, fact: ItemSettled) -> str:
    count = f" ({plural(fact.failures, 'time')})" if fact.failures else ""
    created = f"; new: {first_few([new.issue.id for new in fact.created])}" if fact.created else ""
    notes = f"; {first_few(list(fact.notes), 2)}" if fact.notes else ""
    return f"{fact.id} {fact.status}{count}{created}{notes}"


def _evaluated(_state: State, fact: Evaluated) -> str:
    causes = f": {first_few(list(fact.blocked_on))}" if fact.decision == "BLOCKED" and fact.blocked_on else ""
    following = f"; next: {fact.next_issue}" if fact.next_issue else ""
    told = f"; {first_few(list(fact.deviations), 1)}" if fact.deviations else ""
    rest = f"{causes}{following}{told}"
    return f"{fact.decision} ({fact.trigger}): {fact.reason.rstrip('.') if rest else fact.reason}{rest}"


def _undeclared(_state: State, fact: ev.UndeclaredEditsFound) -> str | None:
    parts = {
        "also changed": fact.also_changed,
        "deletes": fact.deleted,
        "changed protected": fact.protected,
        "dropped its change of": fact.dropped,
    }
    told = [f"{what} {first_few(list(paths), 5)}" for what, paths in parts.items() if paths]
    return f"{fact.item}: {'; '.join(told)}" if told else None


def _items_set(_state: State, fact: ev.ItemsSet) -> str:
    origin = "with those the review added" if fact.by == "review" else f"from the {fact.by}"
    return f"{plural(len(fact.items), 'item')} {origin}: {first_few([i.id for i in fact.items], 6)}"


def _set_aside(_state: State, fact: ev.TurnSetAside) -> str:
    detail = f" ({fact.detail})" if fact.detail else ""
    return f"turn {fact.turn} {_SET_ASIDE[fact.why]}{detail}; not counted"


_SET_ASIDE = {
    "limited": "hit a limit of its provider",
    "crashed": "crashed",
    "interrupted": "was interrupted",
    "planned": "planned",
    "absent": "found no agent",
    "consent": "looked at a change of protected files",
}
_BREAKER = {"CLOSED": "it may go on", "HALF_OPEN": "nearly stuck", "OPEN": "stopped repeating"}


def _moved(_state: State, fact: ev.Moved) -> str:
    forced = " (forced, not verified)" if fact.forced else ""
    return f"{fact.previous} -> {fact.stage}: {fact.reason}{forced}"


def _held(_state: State, fact: ev.Held) -> str:
    until = f" until {stamp(fact.until)}" if fact.until else ""
    return f"waits{until} ({guard_name(fact.guard)}): {fact.reason}"


def _stopped(state: State, fact: ev.TaskStopped) -> str:
    word = situation(state)
    following = next_command(state)
    reason = plain(fact.reason, 140)
    return f"{word}: {reason.rstrip('.')}; next: {following}" if following else f"{word}: {reason}"


def _revised(fact: ev.LearningRevised) -> str:
    return f"supersedes {fact.learning} by {fact.favours}" if fact.favours else f"invalidates {fact.learning}"


def _removed(_state: State, fact: ev.WorkspaceRemoved) -> str:
    if fact.by == "found":
        return "the checkout is gone; it is made again from what was saved"
    return f"cleaned up: {first_few(fact.parts)}, {size(fact.freed)}; it is made again when the task goes on"


_OUTCOMES: dict[type, Callable[[State, str, Any], str | None]] = {
    out.Prepared: lambda _s, _i, o: f"workspace ready on {o.branch} at {short(o.base)}",
    out.TurnEnded: _turn_ended,
    out.Measured: _measured,
    out.Recalled: _recalled,
    out.Saved: lambda _s, _i, o: f"checkpoint {o.label} {short(o.commit)} accepted" if o.accepted else None,
    out.Mended: lambda _s, _i, o: f"put back as accepted: {first_few(list(o.paths), 5)}; the rest of the work is kept",
    out.Restored: lambda _s, _i, o: f"rolled back to {short(o.commit)}",
    out.Integrated: lambda _s, _i, o: f"integrated as {short(o.commit)}",
    out.NothingToIntegrate: lambda _s, _i, _o: "nothing to integrate",
    out.Delivered: lambda _s, _i, o: f"branch {o.branch} stands at {short(o.commit)}",
    out.Undelivered: lambda _s, _i, o: f"could not be delivered: {o.detail}",
    out.PullRequested: lambda _s, _i, o: f"pull request {o.url}" if o.url else o.detail,
    out.Conflicted: lambda _s, _i, o: f"could not be integrated: {o.detail or first_few(o.paths)}",
    out.Stale: lambda _s, i, _o: f"{i}: the file has changed since it was read; nothing was written",
    out.Waited: lambda _s, _i, _o: "the wait is over",
    out.Answered: lambda _s, i, o: f"{i} answered: {o.text}" + (" (the default)" if o.by == "default" else ""),
    out.Unanswered: lambda _s, i, _o: f"{i}: nobody is there to answer",
    out.Interrupted: lambda _s, i, o: f"{i} was interrupted" + (f": {o.detail}" if o.detail else ""),
    out.Failed: lambda _s, i, o: f"{i} failed: {o.detail}",
}

_FACTS: dict[type, Callable[[State, Any], str | None]] = {
    ev.TaskOpened: lambda _s, f: f"task {f.task.id} ({f.task.workflow}): {f.task.request}",
    ev.SessionStarted: lambda _s, f: f"flyball {f.version} starts work (pid {f.pid} on {f.host})",
    ev.Begun: _begun,
    ev.Ended: _ended,
    ev.Judged: _judged,
    ev.TurnSetAside: _set_aside,
    ev.Moved: _moved,
    ev.Held: _held,
    ev.LimitHit: lambda _s, f: f"{f.agent} hit its {f.kind.replace('_', ' ')}; not before {stamp(f.until)}",
    ev.WindowOpened: lambda _s, f: "a new hour of calls begins" + (" by a person's word" if f.forced else ""),
    ev.BreakerChanged: lambda _s, f: f"{_BREAKER[f.breaker.state]}: {f.reason}",
    ev.ItemsSet: _items_set,
    ev.DocumentSeen: lambda _s, f: "; ".join(f.notes) or None,
    ev.ItemChanged: lambda _s, f: f"{f.id} is {f.status}",
    ItemSelected: lambda _s, f: f"cycle {f.cycle}: {f.item.id}: {f.item.text}",
    Reviewed: _reviewed,
    ItemSettled: _settled,
    ItemReopened: lambda _s, f: f"{f.id} was rolled back and is proposed again",
    Evaluated: _evaluated,
    BlockCleared: lambda _s, f: (
        f"a person's word clears {f.trigger}" + (f" for {first_few(f.items)}" if f.items else "")
    ),
    ev.UndeclaredEditsFound: _undeclared,
    ev.LearningRecorded: lambda _s, f: f"{f.kind} {f.number:03d}: {f.title}",
    ev.LearningRevised: lambda _s, f: f"{f.by} {_revised(f)}: {f.because}",
    ev.Consented: lambda _s, f: f"{f.by} {'allowed' if f.allowed else 'refused'} changes to {first_few(f.paths)}",
    ev.PersonSpoke: lambda _s, f: None if f.word == "answer" else f"a person says {f.word} {f.text}".rstrip(),
    ev.SettingsChanged: lambda _s, _f: "settings changed by a person",
    SessionImported: lambda _s, f: f"begun from {describe_session(f.session)}",
    ev.TaskReopened: lambda _s, f: f"reopened with {first_few(f.items) or 'nothing that is not asked for already'}",
    ev.WorkspaceRemoved: _removed,
    ev.TaskStopped: _stopped,
    **batch_lines.LINES,
}
