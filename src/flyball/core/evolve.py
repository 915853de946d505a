"""The fold: what each fact adds to what is known.

Nothing here has a threshold or makes a choice; each fact has one small function in the table at the end. They write into a
draft that nobody else sees, and what goes out is a frozen state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from flyball.core import evolve_backlog
from flyball.core.breaker import CLOSED
from flyball.core.casting import account
from flyball.core.events import (
    BatchJudged,
    Begun,
    BlockCleared,
    BreakerChanged,
    Consented,
    DocumentSeen,
    Ended,
    Evaluated,
    Event,
    Held,
    HistoryImported,
    ItemChanged,
    ItemReopened,
    ItemSelected,
    ItemSettled,
    ItemsSet,
    Judged,
    LearningRecorded,
    LimitHit,
    Moved,
    PersonSpoke,
    QuestionClosed,
    Reviewed,
    SessionImported,
    SessionStarted,
    SettingsChanged,
    TaskOpened,
    TaskReopened,
    TaskStopped,
    TurnSetAside,
    WindowOpened,
    WorkspaceRemoved,
)
from flyball.core.evolve_effects import JournalOutOfOrder, begun, ended
from flyball.core.evolve_people import (
    consented,
    items_set,
    person_spoke,
    question_closed,
    settings_changed,
    withdraw,
)
from flyball.core.measurement import Measurement
from flyball.core.observation import begin_loop, observe
from flyball.core.outcomes import (
    Failed,
    Interrupted,
    Measured,
    Outcome,
    Saved,
)
from flyball.core.state import Caught, Checkpoint, Draft, State, Visit, Window
from flyball.core.task import Commit, EffectId

RECENT_LEARNINGS = 24
TRICKS_REMEMBERED = 3


def evolve(state: State | None, event: Event) -> State:
    """What we know now that this happened."""
    if state is None:
        return _settled(_opened(event), event)
    draft = state.draft()
    _add(draft, event)
    return _settled(draft, event)


def fold(events: Iterable[Event], known: State | None = None) -> State | None:
    """The state a journal amounts to, or what follows in it upon a known one.

    One draft takes all its facts, because a state for each would cost more than reading it.
    """
    following = iter(events)
    event = next(following, None)
    if event is None:
        return known
    if known is None:
        draft = _opened(event)
    else:
        draft = known.draft()
        _add(draft, event)
    for event in following:
        _add(draft, event)
    return _settled(draft, event)


def _settled(draft: Draft, last: Event) -> State:
    """The state that all facts up to the last one amount to."""
    draft.seq = last.seq
    draft.epoch = last.epoch
    return draft.settled()


def _opened(event: Event) -> Draft:
    """What is known after a task's first fact."""
    if not isinstance(event.fact, TaskOpened):
        raise JournalOutOfOrder(f"event {event.seq} is {type(event.fact).__name__}, expected TaskOpened first")
    fact = event.fact
    return Draft(
        task=fact.task,
        now=event.at,
        stage=fact.stage,
        items=fact.task.items,
        items_confirmed=bool(fact.task.items) and not fact.task.settings.approve_plan,
        items_own=bool(fact.task.items),
        visits=(Visit(fact.stage, event.at),),
    )


def _add(draft: Draft, event: Event) -> None:
    fact, at = event.fact, event.at
    kind = type(fact)
    if kind is SessionStarted:
        draft.session_epoch = event.epoch
    elif at > draft.now and draft.session_epoch == event.epoch:
        # What is done by hand after a session has an epoch of its own: nobody was at work in between.
        draft.elapsed += at - draft.now
    # What is tidied away later is no work on the task, which is as old as it was.
    draft.now = draft.now if kind is WorkspaceRemoved else max(at, draft.now)
    _TABLE[kind](draft, fact)


def _reopened(draft: Draft, _fact: TaskOpened) -> None:
    raise JournalOutOfOrder(f"task {draft.task.id} was opened twice")


def _session_started(draft: Draft, _fact: SessionStarted) -> None:
    if draft.stopped is not None and draft.stopped.kind in {"paused", "interrupted", "error", "no_agent"}:
        draft.stopped = None
    draft.session_began_at = draft.now
    draft.pausing = False
    draft.absent = ()
    draft.unusable = ()
    draft.work = evolve_backlog.taken_up(draft.work)
    draft.held = None
    draft.outcomes = _tried_again(draft.outcomes)


def _tried_again(outcomes: dict[EffectId, Outcome]) -> dict[EffectId, Outcome]:
    """What failed or was broken off has no outcome for a new session, which does it again; a turn is never done again."""
    known: dict[EffectId, Outcome] = {}
    for key, outcome in outcomes.items():
        if key.startswith("turn/"):
            known[key] = Interrupted(outcome.detail) if isinstance(outcome, Failed) else outcome
        elif not isinstance(outcome, Failed | Interrupted):
            known[key] = outcome
    return known


def _last_measured(draft: Draft) -> Measurement | None:
    for outcome in reversed(draft.outcomes.values()):
        if isinstance(outcome, Measured):
            return outcome.measurement
    return draft.last


def _checkpoint_of(measured: Measurement | None, draft: Draft) -> Checkpoint | None:
    for checkpoint in reversed(draft.checkpoints):
        if measured is not None and checkpoint.commit == measured.candidate:
            return checkpoint
    return None


def _judged(draft: Draft, fact: Judged) -> None:
    draft.last = _last_measured(draft)
    _weighed_tricks(draft, fact)
    draft.judged = fact
    draft.judged_at = draft.now
    if fact.best:
        draft.best = _checkpoint_of(draft.last, draft) or draft.best
        draft.best_score = fact.score
    if fact.fresh_context:
        draft.context += 1
        draft.sessions = {}
    if fact.rung:
        draft.rungs = (*draft.rungs, fact.rung)
    draft.history = observe(draft.history, fact.observation)
    draft.work = evolve_backlog.judged(draft.work, fact)
    draft.breaker = fact.breaker
    draft.exiting = fact.can_exit
    draft.restore_to = fact.restore_to
    draft.lesson = fact.lesson or draft.lesson
    draft.findings = fact.findings
    draft.to_ask = fact.questions
    draft.consent_wanted = fact.consent_wanted
    draft.iteration = fact.iteration
    draft.iterations += 1
    draft.qa_attempts += fact.rejected
    draft.unsignalled = fact.unsignalled
    draft.false_claims += fact.false_claim
    _pass_over(draft)


def _weighed_tricks(draft: Draft, fact: Judged) -> None:
    """What is to be put back, and what is held against the stage until an honest iteration moves."""
    measured = draft.last
    caught = measured.caught if measured is not None else ()
    draft.mend = measured if caught and measured is not None and measured.mended else None
    if caught and measured is not None:
        draft.caught = Caught(fact.iteration, caught[:TRICKS_REMEMBERED])
        draft.checkpoints = tuple(
            replace(c, tricked=True) if c.commit == measured.candidate else c for c in draft.checkpoints
        )
    elif fact.progress or fact.gate_1.held:
        draft.caught = None


def _pass_over(draft: Draft) -> None:
    """What is known of a pass alone goes with it."""
    draft.put_back = ()
    draft.outcomes = {}
    draft.pass_effect = None
    draft.passing = {}
    draft.attempts = {}
    draft.last_interrupted = Commit("")
    draft.restored = False
    draft.signal_asked = False
    draft.reset = False
    draft.crashes = 0
    draft.overloads = 0


def _set_aside(draft: Draft, fact: TurnSetAside) -> None:
    saved = draft.outcomes.get(EffectId(f"save/{fact.turn}"))
    if draft.pass_turn == fact.turn:
        draft.pass_effect = None
    draft.passing = {k: e for k, e in draft.passing.items() if e.turn != fact.turn}
    draft.outcomes = {k: o for k, o in draft.outcomes.items() if isinstance(o, Measured) or k in draft.passing}
    draft.attempts = {}
    match fact.why:
        case "absent":
            draft.absent = (*draft.absent, fact.agent)
            draft.absent_why = fact.detail
        case "interrupted":
            draft.last_interrupted = saved.commit if isinstance(saved, Saved) else Commit("")
        case "planned" | "consent":
            draft.crashes = 0
            draft.overloads = 0
        case "crashed":
            draft.crashes += 1
            draft.crashed_at = draft.now
            draft.crash_detail = fact.detail


def _moved(draft: Draft, fact: Moved) -> None:
    left = replace(
        draft.visits[-1],
        completed_at=draft.now,
        iterations=draft.iteration,
        exit_reason=fact.reason,
        forced=fact.forced,
    )
    draft.visits = (*draft.visits[:-1], left, Visit(fact.stage, draft.now))
    draft.work = evolve_backlog.moved(draft, fact)
    measured = draft.last or draft.entry
    proof = measured if fact.completed else draft.last
    if (fact.previous == "RED" and not fact.forced) or fact.completed:
        draft.tests_accepted = draft.head
        draft.tests_ref = proof.tests_ref if proof else draft.tests_ref
    if fact.previous == fact.stage == "RED" and draft.baseline is not None:
        # Taken back to before any test was accepted.
        draft.tests_ref = draft.baseline.tests_ref
    draft.rejected = draft.head if fact.rejected else Commit("")
    draft.findings = draft.findings if fact.rejected else ()
    draft.stage = fact.stage
    draft.entry = measured
    draft.context += 1
    draft.sessions = {}
    withdraw(draft)
    _stage_over(draft)


def _stage_over(draft: Draft) -> None:
    """What is known of a stay in a stage alone goes with it."""
    draft.iteration = 0
    draft.exiting = False
    draft.breaker = CLOSED
    draft.rungs = ()
    draft.history = begin_loop(draft.history)
    draft.lesson = ()
    draft.unsignalled = 0
    draft.last = None
    draft.judged = None
    draft.outcomes = {}
    draft.pass_effect = None
    draft.passing = {}
    draft.skipping = False
    draft.reset = False
    draft.restore_to = Commit("")
    draft.signal_asked = False
    draft.consent_wanted = ()
    draft.best_score = None
    draft.caught = None


def _held(draft: Draft, fact: Held) -> None:
    draft.held = fact


def _limit_hit(draft: Draft, fact: LimitHit) -> None:
    draft.limits = {**draft.limits, account(draft, fact.agent): fact}
    draft.overloads += 1


def _window_opened(draft: Draft, _fact: WindowOpened) -> None:
    draft.window = Window(draft.now)
    draft.questions = {k: q for k, q in draft.questions.items() if q.question.name != "hourly-limit"}
    draft.held = None


def _breaker_changed(draft: Draft, fact: BreakerChanged) -> None:
    draft.breaker = fact.breaker


def _item_changed(draft: Draft, fact: ItemChanged) -> None:
    draft.items = tuple(replace(i, status=fact.status) if i.id == fact.id else i for i in draft.items)


def _learned(draft: Draft, fact: LearningRecorded) -> None:
    draft.learnings = (*draft.learnings, fact)[-RECENT_LEARNINGS:]
    draft.learned = fact.number


def _nothing(_draft: Draft, _fact: Any) -> None:
    """Told for people; nothing follows from it."""


def _session_imported(draft: Draft, fact: SessionImported) -> None:
    draft.midway = fact.session.phase != "RED"


def _task_reopened(draft: Draft, _fact: TaskReopened) -> None:
    """What was delivered is what the new round starts from: its tests are accepted, and it is measured anew."""
    draft.known_failing = draft.baseline.counts.known_failing if draft.baseline else 0
    draft.feedback = ""
    draft.rounds += 1
    draft.reopened = True
    draft.midway = False
    draft.round_base = draft.tests_accepted = draft.head
    draft.baseline = None
    draft.qa_attempts = 0
    draft.work = replace(draft.work, proven=None)


def _workspace_removed(draft: Draft, _fact: WorkspaceRemoved) -> None:
    draft.removed = draft.prepared is not None
    draft.removals += 1


def _stopped(draft: Draft, fact: TaskStopped) -> None:
    draft.stopped = fact
    draft.pausing = False
    if fact.kind == "done":
        draft.shipped = draft.head


_TABLE: dict[type, Callable[[Draft, Any], None]] = {
    TaskOpened: _reopened,
    SessionStarted: _session_started,
    Begun: begun,
    Ended: ended,
    Judged: _judged,
    BatchJudged: _nothing,
    HistoryImported: _nothing,
    TurnSetAside: _set_aside,
    Moved: _moved,
    Held: _held,
    LimitHit: _limit_hit,
    WindowOpened: _window_opened,
    BreakerChanged: _breaker_changed,
    ItemsSet: items_set,
    ItemChanged: _item_changed,
    ItemSelected: evolve_backlog.item_selected,
    Reviewed: evolve_backlog.reviewed,
    ItemSettled: evolve_backlog.item_settled,
    ItemReopened: evolve_backlog.item_reopened,
    Evaluated: evolve_backlog.evaluated,
    BlockCleared: evolve_backlog.block_cleared,
    LearningRecorded: _learned,
    Consented: consented,
    DocumentSeen: _nothing,
    PersonSpoke: person_spoke,
    QuestionClosed: question_closed,
    SettingsChanged: settings_changed,
    SessionImported: _session_imported,
    TaskReopened: _task_reopened,
    WorkspaceRemoved: _workspace_removed,
    TaskStopped: _stopped,
}
