"""The live view as a picture of one moment: a value in, lines of text out, whatever the width."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec
from rich.console import Console
from rich.text import Text

from flyball.cli.screen.lanes import LABEL, add_bar, effect_line, lane_rows, progress
from flyball.core.model.effects import Ask, Effect, Measure, Wait
from flyball.core.model.state import State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import first_few, plural
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.records import Tally, Verification
from flyball.projections.views.lanes import last_judged
from flyball.projections.views.situation import sentence, situation
from flyball.projections.views.standing import forced_stages, live_items
from flyball.projections.wording import duration, guard_name, money, plain

NARROWEST = 24
WIDEST = 120
"""Lines stay this short on any terminal: they are read at a glance, and a terminal made narrower folds them in three at most."""
SUDDENLY = 40
_HEALTHY = {"PROGRESSING": "green", "INITIALIZING": "dim"}
_STUCK = {"yes": "bold red", "nearly": "yellow"}
_CONSOLE = Console()
"""Folds texts; prints nothing."""
_WORDS = (
    ("stage", "a step of the work; it ends when its gate passes and the agent is done"),
    ("gate", "a command that must pass, such as your tests; flyball runs it itself"),
    ("verdict", "after each iteration: CONTINUE, stage complete, or BLOCKED: it needs you"),
    ("health", "PROGRESSING, or what is wrong: STALLED, REGRESSING, FLIP-FLOPPING, BLOCKED"),
    ("stuck", "iterations without progress; at the limit flyball stops and asks you"),
)
_KEYS = (
    ("p", "pause when this iteration ends; p again cancels"),
    ("d", "show the agent's last lines, what fails and what is wanted"),
    ("q", "leave: the loop goes on, this terminal is free"),
    ("Ctrl-C", "stop and save; continue with: flyball resume"),
)


class View(msgspec.Struct, frozen=True):
    """What the picture is made from; replaced as a whole, so that no reader sees half of a change."""

    state: State
    measured: Verification | None = None
    health: str = "INITIALIZING"
    stuck: str = "no"
    evidence: str = ""
    failing: tuple[str, ...] = ()


class Moment(msgspec.Struct, frozen=True):
    """What passes without being a fact: the time, what an agent or a gate said last, and what a person wants to see."""

    now: datetime
    said: tuple[str, ...] = ()
    command: str = ""
    keys: str = ""
    note: str = ""
    detail: bool = False
    help: bool = False
    heard: dict[str, str] = {}
    """What was said last in each lane beside the task's own."""


def panel(view: View, moment: Moment, width: int, height: int = 24) -> list[Text]:
    """The picture, one Text a line, folded between words; none is wider than the terminal."""
    width = min(width, WIDEST)
    rows = _help_rows(moment.keys) if moment.help else _rows(view, moment, width)
    lines = [Text("─" * min(width, SUDDENLY), "dim"), *fold_text(_header(view.state), width)]
    for label, text in rows:
        lines += label_lines(label, text, width)
    last = fold_text(Text(moment.note, "bold yellow"), width) if moment.note else []
    last += fold_text(Text("? back" if moment.help else moment.keys, "dim"), width) if moment.keys else []
    # As many lines as a terminal of this height still holds if it is suddenly narrower.
    while len(lines) > 1 and _rows_if_narrow(lines) + _rows_if_narrow(last) >= height:
        lines.pop()
    return [*lines, *last]


def _help_rows(offered: str) -> Iterator[tuple[str, Text]]:
    """The words of the live view, explained in its place while help is wanted; and of the keys, those that work here."""
    keys = [row for row in _KEYS if f"{row[0]} " in offered]
    return ((word, Text(meaning)) for word, meaning in (*_WORDS, *keys))


def _rows_if_narrow(lines: list[Text]) -> int:
    return sum(1 + max(0, line.cell_len - 1) // SUDDENLY for line in lines)


def _rows(view: View, moment: Moment, width: int) -> Iterator[tuple[str, Text]]:
    state = view.state
    yield "", _stages(state, width)
    done = progress(state, width)
    if done is not None:
        yield "done", done
    lanes = [*lane_rows(state, moment.heard, moment.now, width)]
    if not lanes or any(effect.lane == MAIN for effect in state.open.values()) or state.stopped is not None:
        yield "now", _doing(state, moment)
    for said in () if moment.detail or lanes else moment.said[-1:]:
        yield " ", Text(plain(said, 160), "dim")
    yield from lanes
    yield "gates", _gates(view, width)
    evidence = f": {plain(view.evidence)}" if view.evidence else ""
    yield "health", Text.assemble((view.health, _HEALTHY.get(view.health, "bold yellow")), evidence)
    yield "stuck", Text(view.stuck, _STUCK.get(re.split("[ ,:]", view.stuck)[0], "green"))
    yield "spent", _spend(state, moment.now)
    if moment.detail:
        yield from _details(view, moment)


def _details(view: View, moment: Moment) -> Iterator[tuple[str, Text]]:
    """What the agent said last, what the last measurement found, and what the stage still wants."""
    for n, said in enumerate(moment.said[-4:]):
        yield " " if n else "agent", Text(plain(said), "dim")
    for gate in view.measured.gates if view.measured else ():
        if gate.broken:
            yield "broken", Text(f"{gate.name} cannot run: {plain(gate.broken)}", "yellow")
    if view.failing:
        yield "failing", Text(first_few([plain(name.rpartition("::")[2]) for name in view.failing]), "red")
    lane = last_judged(view.state)
    missing = lane.loop.judged.gate_1.missing if lane is not None and lane.loop.judged is not None else ()
    if missing:
        yield "missing", Text(first_few([plain(m) for m in missing], 3))


def fold_text(text: Text, width: int) -> list[Text]:
    """Lines no wider than this; a word is cut only where it is wider itself."""
    lines = list(text.wrap(_CONSOLE, max(1, width), overflow="fold"))
    for line in lines:
        line.rstrip()
    return lines


def label_lines(label: str, text: Text, width: int) -> list[Text]:
    """A text beside its label, and further lines below the first."""
    if not label or width < NARROWEST:
        return fold_text(Text.assemble((f"{label.strip()} " if label.strip() else "", "dim"), text), width)
    lines = fold_text(text, width - LABEL) or [Text()]
    return [Text.assemble((("" if n else label.strip()).ljust(LABEL), "dim"), line) for n, line in enumerate(lines)]


def _header(state: State) -> Text:
    branch = state.prepared.branch if state.prepared else "preparing"
    word = sentence(state, situation(state))
    pausing = ", pauses after this iteration" if state.pausing and state.stopped is None else ""
    return Text.assemble(
        (state.task.id, "bold"), " · ", (f"{word}{pausing}", "bold"), f" · {state.task.workflow} · {branch}"
    )


def _stages(state: State, width: int) -> Text:
    """RED ▸ GREEN ▸ …: what is done, skipped, present and to come."""
    names = workflow_of(state.task).stages
    if width < sum(len(name) + 5 for name in names):
        place = names.index(state.main.stage) + 1 if state.main.stage in names else 0
        return Text.assemble((state.main.stage, "bold reverse"), f" stage {place} of {len(names)}")
    done = {visit.stage for visit in state.main.visits if visit.completed_at is not None}
    forced = set(forced_stages(state))
    finished = state.decision == "DONE"
    text = Text()
    for name in names:
        text.append(" ▸ " if text else "", "dim")
        if name == state.main.stage and not finished:
            text.append(f" {name} ", "bold reverse")
        elif name in forced:
            text.append(f"! {name}", "yellow")
        else:
            text.append(f"✓ {name}" if name in done or finished else name, "green" if name in done else "dim")
    return text


def _doing(state: State, moment: Moment) -> Text:
    text = Text.assemble("iteration ", (str(state.main.loop.iteration + 1), "bold"), " · ")
    if state.stopped is not None:
        return text.append(f"stopped: {plain(state.stopped.reason)}")
    own = [effect for effect in state.open.values() if effect.lane == MAIN]
    working = [o for o in own if not isinstance(o, Wait | Ask)]
    waiting = [o for o in own if isinstance(o, Wait | Ask)]
    if not working and not waiting:
        return text.append("between steps", "dim")
    text.append(_under_way(state, (working or waiting)[0], moment))
    more = len(working) - 1
    return text.append(f" · and {more} more") if more > 0 else text


def _under_way(state: State, effect: Effect, moment: Moment) -> str:
    if isinstance(effect, Wait):
        held = state.lanes[effect.lane].held
        guard = f" ({guard_name(held.guard)})" if held else ""
        return f"waits {countdown(effect.until - moment.now)} more{guard}: {plain(effect.reason)}"
    command = f" · {plain(moment.command, 60)}" if moment.command and isinstance(effect, Measure) else ""
    answer = f" · answer with: flyball answer {state.task.id} {effect.id} TEXT" if isinstance(effect, Ask) else ""
    return f"{effect_line(effect, moment.now)}{command}{answer}"


def countdown(left: timedelta) -> str:
    """`4:05`, `1:02:09`."""
    seconds = max(0, round(left.total_seconds()))
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes}:{seconds % 60:02d}"


def _gates(view: View, width: int) -> Text:
    measured = view.measured
    if measured is None:
        return Text("not measured yet", "dim")
    text = Text() if measured.lane == MAIN else Text(f"{plain(measured.lane)} ", "bold")
    text = text.append_text(_counts(measured.counts, width)) if measured.counts.total else text
    for gate in measured.gates:
        mark, style = ("✓", "green") if gate.passed else ("?", "yellow") if gate.broken else ("✗", "red")
        text.append("  " if text else "").append(f"{mark} {gate.name}", style)
    covered = _criteria(view.state)
    if covered and progress(view.state, width) is None:
        text.append(f"  {'criteria' if workflow_of(view.state.task).verifying else 'items'} {covered}")
    failed = [check.name for check in measured.checks if check.status == "fail"]
    if measured.checks:
        passed = sum(check.status == "pass" for check in measured.checks)
        text.append(f"  checks {passed}/{len(measured.checks)}" + (f" ({first_few(failed)} fail)" if failed else ""))
    return text


def _counts(counts: Tally, width: int) -> Text:
    text = add_bar(Text(), counts.passing, counts.total, width, "yellow" if counts.failing else "green")
    text.append(f" {counts.passing}/{counts.total}")
    if counts.failing:
        text.append(f" {counts.failing} failing", "red")
    return text.append(f" {counts.known_failing} known failing", "dim") if counts.known_failing else text


def _criteria(state: State) -> str:
    """How many criteria have a test, where a stage covers them first; elsewhere, how many items are done."""
    if not state.items:
        return ""
    covering = workflow_of(state.task).covering
    if not covering:
        return f"{sum(item.status == 'completed' for item in live_items(state))}/{len(state.items)}"
    if state.main.stage == covering:
        values = state.main.loop.judged.gate_1.values if state.main.loop.judged else {}
        return f"{values.get('criteria_covered', 0)}/{len(state.items)}"
    return "unverified" if covering in forced_stages(state) else f"{len(state.items)}/{len(state.items)}"


def _spend(state: State, now: datetime) -> Text:
    usage = state.usage
    elapsed = state.elapsed
    if state.session_began_at is not None and state.stopped is None and not state.waits_for_person:
        elapsed += max(now - state.now, timedelta(0))
    parts = [plural(state.turns, "turn")]
    if usage.input_tokens or usage.output_tokens:
        parts.append(f"{_short(usage.input_tokens)} in, {_short(usage.output_tokens)} out")
    if usage.usd != 0:
        parts.append(money(usage.usd, state.known_usd, estimated=usage.estimated))
    return Text(f"{' · '.join(parts)} · {duration(elapsed.total_seconds())}")


def _short(tokens: int) -> str:
    if tokens < 10_000:
        return plural(tokens, "token")
    return f"{tokens / 1000:.0f}k tokens" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M tokens"
