"""What becomes of an answer: one small function for each question, in the table at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from flyball.core.events import Consented, Fact, ItemsSet, LearningRecorded, PersonSpoke, QuestionClosed, WindowOpened
from flyball.core.next import Next, record
from flyball.core.state import Asked, State
from flyball.core.task import Commit, EffectId

AGENT_QUESTION = "agent-"

Choice = Literal["reset", "skip", "abort", "modify", "rollback"]
_CHOICES: dict[str, Choice] = {word: word for word in get_args(Choice)}


_TOLD = {"rollback": "Rolled back to the last good tree: begin again from there."}
"""What the next turns are told of a choice."""


def taken(state: State, key: EffectId, asked: Asked) -> Next:
    """The facts that follow from an answer; `abort` ends the task whatever flyball itself has asked."""
    answer = (asked.answer or "").strip()
    closed = QuestionClosed(key, asked.question.name, answer, asked.by)
    if asked.question.name.startswith(AGENT_QUESTION):
        return record(closed, _told(state, asked, answer))
    if first_word(answer) == "abort":
        return record(closed, PersonSpoke("abort", question=key))
    follow = _TABLE.get(asked.question.name, _chosen)
    return record(closed, *follow(state, key, answer))


def first_word(answer: str | None) -> str:
    return (answer or "").strip().partition(" ")[0].lower()


def _told(state: State, asked: Asked, answer: str) -> LearningRecorded:
    """An agent's question and its answer, kept for later turns; it clears no counter, or an agent could ask its way on."""
    source = "answered by a person" if asked.by == "person" else "nobody answered, so the agent's own default was taken"
    others = tuple(o.key for o in asked.question.options if o.key != answer)
    return LearningRecorded(state.learned + 1, "decision", asked.question.text, source, answer, others)


def _chosen(_state: State, key: EffectId, answer: str) -> tuple[Fact, ...]:
    """The breaker's choices; anything else that was said is guidance."""
    choice = _CHOICES.get(first_word(answer))
    if choice is None:
        return (PersonSpoke("modify", answer, question=key),)
    text = answer.partition(" ")[2] if choice == "modify" else _TOLD.get(choice, "")
    return (PersonSpoke(choice, text, question=key),)


def _new_window(_state: State, _key: EffectId, _answer: str) -> tuple[Fact, ...]:
    return (WindowOpened(forced=True),)


def _signalled(_state: State, key: EffectId, answer: str) -> tuple[Fact, ...]:
    return (PersonSpoke("accept", question=key),) if first_word(answer) == "accept" else ()


def _criteria(_state: State, _key: EffectId, answer: str) -> tuple[Fact, ...]:
    if answer.lower() in {"yes", "y", "ok"}:
        return ()
    return (PersonSpoke("modify", f"Acceptance criteria: {answer}"), ItemsSet((), "person"))


def _consent(state: State, _key: EffectId, answer: str) -> tuple[Fact, ...]:
    paths = tuple(c.partition(":")[0] for c in state.consent_wanted)
    seen = Commit(state.last.candidate if state.last else "")
    return (Consented(paths, "a person", allowed=first_word(answer) in {"allow", "yes"}, commit=seen),)


_TABLE: dict[str, Callable[[State, EffectId, str], tuple[Fact, ...]]] = {
    "hourly-limit": _new_window,
    "no-exit-signal": _signalled,
    "criteria": _criteria,
    "protected-change": _consent,
}
