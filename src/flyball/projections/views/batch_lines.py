"""One line for each fact of batches, in the words of every screen."""

from collections.abc import Callable
from typing import Any

from flyball.core.model import batch_events as be
from flyball.core.text.quantities import first_few

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


LINES: dict[type, Callable[[Any], str | None]] = {
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
