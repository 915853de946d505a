"""What people add to what is known: words, answers, consent, settings."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from flyball.core import evolve_backlog
from flyball.core.breaker import CLOSED
from flyball.core.effects import Ask, Wait
from flyball.core.events import (
    Consented,
    ItemsSet,
    PersonSpoke,
    QuestionClosed,
    SettingsChanged,
)
from flyball.core.observation import begin_loop
from flyball.core.outcomes import (
    Conflicted,
    Measured,
)
from flyball.core.state import Draft
from flyball.core.task import EffectId

RECENT_GUIDANCE = 8


def answer(draft: Draft, question: EffectId, text: str, by: Literal["person", "default"] = "person") -> None:
    asked = draft.questions.get(question)
    if asked is not None:
        draft.questions = {**draft.questions, question: replace(asked, answer=text, by=by)}


def withdraw(draft: Draft) -> None:
    """Nobody waits any more: neither for an answer nor for a time."""
    draft.open = {k: o for k, o in draft.open.items() if not isinstance(o.effect, Ask | Wait)}
    draft.questions = {}
    draft.to_ask = ()
    draft.held = None


def items_set(draft: Draft, fact: ItemsSet) -> None:
    draft.items = fact.items
    draft.items_confirmed = fact.by in {"document", "person"}
    draft.items_own = fact.by in {"document", "person"}


def consented(draft: Draft, fact: Consented) -> None:
    if fact.allowed:
        draft.consented = {**draft.consented, **dict.fromkeys(fact.paths, fact.commit)}
        _forgive(draft, fact)
    else:
        draft.refused = (*draft.refused, *fact.paths)
    draft.consent_wanted = ()


def _forgive(draft: Draft, fact: Consented) -> None:
    """A tree whose every trick was consented to holds none, and nothing of it is put back."""
    measured = draft.last
    if measured is None or measured.candidate != fact.commit or any(t.path not in fact.paths for t in measured.caught):
        return
    draft.mend = None
    draft.caught = None
    draft.checkpoints = tuple(replace(c, tricked=False) if c.commit == fact.commit else c for c in draft.checkpoints)


def question_closed(draft: Draft, fact: QuestionClosed) -> None:
    draft.questions = {k: q for k, q in draft.questions.items() if k != fact.id}
    draft.to_ask = tuple(q for q in draft.to_ask if q.name != fact.name)
    draft.signal_asked = fact.name == "no-exit-signal" or draft.signal_asked
    if fact.name == "criteria":
        draft.items_confirmed = True
        draft.items_own = draft.items_own or fact.by == "person"


def settings_changed(draft: Draft, fact: SettingsChanged) -> None:
    settings = replace(draft.task.settings, limits=fact.limits, attended=fact.attended)
    draft.task = replace(draft.task, settings=settings)
    if draft.stopped and draft.stopped.kind == "limit":
        draft.stopped = None


def person_spoke(draft: Draft, fact: PersonSpoke) -> None:
    if fact.word == "reopen":
        _reopen(draft, fact.text)
        return
    if draft.stopped is not None and draft.stopped.kind in {"done", "aborted"}:
        return
    match fact.word:
        case "pause":
            draft.pausing = True
        case "abort":
            draft.aborting = True
            draft.stopped = None
        case "resume":
            _resume(draft)
        case "skip":
            withdraw(draft)
            draft.skipping = True
            _unblock(draft)
        case "accept":
            draft.exiting = True
            _unblock(draft)
        case "answer":
            answer(draft, EffectId(fact.question), fact.text)
            _unblock(draft)
        case "reset" | "modify" | "rollback":
            _begin_anew(draft, fact.text)
            _unblock(draft)
            draft.restore_to = draft.head if fact.word == "rollback" else draft.restore_to


def _reopen(draft: Draft, feedback: str) -> None:
    """A finished task is taken up: with feedback on what it delivered, or without a word, to be rolled back.

    One that somebody else has taken up meanwhile hears the feedback as guidance.
    """
    if feedback:
        draft.guidance = (*draft.guidance, feedback)[-RECENT_GUIDANCE:]
    if draft.stopped is not None and draft.stopped.kind in ({"done"} if feedback else {"done", "aborted"}):
        draft.feedback = feedback
        draft.aborting = False
        draft.stopped = None


def _begin_anew(draft: Draft, guidance: str) -> None:
    """A person's word clears what was held against the loop, and a fresh context takes it up."""
    withdraw(draft)
    _measure_again(draft)
    if guidance:
        draft.guidance = (*draft.guidance, guidance)[-RECENT_GUIDANCE:]
    draft.work = evolve_backlog.tried_again(draft.work)
    draft.breaker = CLOSED
    draft.history = begin_loop(draft.history)
    draft.rungs = ()
    draft.crashes = 0
    draft.overloads = 0
    draft.unsignalled = 0
    draft.signal_asked = False
    draft.reset = True
    draft.context += 1
    draft.sessions = {}


def _resume(draft: Draft) -> None:
    """A pause is taken back; a block without a question is looked at again, and one whose question may have been settled elsewhere."""
    if draft.pausing and draft.stopped is None:
        draft.pausing = False
        return
    draft.outcomes = {k: o for k, o in draft.outcomes.items() if not isinstance(o, Conflicted)}
    _measure_again(draft)
    if draft.stopped is None or draft.stopped.kind != "blocked" or not is_put_again(draft):
        return
    if draft.stopped.question:
        withdraw(draft)
    baseline = draft.baseline
    if baseline and (
        baseline.broken
        or baseline.unusable
        or draft.regressed
        or ((baseline.untold or baseline.unseen) and not draft.iterations)
    ):
        draft.baseline = None
    draft.stopped = None


def _measure_again(draft: Draft) -> None:
    """What a tool could not say may be said now."""
    unsaid = (k for k, o in draft.outcomes.items() if isinstance(o, Measured) and o.measurement.unusable)
    for key in tuple(unsaid):
        del draft.outcomes[key]


def is_put_again(known: Draft) -> bool:
    """Whether resuming is enough to have what blocks the task looked at again."""
    if known.stopped is None or not known.stopped.question:
        return True
    asked = known.questions.get(known.stopped.question)
    return asked is not None and asked.question.again


def _unblock(draft: Draft) -> None:
    if draft.stopped is not None and draft.stopped.kind == "blocked":
        draft.stopped = None
