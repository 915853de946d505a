"""The fold: what each fact adds to what is known.

Nothing here has a threshold or makes a choice; each fact has one small function in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from flyball.core import evolve_backlog
from flyball.core.breaker import CLOSED
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
    SessionStarted,
    SettingsChanged,
    TaskOpened,
    TaskStopped,
    TurnSetAside,
    WindowOpened,
)
from flyball.core.evolve_effects import JournalOutOfOrder, begun, ended
from flyball.core.evolve_people import (
    consented,
    items_set,
    person_spoke,
    question_closed,
    settings_changed,
    withdrawn,
)
from flyball.core.measurement import Measurement
from flyball.core.observation import History, observe
from flyball.core.outcomes import (
    Failed,
    Interrupted,
    Measured,
    Outcome,
    Saved,
)
from flyball.core.state import Checkpoint, State, Visit, Window
from flyball.core.task import Commit, EffectId

RECENT_LEARNINGS = 24


def begin(event: Event) -> State:
    """The state after a task's first fact."""
    if not isinstance(event.fact, TaskOpened):
        raise JournalOutOfOrder(f"event {event.seq} is {type(event.fact).__name__}, expected TaskOpened first")
    fact = event.fact
    return State(
        task=fact.task,
        now=event.at,
        stage=fact.stage,
        seq=event.seq,
        epoch=event.epoch,
        items=fact.task.items,
        items_confirmed=bool(fact.task.items) and not fact.task.settings.approve_plan,
        visits=(Visit(fact.stage, event.at),),
    )


def evolve(state: State | None, event: Event) -> State:
    """What we know now that this happened."""
    if state is None:
        return begin(event)
    fact, at, now, elapsed = event.fact, event.at, state.now, state.elapsed
    kind = type(fact)
    if at > now:
        if state.session_began_at is not None and kind is not SessionStarted:
            elapsed += at - now
        now = at
    return _TABLE[kind](replace(state, now=now, seq=event.seq, epoch=event.epoch, elapsed=elapsed), fact)


def fold(events: Iterable[Event]) -> State | None:
    """The state a journal amounts to."""
    state: State | None = None
    for event in events:
        state = evolve(state, event)
    return state


def _reopened(state: State, _fact: TaskOpened) -> State:
    raise JournalOutOfOrder(f"task {state.task.id} was opened twice")


def _session_started(state: State, _fact: SessionStarted) -> State:
    resumable = state.stopped is not None and state.stopped.kind in {"paused", "interrupted", "error", "no_agent"}
    return replace(
        state,
        session_began_at=state.now,
        pausing=False,
        stopped=None if resumable else state.stopped,
        absent=(),
        work=evolve_backlog.taken_up(state.work),
        held=None,
        outcomes=_tried_again(state.outcomes),
    )


def _tried_again(outcomes: dict[EffectId, Outcome]) -> dict[EffectId, Outcome]:
    """What failed or was broken off has no outcome for a new session, which does it again; a turn is never done again."""
    known: dict[EffectId, Outcome] = {}
    for key, outcome in outcomes.items():
        if key.startswith("turn/"):
            known[key] = Interrupted(outcome.detail) if isinstance(outcome, Failed) else outcome
        elif not isinstance(outcome, Failed | Interrupted):
            known[key] = outcome
    return known


def _last_measured(state: State) -> Measurement | None:
    for outcome in reversed(state.outcomes.values()):
        if isinstance(outcome, Measured):
            return outcome.measurement
    return state.last


def _checkpoint_of(measured: Measurement | None, state: State) -> Checkpoint | None:
    for checkpoint in reversed(state.checkpoints):
        if measured is not None and checkpoint.commit == measured.candidate:
            return checkpoint
    return None


def _judged(state: State, fact: Judged) -> State:
    latest = _last_measured(state)
    candidate = _checkpoint_of(latest, state) if fact.best else None
    return replace(
        state,
        judged=fact,
        judged_at=state.now,
        last=latest,
        best=candidate or state.best,
        best_score=fact.score if fact.best else state.best_score,
        restored=False,
        last_interrupted=Commit(""),
        signal_asked=False,
        to_ask=fact.questions,
        consent_wanted=fact.consent_wanted,
        qa_attempts=state.qa_attempts + fact.rejected,
        iteration=fact.iteration,
        iterations=state.iterations + 1,
        outcomes={},
        pass_effect=None,
        passing={},
        attempts={},
        work=evolve_backlog.judged(state.work, fact),
        breaker=fact.breaker,
        history=observe(state.history, fact.observation),
        exiting=fact.can_exit,
        unsignalled=fact.unsignalled,
        false_claims=state.false_claims + fact.false_claim,
        restore_to=fact.restore_to,
        context=state.context + fact.fresh_context,
        sessions={} if fact.fresh_context else state.sessions,
        rungs=(*state.rungs, fact.rung) if fact.rung else state.rungs,
        lesson=fact.lesson or state.lesson,
        findings=fact.findings,
        crashes=0,
        overloads=0,
        reset=False,
    )


def _set_aside(state: State, fact: TurnSetAside) -> State:
    saved = state.outcomes.get(EffectId(f"save/{fact.turn}"))
    passing = {k: e for k, e in state.passing.items() if e.turn != fact.turn}
    state = replace(
        state,
        outcomes={k: o for k, o in state.outcomes.items() if isinstance(o, Measured) or k in passing},
        pass_effect=None if state.pass_turn == fact.turn else state.pass_effect,
        passing=passing,
        attempts={},
        absent=(*state.absent, fact.agent) if fact.why == "absent" else state.absent,
        absent_why=fact.detail if fact.why == "absent" else state.absent_why,
        history=observe(state.history, fact.observation) if fact.observation else state.history,
    )
    if fact.why == "interrupted":
        return replace(state, last_interrupted=saved.commit if isinstance(saved, Saved) else Commit(""))
    if fact.why in {"planned", "consent"}:
        return replace(state, crashes=0, overloads=0)
    if fact.why != "crashed":
        return state
    return replace(state, crashes=state.crashes + 1, crashed_at=state.now, crash_detail=fact.detail)


def _moved(state: State, fact: Moved) -> State:
    visits = list(state.visits)
    visits[-1] = replace(
        visits[-1], completed_at=state.now, iterations=state.iteration, exit_reason=fact.reason, forced=fact.forced
    )
    tests = (fact.previous == "RED" and not fact.forced) or fact.completed
    measured = state.last or state.entry
    proof = measured if fact.completed else state.last
    return replace(
        withdrawn(state),
        stage=fact.stage,
        iteration=0,
        visits=(*visits, Visit(fact.stage, state.now)),
        exiting=False,
        breaker=CLOSED,
        rungs=(),
        history=History(),
        lesson=(),
        unsignalled=0,
        entry=measured,
        last=None,
        judged=None,
        outcomes={},
        pass_effect=None,
        passing={},
        work=evolve_backlog.moved(state, fact),
        skipping=False,
        reset=False,
        restore_to=Commit(""),
        signal_asked=False,
        consent_wanted=(),
        best_score=None,
        tests_accepted=state.head if tests else state.tests_accepted,
        tests_ref=proof.tests_ref if tests and proof else state.tests_ref,
        rejected=state.head if fact.rejected else Commit(""),
        findings=state.findings if fact.rejected else (),
        context=state.context + 1,
        sessions={},
    )


def _held(state: State, fact: Held) -> State:
    return replace(state, held=fact)


def _limit_hit(state: State, fact: LimitHit) -> State:
    return replace(state, limits={**state.limits, fact.agent: fact}, overloads=state.overloads + 1)


def _window_opened(state: State, _fact: WindowOpened) -> State:
    kept = {k: q for k, q in state.questions.items() if q.question.name != "hourly-limit"}
    return replace(state, window=Window(state.now), questions=kept, held=None)


def _breaker_changed(state: State, fact: BreakerChanged) -> State:
    return replace(state, breaker=fact.breaker)


def _item_changed(state: State, fact: ItemChanged) -> State:
    return replace(state, items=tuple(replace(i, status=fact.status) if i.id == fact.id else i for i in state.items))


def _learned(state: State, fact: LearningRecorded) -> State:
    return replace(state, learnings=(*state.learnings, fact)[-RECENT_LEARNINGS:], learned=fact.number)


def _same(state: State, _fact: Any) -> State:
    return state


def _stopped(state: State, fact: TaskStopped) -> State:
    return replace(state, stopped=fact, pausing=False)


_TABLE: dict[type, Callable[[State, Any], State]] = {
    TaskOpened: _reopened,
    SessionStarted: _session_started,
    Begun: begun,
    Ended: ended,
    Judged: _judged,
    BatchJudged: _same,
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
    DocumentSeen: _same,
    PersonSpoke: person_spoke,
    QuestionClosed: question_closed,
    SettingsChanged: settings_changed,
    TaskStopped: _stopped,
}
