"""The report as a page, for whoever decides about the merge."""

from collections import Counter

import msgspec

from flyball.core.text.quantities import plural
from flyball.projections.history.spend import Spend
from flyball.projections.pages import subtasks
from flyball.projections.pages.figures import Figure, Weakness, weaknesses
from flyball.projections.pages.summary import Known, Summary, spent_amount, summarize
from flyball.projections.pages.task_page import Plot, course_of, failing_of
from flyball.projections.views.forecast import compare_forecast
from flyball.projections.views.report import Report, report
from flyball.projections.views.standing import state_once_delivered
from flyball.projections.wording import dollars, duration


class ReportPage(msgspec.Struct, frozen=True):
    """Everything a person needs to judge the work without having watched it."""

    summary: Summary
    report: Report
    figures: tuple[Figure, ...]
    items: tuple[subtasks.ItemShown, ...]
    failing: Plot | None
    course: Plot | None
    rejections: dict[str, str]
    facts: int
    sentence: str
    weaknesses: tuple[Weakness, ...]


def report_page(known: Known) -> ReportPage:
    """The report as of the last fact; one that is saved on the branch says how the task will stand once that is done."""
    known = msgspec.structs.replace(known, state=state_once_delivered(known.state))
    summary = summarize(known)
    made = report(known.state, known.history)
    return ReportPage(
        summary,
        made,
        _figures(known, made),
        subtasks.items_shown(known.state, known.history),
        failing_of(known, summary.back),
        course_of(known),
        _remarks(known),
        known.state.seq,
        f"{summary.evidence[:1].upper()}{summary.evidence[1:]}." if made.decision == "DONE" else summary.headline,
        weaknesses(known.state, known.history),
    )


def _figures(known: Known, made: Report) -> tuple[Figure, ...]:
    cap = known.state.task.settings.limits.budget_usd
    waiting = f"{duration(known.waiting_s)} waiting" if known.waiting_s >= 60 else "at work"
    money = spent_amount(known.state)
    refused = len(made.false_claims)
    forecast = made.forecast
    expected = f"; {compare_forecast(forecast, made.total.turns, made.elapsed_s)}" if forecast else ""
    of = f"of {dollars(cap)}" if cap else "agent reports none" if money == "–" else _tokens(made.total)
    return (
        Figure("Iterations", str(made.iterations), note=plural(made.total.turns, "turn")),
        Figure("Spent", money, note=of),
        Figure("Time", duration(made.elapsed_s), note=f"{waiting}{expected}"),
        Figure("False claims", str(refused), note="all refused" if refused else "none was made"),
    )


def _tokens(total: Spend) -> str:
    if total.input_tokens is None or total.output_tokens is None:
        return "agent reports no tokens"
    return f"{'at least ' if total.untold else ''}{total.input_tokens + total.output_tokens:,} tokens"


def _remarks(known: Known) -> dict[str, str]:
    """What was the matter with an item on its way, by its id."""
    names = {"rejected": "rejection", "rolled back": "rollback"}
    told: dict[str, Counter[str]] = {}
    for mark in known.history.timeline.marks:
        if mark.item and mark.kind in names:
            told.setdefault(mark.item, Counter())[names[mark.kind]] += 1
    return {
        item: "after " + " and ".join(plural(count, name) for name, count in counts.items())
        for item, counts in told.items()
    }
