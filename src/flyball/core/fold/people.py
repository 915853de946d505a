"""What people add to what is known: words, answers, consent, settings."""

from collections.abc import Callable, Collection
from typing import Any, Literal

from msgspec.structs import replace

from flyball.core.fold import batches
from flyball.core.fold.lanes import lane_of, withdraw
from flyball.core.health.breaker import CLOSED
from flyball.core.health.observation import begin_loop
from flyball.core.model.events import Consented, ItemsSet, PersonSpoke, QuestionClosed, SettingsChanged
from flyball.core.model.outcomes import Measured, Undelivered
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, EffectId

RECENT_GUIDANCE = 8


def answer(state: State, question: EffectId, text: str, by: Literal["person", "default"] = "person") -> None:
    asked = state.questions.get(question)
    if asked is not None:
        state.questions = {**state.questions, question: replace(asked, answer=text, by=by)}


def _on_items_set(state: State, fact: ItemsSet) -> None:
    state.items = fact.items
    if fact.by != "review":
        state.items_confirmed = state.items_own = fact.by in {"document", "person"}


def _on_consented(state: State, fact: Consented) -> None:
    lane = lane_of(state, fact.lane)
    if fact.allowed:
        lane.consented = {**lane.consented, **dict.fromkeys(fact.paths, fact.commit)}
        _forgive(state, lane, fact)
    else:
        lane.refused = (*lane.refused, *fact.paths)
    lane.loop.consent_wanted = ()


def _forgive(state: State, lane: Lane, fact: Consented) -> None:
    """A tree whose every trick was consented to holds none, and nothing of it is put back."""
    measured = lane.loop.last
    if measured is None or measured.candidate != fact.commit or any(t.path not in fact.paths for t in measured.caught):
        return
    lane.mend = None
    lane.loop.caught = None
    state.checkpoints = tuple(replace(c, tricked=False) if c.commit == fact.commit else c for c in state.checkpoints)


def _on_question_closed(state: State, fact: QuestionClosed) -> None:
    lane = lane_of(state, fact.lane)
    state.questions = {k: q for k, q in state.questions.items() if k != fact.id}
    lane.to_ask = tuple(q for q in lane.to_ask if q.name != fact.name)
    lane.loop.signal_asked = fact.name == "no-exit-signal" or lane.loop.signal_asked
    if fact.name == "criteria":
        state.items_confirmed = True
        state.items_own = state.items_own or fact.by == "person"


def _on_settings_changed(state: State, fact: SettingsChanged) -> None:
    state.task = replace(state.task, settings=fact.change(state.task.settings))
    if state.stopped and state.stopped.kind == "limit":
        state.stopped = None


def _on_person_spoke(state: State, fact: PersonSpoke) -> None:
    if fact.word == "reopen":
        _reopen(state, fact.text)
        return
    if state.stopped is not None and state.stopped.kind in {"done", "aborted"}:
        return
    match fact.word:
        case "pause":
            state.pausing = True
        case "abort":
            state.aborting = True
            state.stopped = None
        case "resume":
            _resume(state)
        case "answer":
            answer(state, EffectId(fact.question), fact.text)
            _unblock(state)
        case "skip" | "accept" | "reset" | "modify" | "rollback":
            if fact.word not in {"skip", "accept"} and fact.text:
                _keep_guidance(state, fact)
            _steer(state, fact)


def _keep_guidance(state: State, fact: PersonSpoke) -> None:
    """What is said to a subtask is kept under the name of its lane, which may be closed and opened again."""
    if fact.is_for_task:
        state.guidance = (*state.guidance, fact.text)[-RECENT_GUIDANCE:]
        return
    said = (*state.lane_guidance.get(fact.lane, ()), fact.text)
    state.lane_guidance = {**state.lane_guidance, fact.lane: said[-RECENT_GUIDANCE:]}


def _steer(state: State, fact: PersonSpoke) -> None:
    if fact.word in {"reset", "modify"} and fact.is_for_task:
        batches.begin_anew(state)
    asking = {asked.lane for asked in state.questions.values() if asked.answer is None}
    for name in lanes_meant(fact, state.lanes, asking):
        _STEERING[fact.word](state, lane_of(state, name))
    _unblock(state)


def lanes_meant(fact: PersonSpoke, lanes: Collection[str], asking: Collection[str]) -> list[str]:
    """The lanes a word is for: the one it names, else those that wait for an answer, else all; a skip, only the task's own.

    A skip that names a subtask is for no other, also when that one's lane was closed before the word arrived.
    """
    if fact.lane:
        return [fact.lane]
    if fact.word == "skip" and fact.text:
        return [fact.text] if fact.text in lanes else []
    others = [MAIN] if fact.word == "skip" else list(lanes)
    return [name for name in lanes if name in asking] or others


def _reopen(state: State, feedback: str) -> None:
    """A finished task is taken up: with feedback on what it delivered, or without a word, to be rolled back.

    One that somebody else has taken up meanwhile hears the feedback as guidance.
    """
    if feedback:
        state.guidance = (*state.guidance, feedback)[-RECENT_GUIDANCE:]
    if state.stopped is not None and state.stopped.kind in ({"done"} if feedback else {"done", "aborted"}):
        state.feedback = feedback
        state.aborting = False
        state.stopped = None


def _roll_back(state: State, lane: Lane) -> None:
    _begin_anew(state, lane)
    lane.loop.restore_to = lane.head


def _skip(state: State, lane: Lane) -> None:
    withdraw(state, lane)
    lane.loop.skipping = True


def _accept(_state: State, lane: Lane) -> None:
    lane.loop.exiting = True


def _begin_anew(state: State, lane: Lane) -> None:
    """A person's word clears what was held against the loop, and a fresh context takes it up."""
    withdraw(state, lane)
    _measure_again(lane)
    lane.loop.breaker = CLOSED
    lane.loop.history = begin_loop(lane.loop.history)
    lane.loop.rungs = ()
    lane.loop.unsignalled = 0
    lane.loop.signal_asked = False
    lane.loop.reset = True
    if lane.panel is not None:
        lane.panel.void = {}
    lane.crashes = lane.overloads = 0
    lane.context += 1
    lane.sessions = {}


def _resume(state: State) -> None:
    """A pause is taken back; a block without a question is looked at again, and one whose question may have been settled elsewhere."""
    if state.pausing and state.stopped is None:
        state.pausing = False
        return
    for lane in state.lanes.values():
        lane.outcomes = {k: o for k, o in lane.outcomes.items() if not isinstance(o, Undelivered)}
        _measure_again(lane)
    if state.stopped is None or state.stopped.kind != "blocked" or not is_put_again(state):
        return
    for name in {asked.lane for asked in state.questions.values() if asked.question.again}:
        withdraw(state, lane_of(state, name))
    baseline = state.baseline
    if baseline and (
        baseline.broken
        or baseline.unusable
        or state.regressed
        or (baseline.passes_nothing and not state.turns)
        or ((baseline.uncounted_failure or baseline.unseen) and not state.iterations)
    ):
        state.baseline = state.failures = None
    state.stopped = None


def _measure_again(lane: Lane) -> None:
    """What a tool could not say may be said now."""
    unsaid = [k for k, o in lane.outcomes.items() if isinstance(o, Measured) and o.measurement.unusable]
    for key in unsaid:
        del lane.outcomes[key]


def is_put_again(state: State) -> bool:
    """Whether resuming is enough to have what blocks the task looked at again."""
    if state.stopped is None or not state.stopped.question:
        return True
    asked = state.questions.get(state.stopped.question)
    return asked is not None and asked.question.again


_STEERING = {"skip": _skip, "accept": _accept, "reset": _begin_anew, "modify": _begin_anew, "rollback": _roll_back}


def _unblock(state: State) -> None:
    if state.stopped is not None and state.stopped.kind == "blocked":
        state.stopped = None


TABLE: dict[type, Callable[[State, Any], None]] = {
    ItemsSet: _on_items_set,
    Consented: _on_consented,
    PersonSpoke: _on_person_spoke,
    QuestionClosed: _on_question_closed,
    SettingsChanged: _on_settings_changed,
}
