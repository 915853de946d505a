"""The fold: what each fact adds to what is known.

Nothing here has a threshold or makes a choice; each fact has one small function in the table at the end, and a workflow adds its own
(`workflow.py`), which run first. All write into a copy that nobody else sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from flyball.core.fold import batches
from flyball.core.fold.effects import begun, ended
from flyball.core.fold.lanes import JournalOutOfOrder, lane_of, withdraw
from flyball.core.fold.people import consented, items_set, person_spoke, question_closed, settings_changed
from flyball.core.health.observation import begin_loop, observe
from flyball.core.loop.casting import account
from flyball.core.loop.workflow import Workflow
from flyball.core.memory.standing import remember
from flyball.core.model import events as ev
from flyball.core.model.events import Event
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Measured, TurnEnded
from flyball.core.model.state import Caught, Checkpoint, Lane, Loop, State, Visit, Window
from flyball.core.model.task import MAIN, Commit
from flyball.core.workflows.registry import workflow_of

TRICKS_REMEMBERED = 3


def evolve(state: State | None, event: Event) -> State:
    """What we know now that this happened."""
    if state is None:
        return _opened(event)
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


def _opened(event: Event) -> State:
    """What is known after a task's first fact."""
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
    elif at > state.now and state.session_epoch == event.epoch:
        # What is done by hand after a session has an epoch of its own: nobody was at work in between.
        state.elapsed += at - state.now
    # What is tidied away later is no work on the task, which is as old as it was.
    state.now = state.now if kind is ev.WorkspaceRemoved else max(at, state.now)
    own = workflow.folds.get(kind)
    if own is not None:
        own(state, fact)
    if kind is ev.Begun:
        begun(state, fact, workflow)  # type: ignore[arg-type]
    elif kind is ev.Ended:
        ended(state, fact, workflow)  # type: ignore[arg-type]
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


def _reopened(state: State, _fact: ev.TaskOpened) -> None:
    raise JournalOutOfOrder(f"task {state.task.id} was opened twice")


def _session_started(state: State, _fact: ev.SessionStarted) -> None:
    if state.stopped is not None and state.stopped.kind in {"paused", "interrupted", "error", "no_agent"}:
        state.stopped = None
    state.session_began_at = state.now
    state.pausing = False
    state.absent = ()
    state.unusable = ()
    for lane in state.lanes.values():
        lane.held = None
        lane.failed = None  # a new session tries again what failed
        lane.recall = None


def _lane_opened(state: State, fact: ev.LaneOpened) -> None:
    if fact.lane in state.lanes:
        raise JournalOutOfOrder(f"lane {fact.lane} was opened twice")
    state.openings = {**state.openings, fact.lane: state.openings.get(fact.lane, 0) + 1}
    state.lanes[fact.lane] = Lane(
        fact.lane,
        fact.stage,
        (Visit(fact.stage, state.now),),
        base=fact.base,
        item=fact.item,
        head=fact.start or fact.base,
        tests_accepted=state.main.tests_accepted,
        tests_ref=state.main.tests_ref,
        loop=Loop(entry=state.main.loop.entry or state.baseline, rungs=fact.rungs, lesson=fact.lesson),
        opened=state.openings[fact.lane],
    )


def _lane_closed(state: State, fact: ev.LaneClosed) -> None:
    lane = lane_of(state, fact.lane)
    withdraw(state, lane)
    del state.lanes[lane.name]


def _seat_answered(state: State, fact: ev.SeatAnswered) -> None:
    lane = lane_of(state, fact.lane)
    assert lane.panel is not None
    key, effect = next((k, e) for k, e in lane.panel.turns.items() if e.turn == fact.turn)
    del lane.panel.turns[key]
    answer = lane.panel.ended.pop(key)
    assert isinstance(answer, TurnEnded)
    lane.panel.answers[fact.role] = effect, answer
    lane.crashes = 0
    lane.overloads = 0


def _last_measured(lane: Lane) -> Measurement | None:
    if lane.turn is not None and lane.turn.measured is not None:
        return lane.turn.measured
    measured = (o.measurement for o in reversed(lane.outcomes.values()) if isinstance(o, Measured))
    return next(measured, lane.loop.last)


def _checkpoint_of(measured: Measurement | None, state: State) -> Checkpoint | None:
    for checkpoint in reversed(state.checkpoints):
        if measured is not None and checkpoint.commit == measured.candidate:
            return checkpoint
    return None


def _judged(state: State, fact: ev.Judged) -> None:
    lane = lane_of(state, fact.lane)
    loop = lane.loop
    loop.last = batches.proven(state, fact) or _last_measured(lane)
    _weigh_tricks(state, lane, fact)
    loop.judged = fact
    loop.judged_at = state.now
    if fact.best:
        lane.best = _checkpoint_of(loop.last, state) or lane.best
        loop.best_score = fact.score
    if fact.fresh_context:
        lane.context += 1
        lane.sessions = {}
    if fact.rung:
        loop.rungs = (*loop.rungs, fact.rung)
    loop.history = observe(loop.history, fact.observation)
    loop.breaker = fact.breaker
    loop.exiting = fact.can_exit
    loop.restore_to = fact.restore_to
    loop.lesson = fact.lesson or loop.lesson
    loop.findings = fact.findings
    loop.consent_wanted = fact.consent_wanted
    loop.iteration = fact.iteration
    loop.unsignalled = fact.unsignalled
    loop.restored = loop.signal_asked = loop.reset = False
    lane.to_ask = fact.questions
    lane.rejections += fact.rejected
    lane.last_interrupted = Commit("")
    lane.crashes = lane.overloads = 0
    _end_turn(lane)
    lane.attempts = {}
    batches.judged(state, fact)
    state.iterations += 1
    state.false_claims += fact.false_claim


def _weigh_tricks(state: State, lane: Lane, fact: ev.Judged) -> None:
    """What is to be put back, and what is held against the stage until an honest iteration moves."""
    measured = lane.loop.last
    caught = measured.caught if measured is not None else ()
    lane.put_back = ()
    lane.mend = measured if caught and measured is not None and measured.mended else None
    if caught and measured is not None:
        lane.loop.caught = Caught(fact.iteration, caught[:TRICKS_REMEMBERED])
        state.checkpoints = tuple(
            replace(c, tricked=True) if c.commit == measured.candidate else c for c in state.checkpoints
        )
    elif fact.progress or fact.gate_1.held:
        lane.loop.caught = None


def _end_turn(lane: Lane) -> None:
    lane.turn = None
    lane.panel = None
    lane.outcomes = {}


def _set_aside(state: State, fact: ev.TurnSetAside) -> None:
    lane = lane_of(state, fact.lane)
    turn, panel = lane.turn, lane.panel
    saved = turn.saved if turn is not None and turn.effect.turn == fact.turn else None
    if turn is not None and turn.effect.turn == fact.turn:
        lane.turn = None
    if panel is not None:
        for key in [k for k, effect in panel.turns.items() if effect.turn == fact.turn]:
            del panel.turns[key]
            panel.ended.pop(key, None)
    match fact.why:
        case "absent":
            state.absent = (*state.absent, fact.agent)
            state.absent_why = fact.detail
        case "limited":
            lane.overloads += 1
        case "interrupted":
            lane.last_interrupted = saved.commit if saved is not None else Commit("")
        case "planned" | "consent":
            lane.panel = None
            lane.crashes = lane.overloads = 0
        case "crashed":
            lane.crashes += 1
            lane.crashed_at = state.now
            lane.crash_detail = fact.detail


def _moved(state: State, fact: ev.Moved) -> None:
    lane = lane_of(state, fact.lane)
    loop = lane.loop
    if fact.forced:
        batches.skipped(state, fact)
    left = replace(
        lane.visits[-1],
        completed_at=state.now,
        iterations=loop.iteration,
        exit_reason=fact.reason,
        forced=fact.forced,
    )
    lane.visits = (*lane.visits[:-1], left, Visit(fact.stage, state.now))
    measured = loop.last or loop.entry
    proof = measured if fact.completed else loop.last
    if fact.accepts_tests or fact.completed:
        lane.tests_accepted = lane.head
        lane.tests_ref = proof.tests_ref if proof else lane.tests_ref
    if fact.accepts_tests and fact.previous == fact.stage and state.baseline is not None:
        # Taken back to before any test was accepted.
        lane.tests_ref = state.baseline.tests_ref
    lane.rejected = lane.head if fact.rejected else Commit("")
    lane.stage = fact.stage
    lane.context += 1
    lane.sessions = {}
    lane.loop = Loop(
        entry=measured,
        history=begin_loop(loop.history),
        findings=loop.findings if fact.rejected else (),
        restored=loop.restored,
    )
    lane.recall = None
    withdraw(state, lane)
    _end_turn(lane)


def _held(state: State, fact: ev.Held) -> None:
    lane_of(state, fact.lane).held = fact


def _limit_hit(state: State, fact: ev.LimitHit) -> None:
    state.limits = {**state.limits, account(state, fact.agent): fact}


def _window_opened(state: State, _fact: ev.WindowOpened) -> None:
    state.window = Window(state.now)
    state.questions = {k: q for k, q in state.questions.items() if q.question.name != "hourly-limit"}
    for lane in state.lanes.values():
        lane.held = None


def _breaker_changed(state: State, fact: ev.BreakerChanged) -> None:
    lane_of(state, fact.lane).loop.breaker = fact.breaker


def _item_changed(state: State, fact: ev.ItemChanged) -> None:
    state.items = tuple(replace(i, status=fact.status) if i.id == fact.id else i for i in state.items)


def _undeclared(state: State, fact: ev.UndeclaredEditsFound) -> None:
    """What an item turned out to change is known to whoever looks which items can be worked on beside each other."""
    more = (*fact.also_changed, *fact.deleted)
    state.items = tuple(
        replace(i, files=tuple(dict.fromkeys((*i.files, *more)))) if i.id == fact.item and i.files else i
        for i in state.items
    )


def _learned(state: State, fact: ev.LearningRecorded) -> None:
    state.learned = fact.number


def _nothing(_state: State, _fact: Any) -> None:
    """Told for people; nothing follows from it."""


def _task_reopened(state: State, _fact: ev.TaskReopened) -> None:
    """What was delivered is what the new round starts from: its tests are accepted, and it is measured anew."""
    state.known_failing = state.baseline.counts.known_failing if state.baseline else 0
    state.feedback = ""
    state.rounds += 1
    state.reopened = True
    state.midway = False
    state.round_base = state.main.tests_accepted = state.main.head
    state.baseline = None
    state.main.rejections = 0


def _workspace_removed(state: State, _fact: ev.WorkspaceRemoved) -> None:
    """The checkout is to be made again, and so is that of every lane, from its base: what was saved of it stays saved."""
    state.removed = state.prepared is not None
    state.removals += 1
    for lane in state.lanes.values():
        lane.tree = lane.tree if lane.name == MAIN else ""


def _stopped(state: State, fact: ev.TaskStopped) -> None:
    state.stopped = fact
    state.pausing = False
    if fact.kind == "done":
        state.shipped = state.main.head


_TABLE: dict[type, Callable[[State, Any], None]] = {
    ev.TaskOpened: _reopened,
    ev.SessionStarted: _session_started,
    ev.LaneOpened: _lane_opened,
    ev.LaneClosed: _lane_closed,
    ev.SeatAnswered: _seat_answered,
    ev.Judged: _judged,
    ev.BatchJudged: _nothing,
    ev.HistoryImported: _nothing,
    ev.TurnSetAside: _set_aside,
    ev.Moved: _moved,
    ev.Held: _held,
    ev.LimitHit: _limit_hit,
    ev.WindowOpened: _window_opened,
    ev.BreakerChanged: _breaker_changed,
    ev.ItemsSet: items_set,
    ev.ItemChanged: _item_changed,
    ev.UndeclaredEditsFound: _undeclared,
    ev.LearningRecorded: _learned,
    ev.LearningRevised: _nothing,
    ev.Consented: consented,
    ev.DocumentSeen: _nothing,
    ev.PersonSpoke: person_spoke,
    ev.QuestionClosed: question_closed,
    ev.SettingsChanged: settings_changed,
    ev.TaskReopened: _task_reopened,
    ev.WorkspaceRemoved: _workspace_removed,
    ev.TaskStopped: _stopped,
    **batches.TABLE,
}
