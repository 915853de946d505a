"""The fold: what each fact adds to what is known.

Nothing here has a threshold or makes a choice; each fact has one small function in the table at the end, and a workflow adds its own
(`workflow.py`), which run first. All write into a copy that nobody else sees.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from flyball.core.fold import batches, effects, lanes, people
from flyball.core.fold.lanes import JournalOutOfOrder
from flyball.core.loop.answers import HOURLY_LIMIT
from flyball.core.loop.casting import account
from flyball.core.loop.workflow import Workflow
from flyball.core.memory.standing import remember
from flyball.core.model import batch_events as be, events as ev
from flyball.core.model.effects import Ask, Wait
from flyball.core.model.events import Event
from flyball.core.model.state import Lane, State, Visit, Window
from flyball.core.model.task import MAIN
from flyball.core.workflows.registry import workflow_of


def evolve(state: State | None, event: Event) -> State:
    if state is None:
        return _first_state(event)
    following = state.copy()
    _add(following, event, workflow_of(state.task))
    return following


def fold(events: Iterable[Event], known: State | None = None) -> State | None:
    """The state a journal amounts to, or what follows in it upon a known one.

    One copy takes all its facts, because a state for each would cost more than reading it.
    """
    following = iter(events)
    first = next(following, None)
    if first is None:
        return known
    state = evolve(known, first)
    workflow = workflow_of(state.task)
    for event in following:
        _add(state, event, workflow)
    return state


def _first_state(event: Event) -> State:
    fact = event.fact
    if not isinstance(fact, ev.TaskOpened):
        raise JournalOutOfOrder(f"event {event.seq} is {type(fact).__name__}, expected TaskOpened first")
    return State(
        task=fact.task,
        now=event.at,
        lanes={MAIN: Lane(MAIN, fact.stage, (Visit(fact.stage, event.at),))},
        record=workflow_of(fact.task).record,
        seq=event.seq,
        epoch=event.epoch,
        items=fact.task.items,
        items_confirmed=bool(fact.task.items) and not fact.task.settings.approve_plan,
        items_own=bool(fact.task.items),
    )


def _add(state: State, event: Event, workflow: Workflow) -> None:
    fact, at = event.fact, event.at
    kind = type(fact)
    if kind is ev.SessionStarted:
        state.session_epoch = event.epoch
    elif at > state.now and state.session_epoch == event.epoch and not state.waits_for_person:
        # What is done by hand after a session has an epoch of its own: nobody was at work in between.
        state.elapsed += at - state.now
    # What is tidied away later is no work on the task, which is as old as it was.
    state.now = state.now if kind is ev.WorkspaceRemoved else max(at, state.now)
    own = workflow.folds.get(kind)
    if own is not None:
        own(state, fact)
    if kind is ev.Begun:
        effects.on_begun(state, fact, workflow)  # type: ignore[arg-type]
    elif kind is ev.Ended:
        effects.on_ended(state, fact, workflow)  # type: ignore[arg-type]
    else:
        shared = _TABLE.get(kind)
        if shared is not None:
            shared(state, fact)
        elif own is None:
            raise JournalOutOfOrder(
                f"event {event.seq} is {kind.__name__}, which the workflow {workflow.name} does not know"
            )
    remember(state.learnings, event)
    state.seq = event.seq
    state.epoch = event.epoch


def _on_opened_twice(state: State, _fact: ev.TaskOpened) -> None:
    raise JournalOutOfOrder(f"task {state.task.id} was opened twice")


def _on_session_started(state: State, _fact: ev.SessionStarted) -> None:
    if state.stopped is not None and state.stopped.kind in {"paused", "interrupted", "error", "no_agent"}:
        state.stopped = None
    state.session_began_at = state.now
    state.pausing = False
    state.absent = ()
    state.unusable = ()
    _release(state)
    for lane in state.lanes.values():
        lane.failed = None  # a new session tries again what failed
        lane.recall = lane.day = None


def _release(state: State) -> None:
    """Guards look again; a lane whose wait is still under way, in this session too, stays held."""
    waiting = {effect.lane for effect in state.open.values() if isinstance(effect, Wait)}
    for lane in state.lanes.values():
        lane.held = lane.held if lane.name in waiting else None


def _on_limit_hit(state: State, fact: ev.LimitHit) -> None:
    state.limits = {**state.limits, account(state, fact.agent): fact}


def _on_window_opened(state: State, _fact: ev.WindowOpened) -> None:
    """Nobody waits for an answer about the hour that is over, in whichever lane it was asked."""
    state.window = Window(state.now)
    state.questions = {k: q for k, q in state.questions.items() if q.question.name != HOURLY_LIMIT}
    for key, effect in tuple(state.open.items()):
        if isinstance(effect, Ask) and effect.question.name == HOURLY_LIMIT:
            del state.open[key]
    _release(state)


def _on_failures_decided(state: State, fact: ev.FailuresDecided) -> None:
    state.failures = fact


def _on_item_changed(state: State, fact: ev.ItemChanged) -> None:
    state.items = tuple(replace(i, status=fact.status) if i.id == fact.id else i for i in state.items)


def _on_undeclared_edits(state: State, fact: ev.UndeclaredEditsFound) -> None:
    """What an item turned out to change is known to whoever looks which items can be worked on beside each other.

    A protected file is left out: an item's own files are open to it, and the consent was for one change.
    """
    more = (*fact.also_changed, *fact.deleted)
    state.items = tuple(
        replace(i, files=tuple(dict.fromkeys((*i.files, *more)))) if i.id == fact.item and i.files else i
        for i in state.items
    )


def _on_learning(state: State, fact: ev.LearningRecorded) -> None:
    state.learned = fact.number


def _ignore(_state: State, _fact: Any) -> None:
    """Told for people; nothing follows from it."""


def _on_reopened(state: State, _fact: ev.TaskReopened) -> None:
    """What was delivered is what the new round starts from: its tests are accepted, and it is measured anew."""
    state.known_failing = state.baseline.counts.known_failing if state.baseline else 0
    state.feedback = ""
    state.rounds += 1
    state.reopened = True
    state.midway = False
    state.round_base = state.main.tests_accepted = state.main.head
    state.baseline = state.failures = None
    state.main.rejections = 0


def _on_workspace_removed(state: State, _fact: ev.WorkspaceRemoved) -> None:
    """The checkout is to be made again, and so is that of every lane, from its base: what was saved of it stays saved."""
    state.removed = state.prepared is not None
    state.removals += 1
    for lane in state.lanes.values():
        lane.tree = lane.tree if lane.name == MAIN else ""


def _on_stopped(state: State, fact: ev.TaskStopped) -> None:
    state.stopped = fact
    state.pausing = False
    if fact.kind == "done":
        state.shipped = state.main.head


_TABLE: dict[type, Callable[[State, Any], None]] = {
    ev.TaskOpened: _on_opened_twice,
    ev.SessionStarted: _on_session_started,
    be.BatchJudged: _ignore,
    be.HistoryImported: _ignore,
    ev.LimitHit: _on_limit_hit,
    ev.WindowOpened: _on_window_opened,
    ev.FailuresDecided: _on_failures_decided,
    ev.ItemChanged: _on_item_changed,
    ev.UndeclaredEditsFound: _on_undeclared_edits,
    ev.LearningRecorded: _on_learning,
    ev.LearningRevised: _ignore,
    ev.DocumentSeen: _ignore,
    ev.TaskReopened: _on_reopened,
    ev.WorkspaceRemoved: _on_workspace_removed,
    ev.TaskStopped: _on_stopped,
    **lanes.TABLE,
    **people.TABLE,
    **batches.TABLE,
}
