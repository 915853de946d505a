"""The six numbers of a task, each with what it is to be read with."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from flyball.core.health.breaker import Breaker
from flyball.core.model.state import Lane, State
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import TimelineMark
from flyball.projections.pages import subtasks
from flyball.projections.pages.gone_back import GoneBack, gone_back
from flyball.projections.pages.summary import Known, at_work, spent
from flyball.projections.plots.spending import dollars, waited
from flyball.projections.wording import duration


class Figure(msgspec.Struct, frozen=True):
    """One number with its name and what it is to be read with."""

    name: str
    value: str
    of: str = ""
    note: str = ""
    meter: float | None = None
    gauge: float | None = None
    counts_from: datetime | None = None
    """Where the value is a time that goes on: when it began to count."""


def figures(known: Known, items: tuple[subtasks.ItemShown, ...]) -> tuple[Figure, ...]:
    """The six numbers of a task."""
    state, history = known.state, known.history
    marks = [mark for mark in history.timeline.marks if mark.failing is not None]
    lane = _worst(state)
    return (
        _failing_figure(marks, history, gone_back(history)),
        _items_figure(items),
        Figure(
            "Iterations",
            str(state.iterations) if state.turns else "–",
            note=f"{plural(state.turns, 'turn')}, {plural(state.false_claims, 'false claim')}",
        ),
        _money_figure(state),
        _time_figure(known),
        _breaker_figure(state, lane),
    )


def _time_figure(known: Known) -> Figure:
    seconds = at_work(known)
    running = known.state.stopped is None and known.seen.controlled
    begun = known.now - timedelta(seconds=seconds) if running else None
    return Figure("Time", duration(seconds), note=_waiting(known), counts_from=begun)


def _failing_figure(marks: list[TimelineMark], history: TaskHistory, back: GoneBack | None) -> Figure:
    if back is not None:
        told = (
            f"of {back.counts.total}, as measured at {back.label}" if back.counts else f"{back.label} was not measured"
        )
        return Figure("Failing tests", str(back.counts.failing) if back.counts else "–", note=told)
    if not marks:
        note = "the gate counts no tests" if history.timeline.marks else "not measured yet"
        return Figure("Failing tests", "–", note=note)
    counts = marks[-1].counts
    was = f"; was {marks[0].failing}" if len(marks) > 1 else ""
    if counts.known_failing:
        known = f"{counts.known_failing} known failing since before the task; of {counts.total}{was}"
        return Figure("Failing tests", str(counts.failing), "new", known)
    return Figure("Failing tests", str(counts.failing), note=f"of {counts.total}{was}")


def _items_figure(items: tuple[subtasks.ItemShown, ...]) -> Figure:
    if not items:
        return Figure("Items accepted", "–", note="none planned yet")
    done = sum(item.done for item in items)
    words: dict[str, int] = {}
    for item in items:
        if not item.done and item.chip != subtasks.TO_COME:
            name = item.chip.word.partition(",")[0]
            words[name] = words.get(name, 0) + 1
    told = ", ".join(f"{count} {name}" for name, count in words.items())
    return Figure(
        "Items accepted",
        str(done),
        f"of {len(items)}",
        told or (f"{len(items) - done} to come" if done < len(items) else "all"),
    )


def _money_figure(state: State) -> Figure:
    cap = state.task.settings.limits.budget_usd
    amount = spent(state)
    if amount == "–":
        return Figure("Spent", "–", note="agent reports none")
    note = f"{state.usage.tokens:,} tokens" if state.usage.tokens else ""
    if cap is None:
        return Figure("Spent", amount, note=note)
    return Figure("Spent", amount, f"of {dollars(cap)}", meter=min(1.0, state.known_usd / cap))


def _waiting(known: Known) -> str:
    seconds = waited(known.history.timeline.pauses, known.now).total_seconds()
    return f"{duration(seconds)} of it waiting" if seconds >= 60 else f"since {known.state.task.opened_at:%H:%M} UTC"


def _worst(state: State) -> Lane:
    return max(
        state.lanes.values(), key=lambda lane: (lane.loop.breaker.state == "OPEN", lane.loop.breaker.no_progress)
    )


def _breaker_figure(state: State, lane: Lane) -> Figure:
    """Arms at 30° and up: at the top the collar has shut the valve."""
    breaker: Breaker = lane.loop.breaker
    own = workflow_of(state.task).strikes.get(lane.stage)
    allowed = state.task.settings.breaker.strikes(lane.stage, own).no_progress
    struck = allowed if breaker.state == "OPEN" else min(breaker.no_progress, allowed)
    names = {"CLOSED": "closed", "HALF_OPEN": "half open", "OPEN": "open"}
    note = f"{struck} of {allowed} without progress"
    return Figure("Breaker", names[breaker.state], note=note, gauge=30 + 50 * struck / max(1, allowed))
