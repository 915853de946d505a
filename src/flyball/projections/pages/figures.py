"""The six numbers of a task, each with what it is to be read with, and what makes its result worth less than it seems."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from flyball.core.loop.shipping import missing_review
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.history.reviews import reviews
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import TimelineMark, last_counted
from flyball.projections.pages import subtasks
from flyball.projections.pages.gone_back import GoneBack
from flyball.projections.pages.summary import Known, spent_amount
from flyball.projections.views.lanes import most_stuck
from flyball.projections.views.standing import failures, known_failing, strikes_of, stuck_word
from flyball.projections.wording import dollars, duration


class Figure(msgspec.Struct, frozen=True):
    name: str
    value: str
    of: str = ""
    note: str = ""
    meter: float | None = None
    gauge: float | None = None
    counts_from: datetime | None = None
    """Where the value is a time that goes on: when it began to count."""


class Weakness(msgspec.Struct, frozen=True):
    """What weakens a result though no gate and no claim failed: its glyph, a word for its kind, and a sentence without its full stop."""

    glyph: str
    name: str
    text: str


def weaknesses(state: State, history: TaskHistory) -> tuple[Weakness, ...]:
    """Tests that failed before the task and still do, and work that nobody reviewed, or only its author."""
    still = known_failing(state, history)
    fail = "fails" if still == 1 else "fail"
    named = "; ".join((f"{plural(still, 'test')} {fail} that failed before the task", *failures(state, history)))
    tests = Weakness("rejected", "tests", named)
    turns = [each for each in reviews(history.turns, state.task.agents) if each.model == "same"]
    places = "; ".join(f"{each.stage}, turn {each.turn}, {each.role}" for each in turns[:2])
    more = f" and {plural(len(turns) - 2, 'more turn')}" if turns[2:] else ""
    own_reviews = [Weakness("skipped", "review", f"{places}{more}: the author reviewed its own work")] if turns else []
    nobody = missing_review(state)
    left_out = [Weakness("skipped", "review", nobody)] if nobody else []
    return (*([tests] if still or state.failures else []), *left_out, *own_reviews)


def figures(known: Known, items: tuple[subtasks.ItemShown, ...], back: GoneBack | None) -> tuple[Figure, ...]:
    state = known.state
    begun = known.now - timedelta(seconds=known.at_work_s) if known.running else None
    waiting = f"{duration(known.waiting_s)} of it waiting" if known.waiting_s >= 60 else ""
    since = f"since {state.task.opened_at:%H:%M} UTC"
    # Of the lane that is nearest to its end; arms at 30° and up: at the top the collar has shut the valve.
    lane = most_stuck(state)
    breaker, allowed = lane.loop.breaker, strikes_of(state, lane).no_progress
    struck = allowed if breaker.state == "OPEN" else min(breaker.no_progress, allowed)
    where = "" if lane.name == MAIN else f" in {lane.name}"
    note = f"{struck} of {plural(allowed, 'iteration')} without progress{where}"
    return (
        _failing_figure(known.history.timeline.marks, back),
        _items_figure(items),
        Figure(
            "Iterations",
            str(state.iterations) if state.turns else "–",
            note=f"{plural(state.turns, 'turn')}, {plural(state.false_claims, 'false claim')}",
        ),
        _money_figure(state),
        Figure("Time", duration(known.at_work_s), note=waiting or since, counts_from=begun),
        Figure("Stuck", stuck_word(state, known.history), note=note, gauge=30 + 50 * struck / max(1, allowed)),
    )


def _failing_figure(marks: Sequence[TimelineMark], back: GoneBack | None) -> Figure:
    name = "Failing tests"
    if back is not None and back.counts is not None:
        return Figure(name, str(back.counts.failing), note=f"of {back.counts.total}, as measured at {back.label}")
    if back is not None:
        return Figure(name, "–", note=f"{back.label} was not measured")
    counted = last_counted(marks)
    if not counted:
        return Figure(name, "–", note="the gate counts no tests" if marks else "not measured yet")
    counts = counted[-1].counts
    where = "" if counted[-1].lane == MAIN else f" in {counted[-1].lane}"
    note = f"of {counts.total}{where}" + (f"; was {counted[0].failing}" if len(counted) > 1 else "")
    if counts.known_failing:
        return Figure(
            name, str(counts.failing), "new", f"{counts.known_failing} known failing since before the task; {note}"
        )
    return Figure(name, str(counts.failing), note=note)


def _items_figure(items: tuple[subtasks.ItemShown, ...]) -> Figure:
    if not items:
        return Figure("Items accepted", "–", note="none planned yet")
    done = sum(item.done for item in items)
    begun = [item.chip.word.partition(",")[0] for item in items if not item.done and item.chip != subtasks.TO_COME]
    told = ", ".join(f"{count} {name}" for name, count in Counter(begun).items())
    rest = f"{len(items) - done} to come" if done < len(items) else "all"
    return Figure("Items accepted", str(done), f"of {len(items)}", told or rest)


def _money_figure(state: State) -> Figure:
    cap = state.task.settings.limits.budget_usd
    amount = spent_amount(state)
    if amount == "–":
        return Figure("Spent", "–", note="agent reports none")
    note = f"{state.usage.tokens:,} tokens" if state.usage.tokens else ""
    if cap is None:
        return Figure("Spent", amount, note=note)
    return Figure("Spent", amount, f"of {dollars(cap)}", meter=min(1.0, state.known_usd / cap))
