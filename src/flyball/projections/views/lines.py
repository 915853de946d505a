"""One line for each event worth telling, for plain output and `logs`; one JSON object for `--json`."""

from collections.abc import Callable
from typing import Any

import msgspec

from flyball.core.loop.workflow import BATCH_HELD, BOTH_GATES
from flyball.core.model import batch_events as be, events as ev
from flyball.core.model.effects import Ask, Effect, Measure, RunAgent
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Player
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.reviews import apart
from flyball.projections.views.outcome_lines import outcome_line, who
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import next_command
from flyball.projections.wording import clock_time, guard_name, plain, short, size, stamp

PLACE_WIDTH = 11
LONGEST = 240


def line(event: ev.Event, state: State) -> str | None:
    """What happened, in one line, or None for what nobody needs to read; `state` is the state after the event."""
    text = _text(event.fact, state)
    if text is None:
        return None
    return f"{_place(state, event):<{PLACE_WIDTH}} {plain(text, 2 * REASON_SHOWN if isinstance(event.fact, ev.TaskStopped) else LONGEST)}"


def json_line(event: ev.Event) -> bytes:
    return msgspec.json.encode(event)


def _text(fact: ev.Fact, state: State) -> str | None:
    match fact:
        case ev.Begun():
            return _tell_begun(fact.effect, state)
        case ev.Ended():
            return outcome_line(fact, state)
        case ev.TaskStopped():
            return _tell_stopped(fact, state)
    tell = _FACTS.get(type(fact)) or workflow_of(state.task).lines.get(type(fact))
    return tell(fact) if tell else None


def _place(state: State, event: ev.Event) -> str:
    fact = event.fact
    name = lane_name(state, fact)
    if name != MAIN:
        lane = state.lanes.get(name)
        return _fit(name, lane.stage if lane is not None else "")
    if isinstance(fact, ev.Judged):
        return _fit(fact.stage, str(fact.iteration))
    return _fit(state.main.stage, str(state.main.loop.iteration + 1) if state.main.at_work else "")


REASON_SHOWN = 1000


def _fit(name: str, more: str) -> str:
    """What fits into the column: both words, the first alone, or as much of it as there is room for."""
    both = f"{name} {more}".rstrip()
    if len(both) <= PLACE_WIDTH:
        return both
    return name if len(name) <= PLACE_WIDTH else f"{name[: PLACE_WIDTH - 1]}…"


def lane_name(state: State, fact: ev.Fact) -> str:
    """The lane a fact is of; how an effect ended stands where its lane keeps that."""
    if isinstance(fact, ev.Begun):
        return str(fact.effect.lane)
    if not isinstance(fact, ev.Ended):
        return str(getattr(fact, "lane", "")) or MAIN
    kind, _, number = fact.id.partition("/")
    for lane in state.lanes.values():
        turn = lane.turn.effect.turn if lane.turn is not None else 0
        failed = lane.failed is not None and lane.failed[0].id == fact.id
        if failed or fact.id in lane.outcomes or (kind in {"turn", "save", "measure"} and number == str(turn)):
            return lane.name
    return MAIN


def _tell_begun(effect: Effect, state: State) -> str | None:
    again = f", attempt {effect.attempt}" if effect.attempt > 1 else ""
    if isinstance(effect, RunAgent):
        player = Player(effect.agent, effect.model)
        reviewer = f": {apart(player, effect.authors, state.task.agents)}" if effect.authors else ""
        return f"turn {effect.turn} {who(effect)} begins{again}{reviewer}"
    if isinstance(effect, Measure):
        return f"measuring {short(effect.candidate)}{again}"
    if isinstance(effect, Ask):
        return None if again else _tell_question(effect)
    tell = workflow_of(state.task).lines.get(type(effect))
    return tell(effect) if tell else None


def _tell_question(effect: Ask) -> str:
    question = effect.question
    options = f" [{' | '.join(o.key for o in question.options)}]" if question.options else ""
    due = question.deadline_at
    taken = f", taken at {clock_time(due, effect.at or due)}" if due is not None else ""
    default = f" (default: {question.default}{taken})" if question.default is not None else ""
    return f"question {effect.id}: {question.text}{options}{default}"


def _tell_judged(fact: ev.Judged) -> str:
    verdict = fact.verdict
    if fact.can_exit:
        return f"verdict: {fact.stage} is complete, {verdict.health}: {BATCH_HELD if fact.batch else BOTH_GATES}"
    decision = "BLOCKED" if verdict.remedy in {"ask", "stop"} else "CONTINUE"
    parts = [f"verdict: {decision}, {verdict.health}: {verdict.evidence}"]
    parts += ["the work was rejected"] if fact.rejected else []
    if fact.false_claim:
        parts.append(f"the agent says done, but measured: {first_few(fact.gate_1.missing, 1)}")
    elif fact.gate_1.held:
        parts.append("the measurements hold, but the agent does not say that it is done")
    elif fact.gate_1.missing:
        parts.append(f"missing: {first_few(fact.gate_1.missing, 1)}")
    parts += [f"remedy: {fact.rung}"] if fact.rung else []
    if fact.breaker.state != "CLOSED":
        why = "" if fact.breaker.reason in verdict.evidence else f": {fact.breaker.reason}"
        parts.append(f"{_BREAKER[fact.breaker.state]}{why}")
    return "; ".join(parts)


def _tell_undeclared(fact: ev.UndeclaredEditsFound) -> str | None:
    parts = {
        "also changed": fact.also_changed,
        "deletes": fact.deleted,
        "was allowed to change": fact.protected,
        "dropped its change of": fact.dropped,
    }
    told = [f"{what} {first_few(paths, 5)}" for what, paths in parts.items() if paths]
    return f"{fact.item}: {'; '.join(told)}" if told else None


def _tell_items_set(fact: ev.ItemsSet) -> str:
    origin = "with those the review added" if fact.by == "review" else f"from the {fact.by}"
    return f"{plural(len(fact.items), 'item')} {origin}: {first_few([i.id for i in fact.items], 6)}"


def _tell_set_aside(fact: ev.TurnSetAside) -> str:
    detail = f" ({fact.detail})" if fact.detail else ""
    counted = "" if fact.why in {"planned", "consent"} else "; not counted"
    return f"turn {fact.turn} {_SET_ASIDE[fact.why]}{detail}{counted}"


_SET_ASIDE = {
    "limited": "hit a limit of its provider",
    "crashed": "crashed",
    "interrupted": "was interrupted",
    "planned": "planned",
    "absent": "found no agent",
    "consent": "reviewed a change of protected files",
    "void": "rests on findings that do not count; asked again",
}
_LIMITS = {
    "usage_limit": "hit its usage limit",
    "rate_limited": "hit its rate limit",
    "overloaded": "reached no provider that answers",
}
_BREAKER = {"CLOSED": "may continue", "HALF_OPEN": "nearly stuck", "OPEN": "stopped repeating"}


def _tell_moved(fact: ev.Moved) -> str:
    forced = " (forced, not verified)" if fact.forced else ""
    return f"{fact.previous} -> {fact.stage}: {fact.reason}{forced}"


def _tell_held(fact: ev.Held) -> str:
    until = f" until {stamp(fact.until)}" if fact.until else ""
    return f"waits{until} ({guard_name(fact.guard)}): {fact.reason}"


def _tell_stopped(fact: ev.TaskStopped, state: State) -> str:
    word = situation(state)
    # What `--merge` did is said behind this line.
    following = next_command(state, merged=state.task.settings.merge)
    reason = plain(fact.reason, REASON_SHOWN)
    return f"{word}: {reason.rstrip('.')}; next: {following}" if following else f"{word}: {reason}"


def _tell_revised(fact: ev.LearningRevised) -> str:
    word = f"supersedes {fact.learning} by {fact.favours}" if fact.favours else f"invalidates {fact.learning}"
    return f"{fact.by} {word}: {fact.because}"


def _tell_removed(fact: ev.WorkspaceRemoved) -> str:
    if fact.by == "found":
        return "the checkout is gone; flyball makes it again from what was saved"
    return f"cleaned up: {first_few(fact.parts)}, {size(fact.freed)}; flyball makes it again when the task continues"


_WHY = {
    "review": "the review rejected it",
    "conflict": "another subtask changed the same lines",
    "gates": "the gates fail on the integrated tree",
    "failed": "its turns failed",
    "undone": "it was rolled back",
}


def _tell_batch(fact: be.BatchBegun) -> str:
    return f"batch {fact.number}: {first_few(fact.items, 8)}{' side by side' if len(fact.items) > 1 else ''}"


def _tell_integration(fact: be.SubtaskIntegrated) -> str | None:
    if fact.result in {"conflicted", "red"}:
        what = "meets a conflict" if fact.result == "conflicted" else "has red gates on the integrated tree"
        return f"{fact.item} {what}: {fact.detail.partition(chr(10))[0]}"
    return f"{fact.item} adds nothing new" if fact.result == "empty" else None


def _tell_batch_review(fact: be.BatchReviewed) -> str | None:
    parts = [f"approved {first_few(fact.approved, 8)}"] if fact.approved else []
    parts += [f"rejected {each.id}: {each.reason}" for each in (*fact.rejected, *fact.reopened)]
    return f"review: {'; '.join(parts)}" if parts else None


def _tell_return(fact: be.SubtaskReturned) -> str:
    if fact.why == "undone" and fact.commit:
        return f"{fact.item} was approved and went down with its batch: it is merged again"
    remedy = f"; remedy: {fact.rung}" if fact.rung else ""
    return f"{fact.item} goes back: {_WHY[fact.why]}{remedy}"


def _tell_settlement(fact: be.BatchSettled) -> str:
    told = f"accepted {first_few(fact.accepted, 8)} as {fact.label}" if fact.accepted else "nothing accepted"
    return f"batch {fact.number} is over: {told}"


_FACTS: dict[type, Callable[[Any], str | None]] = {
    ev.TaskOpened: lambda f: f"task {f.task.id} ({f.task.workflow}): {f.task.request}",
    ev.SessionStarted: lambda f: f"flyball {f.version} starts work (pid {f.pid} on {f.host})",
    ev.Judged: _tell_judged,
    ev.TurnSetAside: _tell_set_aside,
    ev.Moved: _tell_moved,
    ev.Held: _tell_held,
    ev.LimitHit: lambda f: f"{f.agent} {_LIMITS.get(f.kind, 'cannot be called')}; no call before {stamp(f.until)}",
    ev.WindowOpened: lambda f: "a new hour of calls begins" + (" because a person said so" if f.forced else ""),
    ev.BreakerChanged: lambda f: f"{_BREAKER[f.breaker.state]}: {f.reason}",
    ev.ItemsSet: _tell_items_set,
    ev.DocumentSeen: lambda f: "; ".join(f.notes) or None,
    ev.ItemChanged: lambda f: f"{f.id} is {f.status}",
    ev.UndeclaredEditsFound: _tell_undeclared,
    ev.LearningRecorded: lambda f: f"{f.kind} {f.number:03d}: {f.title}",
    ev.LearningRevised: _tell_revised,
    ev.FailuresDecided: lambda f: f.message,
    ev.Consented: lambda f: f"{f.by} {'allowed' if f.allowed else 'refused'} changes to {first_few(f.paths)}",
    ev.PersonSpoke: lambda f: None if f.word == "answer" else f"a person says {f.word} {f.text}".rstrip(),
    ev.SettingsChanged: lambda _f: "settings changed by a person",
    ev.TaskReopened: lambda f: f"reopened with {first_few(f.items) or 'no new item'}",
    ev.WorkspaceRemoved: _tell_removed,
    be.BatchBegun: _tell_batch,
    be.SubtaskIntegrated: _tell_integration,
    be.BatchReviewed: _tell_batch_review,
    be.ReviewUnread: lambda f: (
        f"the {f.role} gave no {'clear ' if f.unclear else ''}verdict in turn {f.turn}; asked again{f.unclear and f': {f.unclear}'}"
    ),
    be.SubtaskFailed: lambda f: f"{f.item} is given up: {f.detail.partition(chr(10))[0]}",
    be.SubtaskDeferred: lambda f: f"{f.item} waits for {', '.join(f.until)}: {f.reason}",
    be.SubtaskReturned: _tell_return,
    be.BatchSettled: _tell_settlement,
    be.BatchesUndone: lambda f: f"undone: {', '.join(f.labels)}; open again: {', '.join(f.items)}",
}
