"""The page of a task: whether it goes anywhere, and whether it waits for somebody."""

import msgspec
from msgspec.structs import replace

from flyball.core.loop.workflow import BATCH_HELD, BOTH_GATES
from flyball.core.text.quantities import plural
from flyball.projections.history.records import Judgement
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import TimelineMark
from flyball.projections.pages import subtasks
from flyball.projections.pages.chips import Chip, health_chip, verdict_chip
from flyball.projections.pages.figures import Figure, Weakness, figures, weaknesses
from flyball.projections.pages.gone_back import GoneBack
from flyball.projections.pages.summary import Known, Summary, spent_amount, summarize
from flyball.projections.plots.failing import WIDTHS, failing_plot
from flyball.projections.plots.failing_story import failing_story
from flyball.projections.plots.graph import graph
from flyball.projections.plots.lanes import Rows, rows_of
from flyball.projections.plots.progress import is_told
from flyball.projections.plots.spending import Course, QuestionSpan, coarse, course_plot
from flyball.projections.views.standing import stuck
from flyball.projections.wording import dollars, duration

FEW, PAGE = 14, 50
WRONG = frozenset({"rejected", "rolled back", "false claim", "asks you"})
HEALTHY = frozenset({"PROGRESSING", "INITIALIZING"})


class IterationShown(msgspec.Struct, frozen=True):
    mark: TimelineMark
    judged: Judgement
    item: str
    lane: str
    verdict: Chip
    health: Chip
    evidence: str
    delta: str
    turn_note: str


class Plot(msgspec.Struct, frozen=True):
    """A picture at each width, and the sentence it tells."""

    pictures: tuple[str, ...]
    story: str


class TaskPage(msgspec.Struct, frozen=True):
    summary: Summary
    decision: str
    sentence: str
    agent: str
    figures: tuple[Figure, ...]
    rail: tuple[subtasks.RailStop, ...]
    rail_words: subtasks.RailStop
    items: tuple[subtasks.ItemShown, ...]
    graph: str
    failing: Plot | None
    course: Plot | None
    iterations: tuple[IterationShown, ...]
    earlier: int
    wrong: int
    facts: int
    stuck: str
    weaknesses: tuple[Weakness, ...]


def task_page(known: Known) -> TaskPage:
    summary = summarize(known)
    state, history = known.state, known.history
    rows = iterations_shown(history, last=FEW)
    items = subtasks.items_shown(state, history, controlled=known.seen.controlled)
    stops = subtasks.rail(state, controlled=known.seen.controlled)
    choice = state.task.settings.choice("default")
    fallback = f", fallback {', '.join(choice.fallback)}" if choice.fallback else ""
    return TaskPage(
        summary,
        "ABORTED" if summary.word == "ABORTED" else summary.status.decision,
        _sentence(summary, items),
        f"{choice.agent}{f', {choice.model}' if choice.model else ''}{fallback}",
        figures(known, items, summary.back),
        stops,
        subtasks.place_on_rail(stops),
        subtasks.by_need(items),
        graph(subtasks.nodes(items, summary.path), label="subtasks-caption"),
        failing_of(known, summary.back),
        course_of(known),
        tuple(reversed(rows)),
        max(0, len(history.judgements) - FEW),
        sum(map(is_wrong, history.timeline.marks, history.judgements)),
        state.seq,
        stuck(state, history),
        weaknesses(state, history),
    )


def _sentence(summary: Summary, items: tuple[subtasks.ItemShown, ...]) -> str:
    """One line of evidence beside the decision; what weakens it first."""
    question = next((each for each in summary.status.questions if each.text == summary.headline), None)
    if question is not None:
        return f"{question.id} waits for your answer."
    if summary.group != "under way":
        return summary.headline if summary.group == "needs" else summary.line
    parts = []
    if items:
        parts.append(f"{sum(item.done for item in items)} of {plural(len(items), 'item')} accepted")
    if summary.failing is not None:
        verb = "failed when it was measured" if summary.back else "fails" if summary.failing == 1 else "fail"
        where = f" in {summary.failing_in}" if summary.failing_in else ""
        parts.append(f"{plural(summary.failing, 'test')} {verb}{where}")
    told = "; ".join([*parts, summary.line])
    return f"{told[:1].upper()}{told[1:]}."


def failing_of(known: Known, back: GoneBack | None) -> Plot | None:
    marks = known.history.timeline.marks
    if not marks:
        return None
    returned = (back.label, back.counts.failing if back.counts else None) if back else None
    rows = rows_of(known.history.timeline.lanes)
    pictures = tuple(
        failing_plot(marks, width, label="failing-story", rows=rows, returned=returned) for width in WIDTHS
    )
    baseline = known.state.baseline
    story = failing_story(marks, baseline.counts.known_failing if baseline else 0, returned)
    return Plot(pictures, story)


def course_of(known: Known) -> Plot | None:
    """Time and money."""
    state, timeline = known.state, known.history.timeline
    if not timeline.bars:
        return None
    deadlines = {key: asked.question.deadline_at for key, asked in state.questions.items()}
    asked = [
        QuestionSpan(put.id, put.asked_at, put.answered_at, deadlines.get(key))
        for key, put in known.history.questions.items()
    ]
    course = Course(
        known.now,
        known.running,
        timeline,
        coarse(timeline.bars, timeline.sittings, known.now),
        asked,
        rows_of(timeline.lanes),
        state.task.settings.limits.budget_usd,
        state.dearest_turn.usd,
    )
    pictures = tuple(course_plot(course, width, label="course-story") for width in WIDTHS)
    return Plot(pictures, _course_story(known))


def _course_story(known: Known) -> str:
    state = known.state
    lanes = len(set(rows_of(known.history.timeline.lanes).values()))
    in_lanes = f" in {lanes} lanes" if lanes > 1 else ""
    told = f"{duration(known.at_work_s)} at work{in_lanes} since {state.task.opened_at:%H:%M} UTC"
    told += f", {duration(known.waiting_s)} of it waiting" if known.waiting_s >= 60 else ""
    progress = known.history.timeline.progress
    told += f". {progress[-1].done} of {plural(progress[-1].of, 'item')} done" if is_told(progress) else ""
    cap = state.task.settings.limits.budget_usd
    money = spent_amount(state)
    if money == "–":
        return f"{told}. The agent reports no money."
    return f"{told}. {money}{f' of {dollars(cap)}' if cap else ''} spent."


def is_wrong(mark: TimelineMark, judged: Judgement) -> bool:
    """Whether an iteration is worth a look for itself."""
    return mark.kind in WRONG or judged.health not in HEALTHY


def iterations_shown(history: TaskHistory, *, only_wrong: bool = False, last: int = 0) -> list[IterationShown]:
    """All of them, or the last few, oldest first; a failure that repeats is told once, in the newest of its rows."""
    lanes = rows_of(history.timeline.lanes)
    before: dict[str, int] = {}
    rows = []
    first = len(history.judgements) - last if last else 0
    for place, (mark, judged) in enumerate(zip(history.timeline.marks, history.judgements, strict=True)):
        if place >= first and (not only_wrong or is_wrong(mark, judged)):
            rows.append(_row(mark, judged, history, lanes, before.get(mark.lane)))
        if mark.failing is not None:
            before[mark.lane] = mark.failing
    newest = rows[-1] if rows else None
    for place, shown in reversed([*enumerate(rows)][:-1]):
        if newest is not None and shown.evidence == newest.evidence and not shown.judged.can_exit:
            rows[place] = replace(shown, evidence=f"the same as {newest.mark.number}")
        else:
            newest = shown
    return rows


def _row(
    mark: TimelineMark, judged: Judgement, history: TaskHistory, lanes: Rows, before: int | None
) -> IterationShown:
    turn = history.turn(mark.turn)
    note = ""
    if turn is not None and turn.outcome:
        usd = turn.usage.usd
        note = duration(turn.seconds) + (f" · ${usd:.2f}" if usd else "")
    return IterationShown(
        mark,
        judged,
        mark.item or f"{mark.stage} {judged.iteration}",
        lanes.get(mark.lane, "") if len(lanes) > 1 else "",
        verdict_chip(mark.kind),
        health_chip(judged.health),
        _evidence(mark, judged),
        _delta(mark, before),
        note,
    )


def _evidence(mark: TimelineMark, judged: Judgement) -> str:
    if judged.false_claim:
        first = judged.missing[0] if judged.missing else judged.evidence
        return f"says done; measured: {first}"
    if judged.can_exit:
        return BATCH_HELD if judged.batch else BOTH_GATES
    first = f"; {judged.missing[0]}" if judged.missing and mark.kind == "rejected" else ""
    rung = f"; remedy: {judged.rung}" if judged.rung else ""
    return f"{judged.evidence}{first}{rung}"


def _delta(mark: TimelineMark, before: int | None) -> str:
    if mark.kind == "rolled back":
        return "back"
    if mark.failing is None or before is None:
        return ""
    change = mark.failing - before
    return "±0" if not change else f"+{change}" if change > 0 else f"−{-change}"
