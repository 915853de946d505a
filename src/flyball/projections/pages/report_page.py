"""The report as a page, for whoever decides about the merge."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flyball.core.text.quantities import plural
from flyball.projections.history.spend import Spend
from flyball.projections.history.timeline import TimelineMark
from flyball.projections.pages import subtasks
from flyball.projections.pages.chips import Chip
from flyball.projections.pages.figures import Figure
from flyball.projections.pages.summary import Known, Summary, spent, summarize
from flyball.projections.pages.task_page import (
    MOST_TABLE_ROWS,
    IterationShown,
    Plot,
    course_of,
    failing_of,
    iterations_shown,
)
from flyball.projections.pages.weaknesses import Weakness, weaknesses
from flyball.projections.plots.spending import dollars, waited
from flyball.projections.views.report import Report, report
from flyball.projections.views.standing import state_once_delivered
from flyball.projections.wording import duration


class ReportPage(msgspec.Struct, frozen=True):
    """Everything a person needs to judge the work without having watched it."""

    summary: Summary
    chip: Chip
    report: Report
    figures: tuple[Figure, ...]
    items: tuple[subtasks.ItemShown, ...]
    failing: Plot | None
    course: Plot | None
    marks: Sequence[TimelineMark]
    iterations: Sequence[IterationShown]
    rejections: dict[str, str]
    facts: int
    merge: str
    sentence: str
    weaknesses: tuple[Weakness, ...]


def report_page(known: Known) -> ReportPage:
    """The report as of the last fact; one that is saved on the branch says how the task will stand once that is done."""
    known = msgspec.structs.replace(known, state=state_once_delivered(known.state))
    summary = summarize(known)
    made = report(known.state, known.history)
    rows = iterations_shown(known.history, only_wrong=True)
    return ReportPage(
        summary,
        summary.chips[0],
        made,
        _figures(known, made),
        subtasks.items_shown(known.state, known.history),
        failing_of(known),
        course_of(known),
        known.history.timeline.marks[-MOST_TABLE_ROWS:],
        rows[-PAGE_ROWS:],
        _remarks(known),
        known.state.seq,
        made.next_command,
        f"{summary.evidence[:1].upper()}{summary.evidence[1:]}." if made.decision == "DONE" else summary.headline,
        weaknesses(known.state, known.history),
    )


PAGE_ROWS = 200


def _figures(known: Known, made: Report) -> tuple[Figure, ...]:
    cap = known.state.task.settings.limits.budget_usd
    waiting = waited(known.history.timeline.pauses, known.now).total_seconds()
    money = spent(known.state)
    refused = len(made.false_claims)
    return (
        Figure("Iterations", str(made.iterations), note=plural(made.total.turns, "turn")),
        Figure(
            "Spent",
            money,
            note=f"of {dollars(cap)}" if cap else "agent reports none" if money == "–" else _tokens(made.total),
        ),
        Figure("Time", duration(made.elapsed_s), note=f"{duration(waiting)} waiting" if waiting >= 60 else "at work"),
        Figure("False claims", str(refused), note="all refused" if refused else "none was made"),
    )


def _tokens(total: Spend) -> str:
    if total.input_tokens is None or total.output_tokens is None:
        return "agent reports no tokens"
    return f"{'at least ' if total.untold else ''}{total.input_tokens + total.output_tokens:,} tokens"


def _remarks(known: Known) -> dict[str, str]:
    """What was the matter with an item on its way, by its id."""
    told: dict[str, dict[str, int]] = {}
    for mark in known.history.timeline.marks:
        if mark.item and mark.kind in {"rejected", "rolled back"}:
            counts = told.setdefault(mark.item, {})
            counts[mark.kind] = counts.get(mark.kind, 0) + 1
    names = {"rejected": "rejection", "rolled back": "rollback"}
    return {
        item: "after " + " and ".join(plural(count, names[kind]) for kind, count in counts.items())
        for item, counts in told.items()
    }
