"""What becomes of an answer: one small function for each question, in the table at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from flyball.core.loop.step import Step, record
from flyball.core.model.events import Consented, Fact, LearningRecorded, PersonSpoke, QuestionClosed, WindowOpened
from flyball.core.model.state import Asked, Lane, State
from flyball.core.model.task import Commit, EffectId

AGENT_QUESTION = "agent-"
HOURLY_LIMIT = "hourly-limit"

Follow = Callable[[Lane, EffectId, str], tuple[Fact, ...]]
"""The facts an answer gives rise to, from the lane it was asked in, the question's id and the answer."""
Choice = Literal["reset", "skip", "abort", "modify", "rollback"]
_CHOICES: dict[str, Choice] = {word: word for word in get_args(Choice)}
_TOLD = {"rollback": "Rolled back to the last good tree: begin again from there."}
"""What the next turns are told of a choice."""


def take(state: State, lane: Lane, key: EffectId, asked: Asked, follow: Follow | None = None) -> Step:
    """The facts that follow from an answer; `abort` ends the task whatever flyball itself has asked."""
    answer = (asked.answer or "").strip()
    closed = QuestionClosed(key, asked.question.name, answer, asked.by, lane=lane.name)
    if asked.question.name.startswith(AGENT_QUESTION):
        return record(closed, _answer_learnt(state, asked, answer))
    if first_word(answer) == "abort":
        return record(closed, PersonSpoke("abort", question=key))
    follow = follow or _TABLE.get(asked.question.name, _follow_choice)
    return record(closed, *follow(lane, key, answer))


def first_word(answer: str | None) -> str:
    return (answer or "").strip().partition(" ")[0].lower()


def _answer_learnt(state: State, asked: Asked, answer: str) -> LearningRecorded:
    """An agent's question and its answer, kept for later turns; it clears no counter, or an agent could ask its way on."""
    by_person = asked.by == "person"
    return LearningRecorded(
        state.learned + 1,
        "decision",
        asked.question.text,
        "answered by a person" if by_person else "nobody answered, so the agent's own default was taken",
        answer,
        tuple(o.key for o in asked.question.options if o.key != answer),
        source="answer" if by_person else "default",
        item=state.lanes[asked.lane].item,
        lane=asked.lane,
    )


def _follow_choice(lane: Lane, key: EffectId, answer: str) -> tuple[Fact, ...]:
    """The breaker's choices; anything else that was said is guidance."""
    choice = _CHOICES.get(first_word(answer))
    if choice is None:
        return (PersonSpoke("modify", answer, question=key, lane=lane.name),)
    text = answer.partition(" ")[2] if choice == "modify" else _TOLD.get(choice, "")
    return (PersonSpoke(choice, text, question=key, lane=lane.name),)


def _accept_stage(lane: Lane, key: EffectId, answer: str) -> tuple[Fact, ...]:
    return (PersonSpoke("accept", question=key, lane=lane.name),) if first_word(answer) == "accept" else ()


def _consent(lane: Lane, _key: EffectId, answer: str) -> tuple[Fact, ...]:
    paths = tuple(c.partition(":")[0] for c in lane.loop.consent_wanted)
    seen = Commit(lane.loop.last.candidate if lane.loop.last else "")
    return (Consented(paths, "a person", allowed=first_word(answer) in {"allow", "yes"}, commit=seen, lane=lane.name),)


_TABLE: dict[str, Follow] = {
    HOURLY_LIMIT: lambda _lane, _key, _answer: (WindowOpened(forced=True),),
    "no-exit-signal": _accept_stage,
    "protected-change": _consent,
}
