"""A task in a few lines, for every list of tasks: whether it needs a person, whether it moves, what came out."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from flyball.core.model.effects import Ask, RunAgent, Wait
from flyball.core.model.events import PersonSpoke
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import TimelineMark, last_counted
from flyball.projections.pages.chips import Chip, state_chip
from flyball.projections.pages.gone_back import GoneBack, gone_back
from flyball.projections.plots.spending import waiting_time
from flyball.projections.views.situation import Seen, Word
from flyball.projections.views.status import QuestionShown, Status, status
from flyball.projections.wording import clock_time, dollars, guard_name, name_lane, plain, short_time

Group = Literal["needs", "under way", "finished"]
NEARLY = 0.9
"""A budget of which more than this is spent is nearly gone."""
_NEEDY = frozenset({"NEEDS YOU", "BLOCKED", "LIMIT", "LOST CONTACT"})
_OVER = frozenset({"DONE", "MERGED", "ABORTED"})
ANSWERS = {"reset": "Try again", "skip": "Skip the stage", "abort": "Abort"}
FREE = "TEXT"


class Answer(msgspec.Struct, frozen=True):
    """An answer that may be chosen: what it is called on a button, its key, and whether it is taken by itself."""

    label: str
    key: str
    meaning: str = ""
    default: bool = False


class Place(msgspec.Struct, frozen=True):
    """Where a task is: the folder of its repository in flyball's home, and the repository's name."""

    repo: str
    name: str

    def path(self, task: str) -> str:
        return f"/t/{self.repo}/{task}"


class Known(msgspec.Struct, frozen=True):
    place: Place
    state: State
    history: TaskHistory
    said: Sequence[PersonSpoke]
    seen: Seen
    now: datetime
    holder: str = ""

    @property
    def running(self) -> bool:
        return self.state.stopped is None and self.seen.controlled

    @property
    def at_work_s(self) -> float:
        working = self.running and not self.state.waits_for_person
        beyond = max(0.0, (self.now - self.state.now).total_seconds()) if working else 0.0
        return self.state.elapsed.total_seconds() + beyond

    @property
    def waiting_s(self) -> float:
        """Seconds of that in which guards kept the task waiting."""
        return waiting_time(self.history.timeline.pauses, self.now).total_seconds()

    @property
    def last_fact_at(self) -> datetime:
        return self.history.last_activity or self.state.now


class Summary(msgspec.Struct, frozen=True):
    place: Place
    task: str
    number: str
    title: str
    workflow: str
    word: Word
    chips: tuple[Chip, ...]
    group: Group
    headline: str
    evidence: str
    line: str
    command: str
    status: Status
    question: QuestionShown | None
    answers: tuple[Answer, ...]
    marks: Sequence[TimelineMark]
    failing: int | None
    failing_was: int | None
    failing_in: str
    back: GoneBack | None
    spent: str
    cap: float | None
    at_work_s: float
    at_work: bool
    since: datetime

    @property
    def path(self) -> str:
        return self.place.path(self.task)

    def at_work_since(self, now: datetime) -> datetime:
        """When a clock began that goes on now and shows the time at work."""
        return now - timedelta(seconds=self.at_work_s)

    @property
    def used(self) -> float:
        """Which part of the budget is spent; 0 where there is none."""
        return min(1.0, self.status.usage.known_usd / self.cap) if self.cap else 0.0


def title_of(request: str) -> str:
    return plain(next((line for line in request.splitlines() if line.strip()), request).lstrip("# "), 120)


def summarize(known: Known) -> Summary:
    state, history = known.state, known.history
    shown = status(state, history, known.said, seen=known.seen)
    question = shown.questions[0] if shown.questions else None
    counted = last_counted(history.timeline.marks)
    headline, evidence = _headline(known, shown, question)
    back = gone_back(history)
    measured = counted[-1].failing if counted else None
    return Summary(
        place=known.place,
        task=shown.task,
        number=shown.task.partition("-")[0],
        title=title_of(shown.request),
        workflow=shown.workflow,
        word=shown.state,
        chips=_chips(known, shown),
        group=_group(shown),
        headline=headline,
        evidence=evidence,
        line=_line(known, shown),
        command=shown.next_command or (f"flyball resume {shown.task}" if shown.state == "LOST CONTACT" else ""),
        status=shown,
        question=question,
        answers=answers_of(question) if question else (),
        marks=history.timeline.marks,
        failing=measured if back is None else back.counts.failing if back.counts else None,
        failing_was=counted[0].failing if counted else None,
        failing_in=counted[-1].lane if counted and counted[-1].lane != MAIN and back is None else "",
        back=back,
        spent=spent_amount(state),
        cap=shown.limits.budget_usd,
        at_work_s=known.at_work_s,
        at_work=known.running and not known.state.waits_for_person,
        since=known.last_fact_at,
    )


def spent_amount(state: State) -> str:
    """Money as it is known: a dash where nobody says, "about" where it was estimated, a lower bound where a part is known."""
    usage = state.usage
    if usage.usd is not None:
        return ("about " if usage.estimated and usage.usd else "") + f"${usage.usd:.2f}" if state.turns else "$0.00"
    return f"at least ${state.known_usd:.2f}" if state.known_usd else "–"


def _group(shown: Status) -> Group:
    if shown.state in _NEEDY:
        return "needs"
    if shown.state in _OVER:
        return "finished"
    cap = shown.limits.budget_usd
    return "needs" if cap and shown.usage.known_usd >= NEARLY * cap and shown.state == "RUNNING" else "under way"


def _chips(known: Known, shown: Status) -> tuple[Chip, ...]:
    many = len(shown.running_turns)
    turns = plural(many, "turn") if many > 1 else ""
    match shown.state:
        case "RUNNING":
            return (state_chip("RUNNING", turns),)
        case "NEEDS YOU" if many:
            return (state_chip("NEEDS YOU"), state_chip("RUNNING", turns))
        case "WAITING":
            until = shown.held.until if shown.held else None
            return (state_chip("WAITING", f"until {short_time(until, known.now)}" if until else ""),)
        case "PAUSED":
            stopped = known.history.stops[-1][0] if known.history.stops else known.state.now
            by = "by you, " if known.state.stopped is not None and "person" in known.state.stopped.reason else ""
            return (state_chip("PAUSED", f"{by}{short_time(stopped, known.now)}"),)
    return (state_chip(shown.state),)


def answers_of(question: QuestionShown) -> tuple[Answer, ...]:
    """What may be chosen; free words have a field of their own."""
    return tuple(
        Answer(ANSWERS.get(option.key, option.key), option.key, option.meaning, option.key == question.default)
        for option in question.options
        if option.key not in {FREE, "modify"}
    )


def _headline(known: Known, shown: Status, question: QuestionShown | None) -> tuple[str, str]:
    """What stands out of a card: a question or a reason, and the evidence below it."""
    if question is not None and shown.state in {"NEEDS YOU", "BLOCKED"}:
        more = [line for line in (question.detail or shown.reason).splitlines() if line not in question.text]
        return plain(question.text, 400), plain(" · ".join(more), 400)
    stopped = shown.stopped
    if shown.state == "LOST CONTACT":
        held = f"{known.holder}; " if known.holder else ""
        return (
            "The controller is gone. The journal is safe; resume the task to continue.",
            f"{held}last fact at {known.last_fact_at:%H:%M:%S} UTC.",
        )
    if stopped is not None:
        evidence = "; ".join(stopped.evidence) or _result(known, shown)
        return _sentence(stopped.reason), plain(evidence, 400)
    if _group(shown) == "needs":
        cap = shown.limits.budget_usd or 0.0
        return f"The budget is nearly gone: {dollars(shown.usage.known_usd)} of {dollars(cap)}.", shown.reason
    return _sentence(shown.reason), ""


def _sentence(text: str) -> str:
    text = plain(text, 400).rstrip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", "…")) else ".")


def _result(known: Known, shown: Status) -> str:
    """What came out, in numbers; what weakens a claim comes first."""
    weak = [f"{forced.stage} skipped, unverified" for forced in shown.forced]
    weak += [each.clause for each in shown.unverified]
    counted = []
    counts = known.history.measured.counts if known.history.measured else None
    if counts and counts.total:
        still = f", {counts.known_failing} known failing" if counts.known_failing else ""
        counted.append(f"{counts.passing} passed, {counts.failing} failed{still}")
    checks = known.history.checked.checks if known.history.checked else ()
    if checks:
        counted.append(f"{sum(c.status == 'pass' for c in checks)} of {plural(len(checks), 'check')}")
    if known.state.false_claims:
        counted.append(f"{plural(known.state.false_claims, 'false claim')} refused")
    return "; ".join([*weak, *counted])


def _line(known: Known, shown: Status) -> str:
    """The sentence beside a state's word."""
    match shown.state:
        case "RUNNING":
            return _doing(known)
        case "NEEDS YOU":
            asked = shown.questions[0]
            if asked.default is None or asked.deadline_at is None:
                return f"{asked.id} waits for you"
            if asked.deadline_at <= known.now:
                return f"{asked.id} asks; its deadline, {clock_time(asked.deadline_at, known.now)}, has passed"
            return f"{asked.id} asks; {asked.default} is taken at {clock_time(asked.deadline_at, known.now)}"
        case "WAITING":
            held = shown.held
            assert held is not None
            return f"{guard_name(held.guard)}: {held.reason}; no call is made before then"
        case "DONE" | "MERGED":
            told = _result(known, shown) or "gates passed"
            return f"{told}; merged into {shown.merged_into}" if shown.merged_into else told
        case "ABORTED":
            kept = plural(len(shown.checkpoints), "checkpoint")
            stays = "stays" if len(shown.checkpoints) == 1 else "stay"
            return f"by a person after {plural(shown.iterations, 'iteration')}; {kept} {stays}"
        case "LOST CONTACT":
            held_by = f"{known.holder}, " if known.holder else ""
            return f"{held_by}last fact {known.last_fact_at:%H:%M:%S}; the journal is safe"
    return plain(shown.stopped.reason if shown.stopped else shown.reason)


def _doing(known: Known) -> str:
    state = known.state
    working = [effect for effect in state.open.values() if not isinstance(effect, Ask | Wait)]
    turns = [effect for effect in working if isinstance(effect, RunAgent)]
    if turns:
        turn = turns[0]
        more = f" · and {plural(len(turns) - 1, 'more turn')}" if turns[1:] else ""
        return f"{turn.stage} {turn.iteration} · turn {turn.turn} {turn.role} ({turn.agent}) · since {clock_time(turn.begun_at, known.now)}{more}"
    lane = state.lanes[working[0].lane] if working else state.main
    place = name_lane(lane.name, f"{lane.stage} {lane.loop.iteration + 1}")
    if working:
        return f"{place} · {working[0].step} · since {clock_time(working[0].begun_at, known.now)}"
    return f"{place} · between steps"
