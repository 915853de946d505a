"""One line for each fact of a plan and of batches, in the words of every screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flyball.core.model import batch_events as be
from flyball.core.model.state import State
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.plan.facts import FinalReviewed, PlanDrafted, PlanQuestioned, PlanReviewed

_WHY = {
    "review": "the review rejected it",
    "conflict": "another subtask changed the same lines",
    "gates": "the gates fail on the integrated tree",
    "failed": "its turns came to nothing",
    "undone": "it was rolled back",
}


def _drafted(_state: State, fact: PlanDrafted) -> str:
    told = f"the plan has {plural(len(fact.problems), 'problem')}: {first_few(list(fact.problems), 1)}"
    return told if fact.problems else f"a plan by the {fact.by}"


def _questioned(_state: State, fact: PlanQuestioned) -> str:
    return f"the planner asks: {first_few([question.text for question in fact.questions], 2)}"


def _reviewed(_state: State, fact: PlanReviewed) -> str:
    if fact.by in {"document", "nobody"}:
        return "plan taken from the file"
    why = f": {fact.findings[0].message}" if fact.findings and not fact.approved else ""
    return f"plan {'approved' if fact.approved else 'sent back'} by the {fact.by}{why}"


def _begun(_state: State, fact: be.BatchBegun) -> str:
    return f"batch {fact.number}: {first_few(fact.items, 8)}{' side by side' if len(fact.items) > 1 else ''}"


def _integrated(_state: State, fact: be.SubtaskIntegrated) -> str | None:
    if fact.result in {"conflicted", "red"}:
        what = "meets a conflict" if fact.result == "conflicted" else "has red gates on the integrated tree"
        return f"{fact.item} {what}: {fact.detail.partition(chr(10))[0]}"
    return f"{fact.item} adds nothing new" if fact.result == "empty" else None


def _batch_reviewed(_state: State, fact: be.BatchReviewed) -> str | None:
    parts = [f"approved {first_few(fact.approved, 8)}"] if fact.approved else []
    parts += [f"rejected {each.id}: {each.reason}" for each in (*fact.rejected, *fact.reopened)]
    return f"review: {'; '.join(parts)}" if parts else None


def _returned(_state: State, fact: be.SubtaskReturned) -> str:
    remedy = f"; remedy: {fact.rung}" if fact.rung else ""
    return f"{fact.item} goes back: {_WHY[fact.why]}{remedy}"


def _settled(_state: State, fact: be.BatchSettled) -> str:
    told = f"accepted {first_few(fact.accepted, 8)} as {fact.label}" if fact.accepted else "nothing accepted"
    return f"batch {fact.number} is over: {told}"


def _final(_state: State, fact: FinalReviewed) -> str:
    named = [each.id for each in fact.reopened] + [f.message for f in fact.findings]
    return "final review: approved" if fact.approved else f"final review asks for changes: {first_few(named, 3)}"


LINES: dict[type, Callable[[State, Any], str | None]] = {
    PlanDrafted: _drafted,
    PlanQuestioned: _questioned,
    PlanReviewed: _reviewed,
    FinalReviewed: _final,
    be.BatchBegun: _begun,
    be.SubtaskIntegrated: _integrated,
    be.BatchReviewed: _batch_reviewed,
    be.ReviewUnread: lambda _s, f: f"the {f.role} gave no verdict in turn {f.turn}; asked again",
    be.SubtaskFailed: lambda _s, f: f"{f.item} is given up: {f.detail.partition(chr(10))[0]}",
    be.SubtaskDeferred: lambda _s, f: f"{f.item} waits for {', '.join(f.until)}: {f.reason}",
    be.SubtaskReturned: _returned,
    be.BatchSettled: _settled,
    be.BatchesUndone: lambda _s, f: f"undone: {', '.join(f.labels)}; open again: {', '.join(f.items)}",
}
