"""The lanes of a task side by side, one line each, and how far its plan is."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from rich.text import Text

from flyball.core.model.effects import Ask, Effect, Measure, RunAgent, Wait
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN
from flyball.core.text.quantities import plural
from flyball.projections.views.standing import live_items
from flyball.projections.wording import duration, plain

LABEL = 8
"""Cells of the column on the left, a blank included."""
NARROW = 60


def side_by_side(state: State) -> list[Lane]:
    """The lanes beside the task's own, in the order of their names."""
    return sorted((lane for lane in state.lanes.values() if lane.name != MAIN), key=lambda lane: lane.name)


def lane_rows(state: State, heard: Mapping[str, str], now: datetime, width: int) -> Iterator[tuple[str, Text]]:
    """One line for each lane: its stage, what is under way for how long, and what was said last; cut, never folded."""
    for lane in side_by_side(state):
        text = Text(lane.stage, "bold").append(f" · {_doing(state, lane, now)}")
        said = heard.get(lane.name, "")
        if said and _is_running(state, lane):
            text.append(f" · {plain(said, 160)}", "dim")
        text.truncate(max(1, width - LABEL), overflow="ellipsis")
        yield lane.name if len(lane.name) < LABEL else f"{lane.name[: LABEL - 2]}…", text


def progress(state: State, width: int) -> Text | None:
    """How many subtasks of a plan are done; None where the task is no plan of subtasks with files or an order."""
    items = live_items(state)
    if len(state.lanes) == 1 and not any(item.files or item.depends_on for item in items):
        return None
    done = sum(item.status == "completed" for item in items)
    blocked = sum(item.status == "blocked" for item in items)
    text = add_bar(Text(style="green"), done, len(items), width)
    text.append(f" {done} of {plural(len(items), 'subtask')}")
    return text.append(f" · {blocked} blocked", "yellow") if blocked else text


def add_bar(text: Text, part: int, whole: int, width: int, colour: str = "") -> Text:
    cells = 10 if width <= NARROW else 24
    filled = cells * part // max(1, whole)
    return text.append("█" * filled, colour).append("░" * (cells - filled), "dim")


def effect_line(effect: Effect, now: datetime) -> str:
    age = duration((now - effect.begun_at).total_seconds())
    match effect:
        case RunAgent():
            model = f", {effect.model}" if effect.model else ""
            return f"turn {effect.turn} · {effect.role} ({effect.agent}{model}) · {age}"
        case Measure():
            return f"measuring ({effect.kind}) · {age}"
        case Wait():
            return f"waits: {plain(effect.reason)}"
        case Ask():
            return f"asks {effect.id}: {plain(effect.question.text)}"
    return f"{effect.step} · {age}"


def _doing(state: State, lane: Lane, now: datetime) -> str:
    if lane.failed is not None:
        return f"parked: {plain(lane.failed[1].detail)}"
    under_way = [effect for effect in state.open.values() if effect.lane == lane.name]
    if not under_way:
        return "waits for the others"
    effect = min(under_way, key=lambda each: isinstance(each, Wait | Ask))
    if isinstance(effect, Measure) and _has_to_wait(state, effect):
        return f"waits for the gates · {duration((now - effect.begun_at).total_seconds())}"
    return effect_line(effect, now)


def _is_running(state: State, lane: Lane) -> bool:
    own = (effect for effect in state.open.values() if effect.lane == lane.name)
    return any(isinstance(e, RunAgent) or (isinstance(e, Measure) and not _has_to_wait(state, e)) for e in own)


def _has_to_wait(state: State, effect: Effect) -> bool:
    """Whether a measurement that was begun earlier is still under way, and only one may be at a time."""
    others = (each for each in state.open.values() if isinstance(each, Measure) and each.id != effect.id)
    earlier = any(each.begun_at < effect.begun_at for each in others)
    return earlier and not state.task.settings.gates_side_by_side
