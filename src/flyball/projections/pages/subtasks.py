"""Items and stages as pages show them, whatever the workflow: what is done, under way, asked, given back, to come."""

import msgspec

from flyball.core.model.effects import RunAgent
from flyball.core.model.state import State
from flyball.core.model.task import MAIN, Item
from flyball.core.workflows.registry import workflow_of
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.history.timeline import TimelineMark
from flyball.projections.pages.chips import Chip
from flyball.projections.plots.graph import GraphNode
from flyball.projections.views.standing import final_stop, forced_stages, live_items
from flyball.projections.wording import plain

ACCEPTED = Chip("accepted", "accepted", "green")
RUNNING = Chip("running", "running", "blue")
ASKS = Chip("asks you", "asks", "brass")
REJECTED = Chip("rejected, to redo", "rejected", "red")
ROLLED_BACK = Chip("rolled back, to redo", "rolled-back", "violet")
BLOCKED = Chip("blocked", "blocked", "red")
UNFINISHED = Chip("not finished", "paused", "quiet")
TO_COME = Chip("to come", "to-come", "quiet")
SKIPPED = Chip("skipped, unverified", "skipped", "brass")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
_ORDER = (ASKS, RUNNING, BLOCKED, REJECTED, ROLLED_BACK, UNFINISHED, TO_COME, SKIPPED, ACCEPTED)


class ItemShown(msgspec.Struct, frozen=True):
    id: str
    name: str
    chip: Chip
    depends_on: tuple[str, ...]
    worked_on: bool = False

    @property
    def done(self) -> bool:
        return self.chip == ACCEPTED


class RailStop(msgspec.Struct, frozen=True):
    name: str
    chip: Chip
    detail: str = ""


def items_shown(state: State, history: TaskHistory, *, controlled: bool = True) -> tuple[ItemShown, ...]:
    """In the order of the plan; nothing runs in a task that stopped or that nobody controls."""
    still = state.stopped is not None or not controlled
    running = {effect.item for effect in state.open.values() if isinstance(effect, RunAgent)}
    running |= {lane.item for lane in state.lanes.values() if lane.name != MAIN}
    open_questions = [q for q in state.questions.values() if q.answer is None and final_stop(state) is None]
    asked = {state.lanes[question.lane].item for question in open_questions if question.lane in state.lanes}
    worked_on = {turn.item for turn in history.turns}
    last: dict[str, TimelineMark] = {mark.item: mark for mark in history.timeline.marks if mark.item}
    return tuple(
        ItemShown(
            item.id,
            plain(item.text, 400),
            _chip(
                item, last.get(item.id), at_work=item.id in running and not still, asks=item.id in asked, still=still
            ),
            item.depends_on,
            item.id in worked_on,
        )
        for item in live_items(state)
    )


def _chip(item: Item, mark: TimelineMark | None, *, at_work: bool, asks: bool, still: bool) -> Chip:
    if item.status == "completed":
        return ACCEPTED
    if asks:
        return ASKS
    if at_work:
        return RUNNING
    if item.status == "blocked":
        return BLOCKED
    if mark is not None and mark.kind == "rolled back":
        return ROLLED_BACK
    if mark is not None and mark.kind == "rejected":
        return REJECTED
    if item.status != "in-progress":
        return TO_COME
    return UNFINISHED if still else RUNNING


def by_need(items: tuple[ItemShown, ...]) -> tuple[ItemShown, ...]:
    """What asks first, what is accepted last."""
    return tuple(sorted(items, key=lambda item: _ORDER.index(item.chip)))


def nodes(items: tuple[ItemShown, ...], base: str) -> list[GraphNode]:
    """The same for the graph; each leads to what was changed for it."""
    return [
        GraphNode(
            item.id,
            item.name,
            item.chip.word,
            item.chip.glyph,
            item.chip.style,
            item.depends_on,
            item.done,
            f"{base}/diff?item={_in_address(item.id)}" if item.worked_on else f"{base}#item-{_in_address(item.id)}",
        )
        for item in items
    ]


def _in_address(text: str) -> str:
    return "".join(chr(each) if chr(each) in _PLAIN else f"%{each:02X}" for each in text.encode())


def rail(state: State, *, controlled: bool = True) -> tuple[RailStop, ...]:
    """The stages of the workflow in order; one that lies before the task again is to come, though it was done once."""
    names = workflow_of(state.task).stages
    here = names.index(state.main.stage) if state.main.stage in names else 0
    done = {visit.stage: visit.iterations for visit in state.main.visits if visit.completed_at is not None}
    forced = set(forced_stages(state))
    over = state.decision == "DONE"
    stopped = state.stopped is not None or not controlled
    stops = []
    for place, name in enumerate(names):
        if name == state.main.stage and not over:
            chip = Chip("stopped here", "paused", "grey") if stopped else RUNNING
            stops.append(RailStop(name, chip, str(state.main.loop.iteration or 1)))
        elif name in forced:
            stops.append(RailStop(name, SKIPPED, "skipped, unverified"))
        elif over or (name in done and place < here):
            stops.append(RailStop(name, ACCEPTED, str(done.get(name) or "") if name in done else ""))
        else:
            stops.append(RailStop(name, TO_COME))
    return tuple(stops)


def place_on_rail(stops: tuple[RailStop, ...]) -> RailStop:
    """The rail in words, for narrow pages: `EXECUTE, stage 2 of 4`."""
    here = next((n for n, stop in enumerate(stops) if stop.chip.glyph in {"running", "paused"}), len(stops) - 1)
    return RailStop(f"{stops[here].name}, stage {here + 1} of {len(stops)}", stops[here].chip)
