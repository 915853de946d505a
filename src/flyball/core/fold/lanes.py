"""What a lane's own facts add: it is opened, takes turns, is judged, moves from stage to stage, and is closed."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from flyball.core.fold import batches
from flyball.core.health.observation import begin_loop, observe
from flyball.core.loop import reviewing
from flyball.core.model import batch_events as be, events as ev
from flyball.core.model.batches import Rework
from flyball.core.model.effects import Ask, CountDay, Recall, Wait
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Measured, TurnEnded
from flyball.core.model.state import Caught, Lane, Loop, State, Visit
from flyball.core.model.task import Commit

TRICKS_REMEMBERED = 3


class JournalOutOfOrder(Exception):
    """Facts do not follow each other as they must; the journal is damaged or was written by two hands."""


def lane_of(state: State, name: str) -> Lane:
    lane = state.lanes.get(name)
    if lane is None:
        raise JournalOutOfOrder(f"there is no lane {name}")
    return lane


def withdraw(state: State, lane: Lane) -> None:
    """Nobody waits in this lane any more: neither for an answer nor for a time, nor for what a turn is to remember."""
    kinds = Ask | Wait | Recall | CountDay
    waiting = [k for k, effect in state.open.items() if effect.lane == lane.name and isinstance(effect, kinds)]
    for key in waiting:
        del state.open[key]
    state.questions = {k: asked for k, asked in state.questions.items() if asked.lane != lane.name}
    lane.to_ask = ()
    lane.held = None


def _on_opened(state: State, fact: be.LaneOpened) -> None:
    if fact.lane in state.lanes:
        raise JournalOutOfOrder(f"lane {fact.lane} was opened twice")
    state.openings = {**state.openings, fact.lane: state.openings.get(fact.lane, 0) + 1}
    work = state.batches.rework.get(fact.item)
    approved = work if work is not None and work.is_approved else Rework("undone")
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
        consented=approved.consented,
        authors=approved.authors,
        opened=state.openings[fact.lane],
    )


def _on_closed(state: State, fact: be.LaneClosed) -> None:
    lane = lane_of(state, fact.lane)
    withdraw(state, lane)
    del state.lanes[lane.name]


def _on_seat_answered(state: State, fact: be.SeatAnswered) -> None:
    lane = lane_of(state, fact.lane)
    assert lane.panel is not None
    key, effect = next((k, e) for k, e in lane.panel.turns.items() if e.turn == fact.turn)
    del lane.panel.turns[key]
    answer = lane.panel.ended.pop(key)
    assert isinstance(answer, TurnEnded)
    lane.panel.answers[fact.role] = effect, reviewing.number_findings(lane, effect, answer)
    lane.looks = reviewing.looks_after(lane, effect, lane.panel.answers[fact.role][1].claim)
    lane.crashes = 0
    lane.overloads = 0


def _on_set_aside(state: State, fact: ev.TurnSetAside) -> None:
    lane = lane_of(state, fact.lane)
    turn, panel = lane.turn, lane.panel
    saved = None
    if turn is not None and turn.effect.turn == fact.turn:
        saved, lane.turn = turn.saved, None
    if panel is not None:
        for key in [k for k, effect in panel.turns.items() if effect.turn == fact.turn]:
            effect, ended = panel.turns.pop(key), panel.ended.pop(key, None)
            if fact.why == "void" and isinstance(ended, TurnEnded):
                panel.void = {**panel.void, effect.role: ended.claim.findings}
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


def _on_judged(state: State, fact: ev.Judged) -> None:
    lane = lane_of(state, fact.lane)
    loop = lane.loop
    loop.last = batches.proven(state, fact) or _last_measured(lane)
    _weigh_tricks(state, lane, fact)
    if fact.gate_1.held and loop.last is not None and loop.last.noticed is not None:
        state.noticed = {**state.noticed, lane.item or lane.name: loop.last.noticed}
    loop.judged = fact
    loop.judged_at = state.now
    loop.undone = None
    if loop.last is not None:
        state.checkpoints = tuple(
            replace(c, measured=loop.last, judged=fact) if c.commit == loop.last.candidate else c
            for c in state.checkpoints
        )
    if fact.best:
        kept = (c for c in reversed(state.checkpoints) if loop.last is not None and c.commit == loop.last.candidate)
        lane.best = next(kept, lane.best)
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
    batches.on_judged(state, fact)
    state.iterations += 1
    state.false_claims += fact.false_claim


def _last_measured(lane: Lane) -> Measurement | None:
    if lane.turn is not None and lane.turn.measured is not None:
        return lane.turn.measured
    measured = (o.measurement for o in reversed(lane.outcomes.values()) if isinstance(o, Measured))
    return next(measured, lane.loop.last)


def _weigh_tricks(state: State, lane: Lane, fact: ev.Judged) -> None:
    """What is to be put back, and what is held against the stage until an honest iteration moves."""
    measured, lane.put_back = lane.loop.last, ()
    lane.mend = measured if measured is not None and measured.mended else None
    if measured is not None and measured.caught:
        lane.loop.caught = Caught(fact.iteration, measured.caught[:TRICKS_REMEMBERED])
        state.checkpoints = tuple(
            replace(c, tricked=True) if c.commit == measured.candidate else c for c in state.checkpoints
        )
    elif fact.progress or fact.gate_1.held:
        lane.loop.caught = None


def _on_moved(state: State, fact: ev.Moved) -> None:
    lane = lane_of(state, fact.lane)
    loop = lane.loop
    if fact.forced:
        batches.on_skipped(state, fact)
    left = replace(
        lane.visits[-1],
        completed_at=state.now,
        iterations=loop.iteration,
        exit_reason=fact.reason,
        forced=fact.forced,
        unreviewed=fact.unreviewed,
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
        undone=loop.undone,
    )
    lane.recall = None
    withdraw(state, lane)
    _end_turn(lane)


def _end_turn(lane: Lane) -> None:
    if lane.turn is not None and isinstance(lane.turn.ended, TurnEnded):
        lane.answers = {**lane.answers, **{each.id: each for each in lane.turn.ended.claim.answers}}
    lane.turn = None
    lane.panel = None
    lane.outcomes = {}


def _on_held(state: State, fact: ev.Held) -> None:
    lane_of(state, fact.lane).held = fact


def _on_breaker_changed(state: State, fact: ev.BreakerChanged) -> None:
    lane_of(state, fact.lane).loop.breaker = fact.breaker


TABLE: dict[type, Callable[[State, Any], None]] = {
    be.LaneOpened: _on_opened,
    be.LaneClosed: _on_closed,
    be.SeatAnswered: _on_seat_answered,
    ev.Judged: _on_judged,
    ev.TurnSetAside: _on_set_aside,
    ev.Moved: _on_moved,
    ev.Held: _on_held,
    ev.BreakerChanged: _on_breaker_changed,
}
