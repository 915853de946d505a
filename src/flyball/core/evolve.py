"""The fold: what each fact adds to what is known.

Nothing here has a threshold or makes a choice; each fact has one small function in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from msgspec.structs import replace

from flyball.core.breaker import CLOSED
from flyball.core.effects import Ask, Effect, RunAgent, Wait
from flyball.core.events import (
    Begun,
    BreakerChanged,
    Consented,
    DocumentSeen,
    Ended,
    Event,
    Held,
    ItemChanged,
    ItemsSet,
    Judged,
    LearningRecorded,
    LimitHit,
    Moved,
    PersonSpoke,
    QuestionClosed,
    SessionStarted,
    SettingsChanged,
    TaskOpened,
    TaskStopped,
    TurnSetAside,
    WindowOpened,
)
from flyball.core.observation import History, observe
from flyball.core.outcomes import (
    Answered,
    Conflicted,
    Failed,
    Interrupted,
    Measured,
    Outcome,
    Prepared,
    Restored,
    Saved,
    TurnEnded,
)
from flyball.core.state import Asked, Checkpoint, Open, State, Visit, Window
from flyball.core.task import Commit, EffectId

RECENT_CHECKPOINTS = 64
RECENT_GUIDANCE = 8
RECENT_LEARNINGS = 24


class JournalOutOfOrder(Exception):
    """Facts do not follow each other as they must; the journal is damaged or was written by two hands."""


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
        items_confirmed=bool(fact.task.items),
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


def _begun(state: State, fact: Begun) -> State:
    effect = fact.effect
    known = state.open.get(effect.id)
    begun_at = known.begun_at if known else state.now
    state = replace(
        state,
        open={**state.open, effect.id: Open(effect, fact.attempt, begun_at)},
        attempts={**state.attempts, effect.id: fact.attempt},
    )
    if isinstance(effect, RunAgent):
        return replace(
            state,
            turns=max(state.turns, effect.turn),
            pass_effect=state.pass_effect or effect,
            tree_before=state.tree,
            held=None,
        )
    if isinstance(effect, Ask):
        return replace(
            state,
            asks=state.asks + (fact.attempt == 1),
            questions={**state.questions, effect.id: Asked(effect.question)},
        )
    if effect.id.startswith("wait/"):
        return replace(state, waits=state.waits + (fact.attempt == 1))
    return state


def _ended(state: State, fact: Ended) -> State:
    opened = state.open.get(fact.id)
    if opened is None or opened.attempt != fact.attempt:
        raise JournalOutOfOrder(f"{fact.id} attempt {fact.attempt} ended but was not under way")
    state = replace(
        state,
        open={k: v for k, v in state.open.items() if k != fact.id},
        outcomes={**state.outcomes, fact.id: fact.outcome},
    )
    apply = _OUTCOMES.get(type(fact.outcome))
    return apply(state, opened.effect, fact.outcome) if apply else state


def _prepared(state: State, _effect: Effect, outcome: Prepared) -> State:
    start = Checkpoint("start", outcome.base, outcome.tree, state.now, accepted=True, stage=state.stage)
    return replace(
        state,
        prepared=outcome,
        head=outcome.base,
        tree=outcome.tree,
        tests_accepted=outcome.base,
        checkpoints=(start,),
        best=start,
    )


def _turn_ended(state: State, effect: Effect, outcome: TurnEnded) -> State:
    assert isinstance(effect, RunAgent)
    dearest = max(state.dearest_turn, outcome.usage, key=lambda u: (u.usd, u.input_tokens + u.output_tokens))
    return replace(
        state,
        window=_called(state),
        usage=state.usage.plus(outcome.usage),
        dearest_turn=dearest,
        sessions={**state.sessions, effect.agent: outcome.session}
        if outcome.session and not effect.copy
        else state.sessions,
    )


def _called(state: State) -> Window:
    return Window(state.now, 1) if state.window is None else replace(state.window, calls=state.window.calls + 1)


def _broken_off(state: State, effect: Effect, _outcome: Interrupted) -> State:
    """A turn that was interrupted has called its provider all the same."""
    return replace(state, window=_called(state)) if isinstance(effect, RunAgent) else state


def _measured(state: State, effect: Effect, outcome: Measured) -> State:
    measurement = outcome.measurement
    if effect.id == "measure/baseline":
        return replace(state, baseline=measurement, entry=measurement, tests_ref=measurement.tests_ref, outcomes={})
    return state


def _saved(state: State, _effect: Effect, outcome: Saved) -> State:
    checkpoint = Checkpoint(
        outcome.label, outcome.commit, outcome.tree, state.now, outcome.accepted, state.stage, state.iteration + 1
    )
    known = (*state.checkpoints, checkpoint)[-RECENT_CHECKPOINTS:]
    if not outcome.accepted:
        return replace(state, checkpoints=known, tree=outcome.tree)
    return replace(state, checkpoints=known, tree=outcome.tree, head=outcome.commit, best=checkpoint)


def _restored(state: State, _effect: Effect, outcome: Restored) -> State:
    return replace(state, restore_to=Commit(""), restores=state.restores + 1, restored=True, tree=outcome.tree)


def _answered(state: State, effect: Effect, outcome: Answered) -> State:
    return _with_answer(state, effect.id, outcome.text, outcome.by)


def _with_answer(state: State, question: EffectId, text: str, by: Literal["person", "default"] = "person") -> State:
    asked = state.questions.get(question)
    if asked is None:
        return state
    return replace(state, questions={**state.questions, question: replace(asked, answer=text, by=by)})


def _judged(state: State, fact: Judged) -> State:
    measured = [o.measurement for o in state.outcomes.values() if isinstance(o, Measured)]
    latest = measured[-1] if measured else state.last
    candidate = next((c for c in reversed(state.checkpoints) if latest and c.commit == latest.candidate), None)
    return replace(
        state,
        judged=fact,
        judged_at=state.now,
        last=latest,
        best=candidate if fact.best and candidate else state.best,
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
        attempts={},
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
    state = replace(
        state,
        outcomes={k: o for k, o in state.outcomes.items() if isinstance(o, Measured)},
        pass_effect=None,
        attempts={},
        absent=(*state.absent, fact.agent) if fact.why == "absent" else state.absent,
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
    tests = fact.previous == "RED" and not fact.forced
    return replace(
        _withdrawn(state),
        stage=fact.stage,
        iteration=0,
        visits=(*visits, Visit(fact.stage, state.now)),
        exiting=False,
        breaker=CLOSED,
        rungs=(),
        history=History(),
        lesson=(),
        unsignalled=0,
        entry=state.last or state.entry,
        last=None,
        judged=None,
        outcomes={},
        pass_effect=None,
        skipping=False,
        reset=False,
        restore_to=Commit(""),
        signal_asked=False,
        consent_wanted=(),
        best_score=None,
        tests_accepted=state.head if tests else state.tests_accepted,
        tests_ref=state.last.tests_ref if tests and state.last else state.tests_ref,
        rejected=state.head if fact.rejected else Commit(""),
        findings=state.findings if fact.rejected else (),
        context=state.context + 1,
        sessions={},
    )


def _withdrawn(state: State) -> State:
    """Nobody waits any more: neither for an answer nor for a time."""
    under_way = {k: o for k, o in state.open.items() if not isinstance(o.effect, Ask | Wait)}
    return replace(state, open=under_way, questions={}, to_ask=(), held=None)


def _held(state: State, fact: Held) -> State:
    return replace(state, held=fact)


def _limit_hit(state: State, fact: LimitHit) -> State:
    return replace(
        state, limits={**state.limits, fact.agent: fact}, overloads=state.overloads + 1 if fact.backoff else 0
    )


def _window_opened(state: State, _fact: WindowOpened) -> State:
    kept = {k: q for k, q in state.questions.items() if q.question.name != "hourly-limit"}
    return replace(state, window=Window(state.now), questions=kept, held=None)


def _breaker_changed(state: State, fact: BreakerChanged) -> State:
    return replace(state, breaker=fact.breaker)


def _items_set(state: State, fact: ItemsSet) -> State:
    return replace(state, items=fact.items, items_confirmed=fact.by in {"document", "person"})


def _item_changed(state: State, fact: ItemChanged) -> State:
    return replace(state, items=tuple(replace(i, status=fact.status) if i.id == fact.id else i for i in state.items))


def _learned(state: State, fact: LearningRecorded) -> State:
    return replace(state, learnings=(*state.learnings, fact)[-RECENT_LEARNINGS:], learned=fact.number)


def _consented(state: State, fact: Consented) -> State:
    return replace(
        state,
        consented={**state.consented, **dict.fromkeys(fact.paths, fact.commit)} if fact.allowed else state.consented,
        refused=state.refused if fact.allowed else (*state.refused, *fact.paths),
        consent_wanted=(),
    )


def _question_closed(state: State, fact: QuestionClosed) -> State:
    return replace(
        state,
        questions={k: q for k, q in state.questions.items() if k != fact.id},
        to_ask=tuple(q for q in state.to_ask if q.name != fact.name),
        signal_asked=fact.name == "no-exit-signal" or state.signal_asked,
        items_confirmed=fact.name == "criteria" or state.items_confirmed,
    )


def _same(state: State, _fact: Any) -> State:
    return state


def _settings_changed(state: State, fact: SettingsChanged) -> State:
    settings = replace(state.task.settings, limits=fact.limits, attended=fact.attended)
    stopped = None if state.stopped and state.stopped.kind == "limit" else state.stopped
    return replace(state, task=replace(state.task, settings=settings), stopped=stopped)


def _person_spoke(state: State, fact: PersonSpoke) -> State:
    if state.stopped is not None and state.stopped.kind in {"done", "aborted"}:
        return state
    if fact.word == "pause":
        return replace(state, pausing=True)
    if fact.word == "abort":
        return replace(state, aborting=True, stopped=None)
    if fact.word == "skip":
        return replace(_withdrawn(state), skipping=True, stopped=_unblocked(state.stopped))
    if fact.word == "accept":
        return replace(state, exiting=True, stopped=_unblocked(state.stopped))
    if fact.word == "resume":
        again = state.stopped is not None and state.stopped.kind == "blocked" and not state.stopped.question
        baseline = None if again and state.baseline and state.baseline.broken else state.baseline
        outcomes = {k: o for k, o in state.outcomes.items() if not isinstance(o, Conflicted)}
        return replace(state, stopped=None if again else state.stopped, baseline=baseline, outcomes=outcomes)
    if fact.word == "answer":
        return replace(_with_answer(state, EffectId(fact.question), fact.text), stopped=_unblocked(state.stopped))
    if fact.word in {"reset", "modify"}:
        guidance = (*state.guidance, fact.text)[-RECENT_GUIDANCE:] if fact.text else state.guidance
        return replace(
            _withdrawn(state),
            guidance=guidance,
            breaker=CLOSED,
            history=History(),
            rungs=(),
            crashes=0,
            overloads=0,
            unsignalled=0,
            signal_asked=False,
            reset=True,
            context=state.context + 1,
            sessions={},
            stopped=_unblocked(state.stopped),
        )
    return replace(state, stopped=_unblocked(state.stopped))


def _unblocked(stopped: TaskStopped | None) -> TaskStopped | None:
    return None if stopped is not None and stopped.kind == "blocked" else stopped


def _stopped(state: State, fact: TaskStopped) -> State:
    return replace(state, stopped=fact, pausing=False)


_OUTCOMES: dict[type, Callable[[State, Effect, Any], State]] = {
    Prepared: _prepared,
    TurnEnded: _turn_ended,
    Measured: _measured,
    Saved: _saved,
    Restored: _restored,
    Answered: _answered,
    Interrupted: _broken_off,
}

_TABLE: dict[type, Callable[[State, Any], State]] = {
    TaskOpened: _reopened,
    SessionStarted: _session_started,
    Begun: _begun,
    Ended: _ended,
    Judged: _judged,
    TurnSetAside: _set_aside,
    Moved: _moved,
    Held: _held,
    LimitHit: _limit_hit,
    WindowOpened: _window_opened,
    BreakerChanged: _breaker_changed,
    ItemsSet: _items_set,
    ItemChanged: _item_changed,
    LearningRecorded: _learned,
    Consented: _consented,
    DocumentSeen: _same,
    PersonSpoke: _person_spoke,
    QuestionClosed: _question_closed,
    SettingsChanged: _settings_changed,
    TaskStopped: _stopped,
}
